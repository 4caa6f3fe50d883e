/* Sorting the ids of a data set of any size in bounded memory: full buffers are sorted and spilled
 * to an unnamed file; at the end the runs are merged. */
#ifndef RECMAP_BUILD_IDSORT_H
#define RECMAP_BUILD_IDSORT_H

#include <recmap/status.h>

#include "index/ids.h"

struct idsort;

/* Spills into the folder of `target`, and only when one buffer does not do. */
recmap_status idsort_create(struct idsort **sorter, const char *target, recmap_error *error);
void idsort_destroy(struct idsort *sorter);

/* Pairs of equal hash must come with ascending numbers. */
recmap_status idsort_add(struct idsort *sorter, struct id_pair pair, recmap_error *error);

uint64_t idsort_count(const struct idsort *sorter);

/* Ends adding. */
recmap_status idsort_finish(struct idsort *sorter, recmap_error *error);

/* The next up to `capacity` pairs by hash, then number; `count` is 0 at the end. */
recmap_status idsort_next(struct idsort *sorter, struct id_pair *pairs, size_t capacity,
                          size_t *count, recmap_error *error);

#endif
