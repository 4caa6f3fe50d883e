/* An arena: many pieces of memory that end at once. */
#ifndef RECMAP_PLAN_ARENA_H
#define RECMAP_PLAN_ARENA_H

#include <stddef.h>

/* All zeros is an empty one. */
struct arena {
    struct arena_block *blocks;
};

/* 64-byte aligned, and with 64 bytes behind it that may be written to; NULL when memory is out. */
void *arena_allocate(struct arena *arena, size_t size);
/* The same for `count` items, all zeros. */
void *arena_allocate_zeros(struct arena *arena, size_t count, size_t item_size);
void *arena_copy(struct arena *arena, const void *data, size_t size);
char *arena_copy_text(struct arena *arena, const char *text);
void arena_free(struct arena *arena);

#endif
