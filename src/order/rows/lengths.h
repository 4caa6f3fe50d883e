/* Lengths of documents: their element counts and the elements that are added to each. */
#ifndef RECMAP_ORDER_ROWS_LENGTHS_H
#define RECMAP_ORDER_ROWS_LENGTHS_H

#include "order/counts/counts.h"

struct lengths {
    recmap_counts *counts; /* retained by the owner */
    uint64_t add;
};

/* The sum of all lengths. Errors: INVALID above 2^62. */
recmap_status lengths_total(uint64_t *total, const struct lengths *lengths, recmap_error *error);

/* values[i] is the length of documents[i], or of document first + i; 0 if the document has no
 * elements. At most 2^62 + 2^40, even if the counts have changed since they were checked. */
void lengths_gather(uint64_t *values, const struct lengths *lengths, const uint64_t *documents,
                    size_t count);
void lengths_run(uint64_t *values, const struct lengths *lengths, uint64_t first, size_t count);

#endif
