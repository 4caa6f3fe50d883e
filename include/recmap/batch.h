/* A batch: the records of one gather, in the order asked. */
#ifndef RECMAP_BATCH_H
#define RECMAP_BATCH_H

#include <recmap/columns.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Its memory is used again from gather to gather. A batch belongs to one thread at a time. */
typedef struct recmap_batch recmap_batch;

/* An empty batch, which the caller destroys. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_batch_create(recmap_batch **batch,
                                                              recmap_error *error);

/* Ends the records in it and frees it. NULL may be destroyed. Must come before the data set that
 * filled it is closed. */
RECMAP_API void recmap_batch_destroy(recmap_batch *batch);

/* Ends the records in it; the memory stays for the next gather. */
RECMAP_API void recmap_batch_clear(recmap_batch *batch);

/* The records, side by side, and how many. They live until the batch is filled again, cleared or
 * destroyed; do not release them one by one. */
RECMAP_API const recmap_record *recmap_batch_records(const recmap_batch *batch);
RECMAP_API size_t recmap_batch_count(const recmap_batch *batch);

/* What the records were parsed into, row i being record i; NULL where they were not. They belong to
 * the batch, and live as long as the records, but for what was exported from them and copied. */
RECMAP_API recmap_columns *recmap_batch_columns(const recmap_batch *batch);

#ifdef __cplusplus
}
#endif
#endif
