/* A run: consecutive records of one shard, with the ids, columns and counts read from them. Runs
 * connect the code that finds records (scan, writer, replay of an index) to the packer that stores
 * them. */
#ifndef RECMAP_INDEX_EXTRACT_RUN_H
#define RECMAP_INDEX_EXTRACT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/record.h>

/* One column of a run. Record i is missing its value if `missing[i]` is 1. */
struct run_column {
    recmap_type type;   /* NONE while all values are missing */
    size_t first_typed; /* the record that set the type */
    uint64_t *words;    /* int64, bits of a float, or end of the value in `bytes` */
    uint8_t *missing;
    uint8_t *bytes;
    size_t bytes_size;
    size_t words_capacity;
    size_t missing_capacity;
    size_t bytes_capacity;
};

/* The element counts of one feature. */
struct run_counts {
    uint64_t *values;
    size_t capacity;
};

#define RUN_NOT_REPEATED UINT64_MAX

/* The key of a record; see struct frame_key. */
struct run_key {
    uint64_t hash;
    uint64_t repeated_at;
    const char *text;
};

/* The keys of the records, if their framing has keys. */
struct run_keys {
    uint64_t *hashes, *repeats;
    size_t *texts; /* where they begin in `bytes` */
    char *bytes;
    size_t bytes_size;
    size_t hashes_capacity, repeats_capacity, texts_capacity, bytes_capacity;
};

enum { RUN_ADVICE_SIZE = 512 };

struct record_run {
    size_t count;
    uint64_t *offsets; /* of the frames, in the shard */
    uint64_t *sizes;   /* of the payloads */
    uint32_t *checks;  /* frame.check: the stored CRC, or a hash of the payload if none is stored */
    uint64_t *ids;     /* 48-bit hashes or IDS_NONE; NULL without ids */
    struct run_column *columns;
    size_t column_count;
    struct run_counts *counts;
    size_t counted_feature_count;
    struct run_keys keys;
    size_t key_count; /* 0, or the number of records */
    bool has_ids;
    size_t offsets_capacity;
    size_t sizes_capacity;
    size_t checks_capacity;
    size_t ids_capacity;
    bool is_malformed;            /* the last record is text from which its values cannot be read */
    size_t advised;               /* the record that `advice` is for */
    char advice[RUN_ADVICE_SIZE]; /* for the first record without the value of a column that has no
                                     default: see missing_advice.h; or "" */
    char id_advice[RUN_ADVICE_SIZE]; /* for the first record of the run if it has no id; or "" */
};

/* Initialises an empty run; arrays are allocated as records are added. False if memory is out; then
 * the run is empty and may still be passed to run_deinit. */
bool run_init(struct record_run *run, bool has_ids, size_t column_count,
              size_t counted_feature_count);
void run_deinit(struct record_run *run);

/* Removes all records and keeps the memory. */
void run_clear(struct record_run *run);

/* Adds a record without an id. Afterwards run_set_column must be called once for every column, and
 * run_set_count for every counted feature. False if memory is out. */
bool run_add(struct record_run *run, uint64_t offset, uint64_t size, uint32_t check);

/* Sets the id hash of the last record. The run must have ids. */
void run_set_id(struct record_run *run, uint64_t hash);

enum run_verdict {
    RUN_OK,
    RUN_NO_MEMORY,
    RUN_OTHER_TYPE, /* the column's earlier values have another type */
    RUN_TOO_LONG,   /* bytes longer than COLUMN_BYTES_MAX */
};

/* Sets a column of the last record; a value of type NONE is missing. */
enum run_verdict run_set_column(struct record_run *run, size_t column, const recmap_value *value);

/* Sets an element count of the last record. False if memory is out. */
bool run_set_count(struct record_run *run, size_t feature, uint64_t count);

/* Sets the key of the last record, if all preceding ones have theirs. False if memory is out. */
bool run_set_key(struct record_run *run, const struct run_key *key);
struct run_key run_key_at(const struct record_run *run, size_t i);

/* The advice for record `i` if a value of it is missing, or "". */
const char *run_advice_at(const struct record_run *run, size_t i);

/* Bytes that the records take, without the room for more. */
uint64_t run_size(const struct record_run *run);

/* Removes all records but the first `count`. */
void run_truncate(struct record_run *run, size_t count);

/* The value of record `i`; type NONE if it is missing. Bytes point into the run. */
recmap_value run_column_at(const struct record_run *run, size_t column, size_t i);

#endif
