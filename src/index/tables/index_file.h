/* The implementation of an open index, shared by index_open.c and index.c. */
#ifndef RECMAP_INDEX_TABLES_INDEX_FILE_H
#define RECMAP_INDEX_TABLES_INDEX_FILE_H

#include <stdatomic.h>

#include "index/tables/index.h"
#include "index/tables/offsets.h"

/* A chunk that is verified and opened when it is first needed. `chunk` is constant once `is_open`
 * is set. */
struct lazy_offsets {
    _Atomic bool is_open;
    struct offsets_chunk chunk;
};

struct lazy_column {
    _Atomic bool is_open;
    struct column_chunk chunk;
};

struct lazy_counts {
    _Atomic bool is_open;
    struct count_chunk chunk;
};

struct index_file {
    struct store *store;
    struct manifest manifest;
    struct index_shard *shards;
    struct framing *framings; /* one for each run of shards with equal framings */
    /* Copies of the members first_record and base of `shards`, so that a search touches few cache
     * lines. Each array has one more element, which is the total. */
    uint64_t *first_records;
    uint64_t *bases;
    struct damage_entry *damages;
    struct lazy_offsets *offsets;
    size_t offsets_count;
    struct lazy_column *columns; /* element chunk * column_count + column */
    size_t column_chunk_count;
    recmap_value *defaults;
    struct lazy_counts *counts; /* element chunk * counted_feature_count + feature */
    size_t id_chunk_count;
    unsigned id_number_size;
};

/* The number of pairs in a chunk of ids. */
uint64_t index_pairs_in_chunk(const struct index_file *index, size_t chunk);

#endif
