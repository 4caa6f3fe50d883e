/* Filters: which records an expression over lifted columns is true for. */
#ifndef RECMAP_FILTER_H
#define RECMAP_FILTER_H

#include <recmap/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An expression, checked against the columns of a data set. Threads: a filter belongs to one thread
 * at a time. */
typedef struct recmap_filter recmap_filter;

/* Parses an expression of `size` bytes, such as `label == 3 and length < 100_000`;
 * docs/reference/select.md specifies the language. It is never run as code. The filter borrows the
 * data set, and the caller destroys the filter.
 *
 * Errors: INVALID naming the character, if the expression is malformed or compares text with
 * numbers; NO_COLUMN, with similar names, if the index has no such column; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_filter_create(recmap_filter **filter,
                                                               recmap_dataset *dataset,
                                                               const char *expression, size_t size,
                                                               recmap_error *error);

/* NULL may be destroyed. */
RECMAP_API void recmap_filter_destroy(recmap_filter *filter);

/* Sets matches[i] to 1 if the expression is true for record first + i, and to 0 if it is not. Only
 * the index is read. Errors: INVALID if out of range; CORRUPT (the index); NO_MEMORY. Cost: a few
 * ns per record and column. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_filter_match(uint8_t *matches,
                                                              recmap_filter *filter, uint64_t first,
                                                              size_t count, recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
