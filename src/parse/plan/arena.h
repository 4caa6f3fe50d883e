/* An arena: allocations that are freed together. */
#ifndef RECMAP_PARSE_PLAN_ARENA_H
#define RECMAP_PARSE_PLAN_ARENA_H

#include <stddef.h>

/* Zero-initialized, an arena is empty. */
struct arena {
    struct arena_block *blocks;
};

/* Returns 64-byte aligned memory, followed by 64 bytes that may be overwritten, or NULL if memory
 * runs out. */
void *arena_allocate(struct arena *arena, size_t size);
/* Like arena_allocate, for `count` items, zeroed. */
void *arena_allocate_zeros(struct arena *arena, size_t count, size_t item_size);
void *arena_copy(struct arena *arena, const void *data, size_t size);
char *arena_copy_text(struct arena *arena, const char *text);
void arena_deinit(struct arena *arena);

#endif
