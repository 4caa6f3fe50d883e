/* Columns: the batch that was parsed last, and memory of earlier ones that may be used again. */
#ifndef RECMAP_COLUMNS_COLUMNS_H
#define RECMAP_COLUMNS_COLUMNS_H

#include "columns/batch_memory.h"
#include "decode/read_record.h"

/* Batches whose memory is kept while exports use it, so that it comes back: as many as a pipeline
 * has in flight. */
enum { COLUMNS_POOL_SIZE = 4 };

struct recmap_columns {
    struct batch_memory *pool[COLUMNS_POOL_SIZE]; /* all hold; NULL where there is none yet */
    size_t oldest;              /* the place whose memory is given up when all are in use */
    struct batch_memory *batch; /* one of the pool; NULL: no columns */
    struct read_scratch *scratch;
    recmap_parser *scratch_parser; /* whose records the scratch has learnt */
};

/* No columns from here on. */
void columns_clear(recmap_columns *columns);

/* Memory, all empty, and scratch for a batch of the parser's. NO_MEMORY: no columns. */
recmap_status columns_begin(recmap_columns *columns, recmap_parser *parser, size_t row_count,
                            recmap_error *error);

/* The batch of columns that something is to be exported from; NULL where there is none yet. */
struct batch_memory *columns_memory(const recmap_columns *columns);

#endif
