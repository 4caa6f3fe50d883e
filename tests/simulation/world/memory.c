#include "simulation/world/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <protobuf-c/protobuf-c.h>

#include "simulation/world/faults.h"
#include "simulation/world/process.h"
#include "simulation/world/random.h"
#include "simulation/world/report.h"

/* A hash table of blocks. Blocks that are not in it belong to the C library: its functions return
 * memory that the library frees. */
struct block {
    void *data;
    struct process *process;
    const void *caller;
};

enum { BLOCKS_MAX = 1 << 15 };
static struct block blocks[BLOCKS_MAX];
static size_t block_count;

/* Neighbours have places next to each other, so that few pages of the table are in use. */
static size_t place_of(const void *data) {
    return (uintptr_t)data / 16 % BLOCKS_MAX;
}

static void *add(void *data, const void *caller) {
    if (!data) return NULL;
    if (block_count > BLOCKS_MAX / 2) run_fail("the processes have too many blocks of memory");
    size_t i = place_of(data);
    while (blocks[i].data) i = (i + 1) % BLOCKS_MAX;
    blocks[i] = (struct block){data, process_current(), caller};
    block_count++;
    if (process_current()) process_current()->block_count++;
    return data;
}

/* Moves later blocks of the same chain into the gap. */
static void close_gap(size_t gap) {
    for (size_t i = (gap + 1) % BLOCKS_MAX; blocks[i].data; i = (i + 1) % BLOCKS_MAX) {
        size_t home = place_of(blocks[i].data);
        bool stays = gap <= i ? gap < home && home <= i : gap < home || home <= i;
        if (stays) continue;
        blocks[gap] = blocks[i];
        gap = i;
    }
    blocks[gap].data = NULL;
}

static void take_out(const void *data) {
    for (size_t i = place_of(data); blocks[i].data; i = (i + 1) % BLOCKS_MAX) {
        if (blocks[i].data != data) continue;
        if (blocks[i].process) blocks[i].process->block_count--;
        close_gap(i);
        block_count--;
        return;
    }
}

size_t memory_count(const struct process *process) {
    return process->block_count;
}

void memory_free_all(struct process *process) {
    for (size_t i = 0; process->block_count && i < BLOCKS_MAX; i++)
        while (blocks[i].data && blocks[i].process == process) {
            void *data = blocks[i].data;
            take_out(data);
            free(data);
        }
}

const char *memory_describe(const struct process *process) {
    static char text[200];
    Dl_info info;
    for (size_t i = 0; i < BLOCKS_MAX; i++)
        if (blocks[i].data && blocks[i].process == process && dladdr(blocks[i].caller, &info)) {
            snprintf(text, sizeof text, "program+%#tx",
                     (const char *)blocks[i].caller - (const char *)info.dli_fbase);
            return text;
        }
    return "nowhere";
}

/* ---- The seam. */

#define CALLER __builtin_return_address(0)

static void *fill(void *data, size_t size, const void *caller) {
    /* Memory is never zero by chance. */
    if (data) memset(data, 0xa5, size < 256 ? size : 256);
    return add(data, caller);
}

void *__wrap_malloc(size_t size) {
    return faults_refuse_memory() ? NULL : fill(malloc(size), size, CALLER);
}

void *__wrap_calloc(size_t count, size_t size) {
    return faults_refuse_memory() ? NULL : add(calloc(count, size), CALLER);
}

void *__wrap_realloc(void *data, size_t size) {
    if (faults_refuse_memory()) return NULL;
    if (data) take_out(data);
    return add(realloc(data, size), CALLER);
}

void __wrap_free(void *data) {
    if (data) take_out(data);
    free(data);
}

int __wrap_posix_memalign(void **data, size_t alignment, size_t size) {
    if (faults_refuse_memory()) return ENOMEM;
    int code = posix_memalign(data, alignment, size);
    if (!code) fill(*data, size, CALLER);
    return code;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return faults_refuse_memory() ? NULL : fill(aligned_alloc(alignment, size), size, CALLER);
}

char *__wrap_strndup(const char *text, size_t size) {
    size_t length = strnlen(text, size);
    char *copy = __wrap_malloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *__wrap_strdup(const char *text) {
    return __wrap_strndup(text, strlen(text));
}

/* Messages are allocated by the library, and freed by the library of protobuf. */
static void *allocate(void *context, size_t size) {
    (void)context;
    return malloc(size);
}

static void release(void *context, void *data) {
    (void)context;
    __wrap_free(data);
}

void __wrap_protobuf_c_message_free_unpacked(ProtobufCMessage *message,
                                             ProtobufCAllocator *allocator) {
    ProtobufCAllocator tracked = {.alloc = allocate, .free = release};
    protobuf_c_message_free_unpacked(message, allocator ? allocator : &tracked);
}
