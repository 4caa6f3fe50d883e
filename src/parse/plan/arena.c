#include "parse/plan/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_ALIGNMENT = 64 };

/* The header of an allocation, which starts ARENA_ALIGNMENT bytes after it. */
struct arena_block {
    struct arena_block *next;
};

void *arena_allocate(struct arena *arena, size_t size) {
    void *block = NULL;
    if (size > SIZE_MAX / 2) return NULL;
    if (posix_memalign(&block, ARENA_ALIGNMENT, size + 2 * ARENA_ALIGNMENT) != 0) return NULL;
    ((struct arena_block *)block)->next = arena->blocks;
    arena->blocks = block;
    return (uint8_t *)block + ARENA_ALIGNMENT;
}

void *arena_allocate_zeros(struct arena *arena, size_t count, size_t item_size) {
    size_t size;
    if (__builtin_mul_overflow(count, item_size, &size)) return NULL;
    void *memory = arena_allocate(arena, size);
    if (memory) memset(memory, 0, size);
    return memory;
}

void *arena_copy(struct arena *arena, const void *data, size_t size) {
    void *copy = arena_allocate(arena, size);
    if (copy && size) memcpy(copy, data, size);
    return copy;
}

char *arena_copy_text(struct arena *arena, const char *text) {
    return arena_copy(arena, text, strlen(text) + 1);
}

void arena_deinit(struct arena *arena) {
    while (arena->blocks) {
        struct arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}
