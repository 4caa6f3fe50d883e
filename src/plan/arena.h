/* An arena: many pieces of memory that end at once. */
#ifndef RECMAP_PLAN_ARENA_H
#define RECMAP_PLAN_ARENA_H

#include <stddef.h>

/* All zeros is an empty one. */
typedef struct arena {
    struct arena_block *blocks;
} arena;

/* 64-byte aligned, and with 64 bytes behind it that may be written to; NULL when memory is out. */
void *arena_allocate(arena *from, size_t size);
/* The same for `count` items, all zeros. */
void *arena_allocate_zeros(arena *from, size_t count, size_t item_size);
void *arena_copy(arena *from, const void *data, size_t size);
char *arena_copy_text(arena *from, const char *text);
void arena_free(arena *freed);

#endif
