/* Work that several threads share: parts that are done in any order. */
#ifndef RECMAP_DATASET_LOOKUP_RUN_PARTS_H
#define RECMAP_DATASET_LOOKUP_RUN_PARTS_H

#include <stddef.h>

#include "base/core/interrupt.h"

/* Does a part. It must count its work with `interrupt`, and have the same result when it is done a
 * second time. */
typedef recmap_status (*part_fn)(void *context, size_t part, struct interrupt *interrupt,
                                 recmap_error *error);

/* How many threads are worth starting for `count` items, each of which takes about 100 ns. */
unsigned parts_thread_count(size_t count);

/* How many parts to divide `count` items into, at least 1. */
size_t parts_count(unsigned thread_count, size_t count);

/* The first of `count` items that belongs to a part. Returns `count` for the part after the
 * last. */
size_t parts_begin(size_t part, size_t part_count, size_t count);

/* Does all parts. The error comes from the first part that fails, as if one thread did them all.
 * Errors: those of `function`; CANCELLED if the interrupt function of the calling thread says
 * so. */
recmap_status run_parts(part_fn function, void *context, size_t part_count, unsigned thread_count,
                        recmap_error *error);

#endif
