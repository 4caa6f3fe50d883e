#include "dataset/batch/record_memory.h"

#include <stdbool.h>
#include <stdlib.h>

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
    BLOCK_MAX = 4 << 20,
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

static void free_blocks(struct memory_block *block) {
    while (block) {
        struct memory_block *next = block->next;
        set_usable(block, true);
        free(block);
        block = next;
    }
}

/* Each block is twice as large as the one before, so that a batch has few of them. */
static size_t find_block_size(const struct record_memory *memory, size_t needed) {
    size_t size = memory->last ? 2 * memory->last->size : BLOCK_MIN;
    if (size > BLOCK_MAX) size = BLOCK_MAX;
    return size > needed ? size : needed;
}

static bool add_block(struct record_memory *memory, size_t needed) {
    size_t size = find_block_size(memory, needed);
    struct memory_block *block = malloc(size);
    if (!block) return false;
    *block = (struct memory_block){.size = size};
    set_usable(block, false);
    if (memory->last) memory->last->next = block;
    else memory->first = block;
    memory->last = memory->current = block;
    memory->used = HEADER_SIZE;
    return true;
}

/* Finds room in the current block, or in one that is free, or in a new one. */
static bool find_room(struct record_memory *memory, size_t size) {
    struct memory_block *block = memory->current;
    if (block && block->size - memory->used >= size) return true;
    while (block && (block = block->next)) {
        memory->current = block;
        memory->used = HEADER_SIZE;
        if (block->size - HEADER_SIZE >= size) return true;
    }
    return add_block(memory, HEADER_SIZE + size);
}

uint8_t *record_memory_allocate(struct record_memory *memory, size_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    size_t taken = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + GAP;
    if (!find_room(memory, taken)) return NULL;
    uint8_t *bytes = (uint8_t *)memory->current + memory->used;
    ASAN_UNPOISON_MEMORY_REGION(bytes, size);
    memory->used += taken;
    return bytes;
}

void record_memory_clear(struct record_memory *memory, size_t kept_max) {
    struct memory_block **link = &memory->first, *last = NULL;
    size_t kept = 0;
    while (*link && kept + (*link)->size <= kept_max) {
        last = *link;
        kept += last->size;
        set_usable(last, false);
        link = &last->next;
    }
    free_blocks(*link);
    *link = NULL;
    memory->last = last;
    memory->current = memory->first;
    memory->used = HEADER_SIZE;
}

void record_memory_deinit(struct record_memory *memory) {
    free_blocks(memory->first);
    *memory = (struct record_memory){0};
}
