/* An external sort for ids: sorts any number of pairs in bounded memory. Full buffers are sorted
 * and spilled to an unnamed file as runs; at the end the runs are merged. All calls that sort or
 * merge ask the thread's interrupt. */
#ifndef RECMAP_INDEX_BUILD_IDSORT_H
#define RECMAP_INDEX_BUILD_IDSORT_H

#include <recmap/status.h>

#include "index/tables/ids.h"

struct idsort;

/* Spills to the folder of `target`, and only if the pairs do not fit one buffer. */
recmap_status idsort_create(struct idsort **sorter, const char *target, recmap_error *error);
void idsort_destroy(struct idsort *sorter);

/* The hash has 48 bits: no others are sorted. Numbers of pairs with equal hashes must ascend in the
 * order in which the pairs are added; otherwise such pairs keep that order. */
recmap_status idsort_add(struct idsort *sorter, struct id_pair pair, recmap_error *error);

uint64_t idsort_count(const struct idsort *sorter);

/* Ends adding; afterwards idsort_next may be called. */
recmap_status idsort_finish(struct idsort *sorter, recmap_error *error);

/* The next pairs, up to `capacity`, ordered by hash, then number. `count` is 0 at the end. */
recmap_status idsort_next(struct idsort *sorter, struct id_pair *pairs, size_t capacity,
                          size_t *count, recmap_error *error);

#endif
