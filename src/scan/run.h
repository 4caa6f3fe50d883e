/* A run: records that stand in a shard one behind another, as the scan found them, with the ids and
 * columns lifted out of them. The currency between those who find records (scan, writer, replay of
 * an index) and the one who packs them. */
#ifndef RECMAP_SCAN_RUN_H
#define RECMAP_SCAN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/record.h>

/* One column of a run. A missing value has its bit in `missing`. */
struct run_column {
    recmap_type type;   /* NONE as long as all are missing */
    size_t first_typed; /* the record that set the type */
    uint64_t *words;    /* int64, bits of a float, or bytes: end in `bytes` */
    uint8_t *missing;   /* one byte a record */
    uint8_t *bytes;
    size_t bytes_size;
    size_t words_capacity;
    size_t missing_capacity;
    size_t bytes_capacity;
};

struct record_run {
    size_t count;
    uint64_t *offsets; /* of the frames, in the shard */
    uint64_t *sizes;   /* of the payloads */
    uint32_t *checks;  /* the CRCs that stand in the file */
    uint64_t *ids;     /* 48-bit hashes or IDS_NONE; NULL without ids */
    struct run_column *columns;
    size_t column_count;
    bool has_ids;
    size_t offsets_capacity;
    size_t sizes_capacity;
    size_t checks_capacity;
    size_t ids_capacity;
};

/* A run with room for nothing yet. False when memory is out. */
bool run_init(struct record_run *run, bool has_ids, size_t column_count);
void run_free(struct record_run *run);

/* Empties it; the memory stays. */
void run_clear(struct record_run *run);

/* Adds a record; its id and columns follow by the two functions below. */
bool run_add(struct record_run *run, uint64_t offset, uint64_t size, uint32_t check);

/* The id hash of the last record; without this call it has none. */
void run_set_id(struct record_run *run, uint64_t hash);

typedef enum run_verdict {
    RUN_OK,
    RUN_NO_MEMORY,
    RUN_OTHER_TYPE, /* than the column's former values */
    RUN_TOO_LONG,   /* bytes longer than COLUMN_BYTES_MAX */
} run_verdict;

/* A value (NONE: missing) of the last record, to be called once for every column. */
run_verdict run_set_column(struct record_run *run, size_t column, const recmap_value *value);

/* Leaves the records whose byte is not 0. */
void run_keep(struct record_run *run, const uint8_t *keeps);

/* The value of record `i`, NONE when it is missing; bytes point into the run. */
recmap_value run_column_at(const struct record_run *run, size_t column, size_t i);

#endif
