/* A packed group: the pieces of each of its rows, kept for the next rows of the same group. */
#ifndef RECMAP_ORDER_ROWS_PACKED_GROUP_H
#define RECMAP_ORDER_ROWS_PACKED_GROUP_H

#include <stdatomic.h>

#include "order/rows/packer.h"

struct packed_group {
    uint64_t number;
    uint64_t size; /* of a row */
    uint32_t document_count;
    uint32_t opened;
    uint64_t *documents;
    uint64_t *lengths;
    uint64_t *whole_ends;
    struct packed_part *parts; /* by row, then by document */
    uint32_t *row_starts;      /* index of the first part of each opened row, and the end */
};

/* Packs a group. Errors: NO_MEMORY. */
recmap_status packed_group_create(struct packed_group **group, const struct packing *packing,
                                  uint64_t number, recmap_error *error);
void packed_group_destroy(struct packed_group *group);

uint64_t packed_group_row_count(const struct packed_group *group);

/* Appends the pieces of row `row` of the group. Errors: NO_MEMORY. */
recmap_status packed_group_add_row(recmap_pieces *pieces, const struct packed_group *group,
                                   uint64_t row, recmap_error *error);

/* The most recently used groups. A thread takes a group out while it uses it; another thread then
 * finds nothing and packs the group again. So no thread ever waits, and a child process that was
 * forked at any moment can use the cache. A zeroed cache is empty. */
enum { GROUP_CACHE_PLACES = 8 };
struct group_cache {
    _Atomic(struct packed_group *) places[GROUP_CACHE_PLACES];
    _Atomic(uint64_t) numbers[GROUP_CACHE_PLACES]; /* of the group that is probably in each place */
};

/* Removes a group from the cache and gives it to the caller. NULL if the cache does not have it. */
struct packed_group *group_cache_take(struct group_cache *cache, uint64_t number);
void group_cache_put(struct group_cache *cache, struct packed_group *group);
void group_cache_deinit(struct group_cache *cache);

#endif
