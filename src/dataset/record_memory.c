#include "dataset/record_memory.h"

#include <stdbool.h>
#include <stdlib.h>

#include "os/memory.h"

/* Tells AddressSanitizer which bytes of a block may be used. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

enum {
    ALIGNMENT = 16,
    HEADER_SIZE = 64,
    GAP = ALIGNMENT, /* after each allocation: no access to it is right */
    BLOCK_MIN = 16 << 10,
    BLOCK_MAX = RECORD_MEMORY_KEPT_MAX,
};

/* The header of a block. Allocations start HEADER_SIZE bytes after it. */
struct memory_block {
    struct memory_block *next;
    size_t size; /* with the header */
};

static void set_usable(struct memory_block *block, bool is_usable) {
    uint8_t *first = (uint8_t *)block + HEADER_SIZE;
    size_t size = block->size - HEADER_SIZE;
    if (is_usable) ASAN_UNPOISON_MEMORY_REGION(first, size);
    else ASAN_POISON_MEMORY_REGION(first, size);
}

static void free_block(struct memory_block *block) {
    if (block) set_usable(block, true);
    free(block);
}

/* Twice as large as the last one, so that soon one block has room for a whole batch. */
static size_t find_block_size(const struct record_memory *memory, size_t needed) {
    size_t size = memory->blocks ? 2 * memory->blocks->size : BLOCK_MIN;
    if (size > BLOCK_MAX) size = BLOCK_MAX;
    return pages_size(size > needed ? size : needed);
}

static bool add_block(struct record_memory *memory, size_t needed) {
    size_t size = find_block_size(memory, needed);
    struct memory_block *block = (void *)pages_allocate(size);
    if (!block) return false;
    *block = (struct memory_block){.next = memory->blocks, .size = size};
    set_usable(block, false);
    memory->blocks = block;
    memory->used = HEADER_SIZE;
    return true;
}

uint8_t *record_memory_allocate(struct record_memory *memory, size_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    size_t taken = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + GAP;
    bool has_room = memory->blocks && memory->blocks->size - memory->used >= taken;
    if (!has_room && !add_block(memory, HEADER_SIZE + taken)) return NULL;
    uint8_t *bytes = (uint8_t *)memory->blocks + memory->used;
    ASAN_UNPOISON_MEMORY_REGION(bytes, size);
    memory->used += taken;
    return bytes;
}

static struct memory_block *larger_kept(struct memory_block *a, struct memory_block *b) {
    if (b->size > RECORD_MEMORY_KEPT_MAX) return a;
    return a && a->size >= b->size ? a : b;
}

void record_memory_clear(struct record_memory *memory) {
    struct memory_block *kept = NULL;
    for (struct memory_block *block = memory->blocks; block; block = block->next)
        kept = larger_kept(kept, block);
    for (struct memory_block *block = memory->blocks, *next; block; block = next) {
        next = block->next;
        if (block != kept) free_block(block);
    }
    memory->blocks = kept;
    memory->used = HEADER_SIZE;
    if (!kept) return;
    kept->next = NULL;
    set_usable(kept, false);
}

void record_memory_deinit(struct record_memory *memory) {
    record_memory_clear(memory);
    free_block(memory->blocks);
    *memory = (struct record_memory){0};
}
