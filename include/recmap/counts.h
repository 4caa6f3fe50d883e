/* Element counts: how many elements (tokens of a document, steps of an episode) each record holds.
 * Row orders (rows.h) are made from them. They come from an index that contains them
 * (recmap_dataset_read_counts) or from an array. They are packed in memory: about 1.8 bytes a
 * record for lengths of documents, 1/8 byte if all are equal. */
#ifndef RECMAP_COUNTS_H
#define RECMAP_COUNTS_H

#include <recmap/feature.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable, with a reference count: release it once for each time it was created or retained.
 * Threads: every function may be called from many threads at once. Fork: a child may use it. */
typedef struct recmap_counts recmap_counts;

/* A record's count, and the sum of all counts, are at most 2^62. */
#define RECMAP_COUNTS_MAX ((uint64_t)1 << 62)

/* A feature whose elements are counted in each record when an index is built. It is a feature of a
 * tf.Example or of the context of a tf.SequenceExample, whose values are counted; or, if there is
 * none of that name, a feature list of a tf.SequenceExample, whose steps are counted. A record
 * without the feature counts 0. */
typedef struct recmap_counted_feature {
    const char *name;
    recmap_element element; /* NONE, or the type of the numbers that a value of bytes consists of:
                               the feature then has one such value, whose numbers are counted */
} recmap_counted_feature;

/* Packs `record_count` unsigned integers of `value_size` bytes (1, 2, 4 or 8), in the byte order of
 * this machine. `values` is read and not kept.
 * Errors: INVALID, naming the record, for a count or a sum above RECMAP_COUNTS_MAX, and for any
 * other size; NO_MEMORY; CANCELLED by the thread's interrupt function. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_counts_create(recmap_counts **counts,
                                                               const void *values,
                                                               size_t value_size,
                                                               size_t record_count,
                                                               recmap_error *error);

/* Returns `counts`. */
RECMAP_API recmap_counts *recmap_counts_retain(recmap_counts *counts);
/* The last release frees it. NULL may be released. */
RECMAP_API void recmap_counts_release(recmap_counts *counts);

RECMAP_API uint64_t recmap_counts_record_count(const recmap_counts *counts);

/* The sum of all counts, and the largest one (0 without records). */
RECMAP_API uint64_t recmap_counts_total(const recmap_counts *counts);
RECMAP_API uint64_t recmap_counts_longest(const recmap_counts *counts);

/* values[i] is the count of record first + i. Errors: INVALID out of range. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_counts_read(uint64_t *values,
                                                             const recmap_counts *counts,
                                                             uint64_t first, size_t count,
                                                             recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
