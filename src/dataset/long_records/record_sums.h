/* Checksums of the blocks of long records of distant shards. They are made when a record was read
 * and checked as a whole. Rows that are cut from it later fetch only the blocks that they need, and
 * the checksums show whether the network changed those. */
#ifndef RECMAP_DATASET_LONG_RECORDS_RECORD_SUMS_H
#define RECMAP_DATASET_LONG_RECORDS_RECORD_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SUMS_BLOCK_SIZE = 1 << 15 };

/* The checksums of a data set's records. Any thread may use them. Creating them returns NULL if
 * memory runs out. */
struct record_sums;
struct record_sums *record_sums_create(void);
void record_sums_destroy(struct record_sums *sums);

/* Keeps the checksums of a payload. Does nothing if memory runs out. */
void record_sums_keep(struct record_sums *sums, uint64_t record, const uint8_t *payload,
                      uint64_t size);

/* Returns true if the checksums of a record of this size are kept. Another record may evict them.
 */
bool record_sums_has(struct record_sums *sums, uint64_t record, uint64_t size);

/* Returns true if the bytes [begin, end) of the payload have the checksums that are kept. They are
 * whole blocks, of which only the last one of the payload is shorter. Returns false also if the
 * checksums are not kept. */
bool record_sums_check(struct record_sums *sums, uint64_t record, const uint8_t *bytes,
                       uint64_t begin, uint64_t end);

#endif
