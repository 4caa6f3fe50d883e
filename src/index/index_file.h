/* The inside of an opened index: what opening finds, and reading uses. */
#ifndef RECMAP_INDEX_INDEX_FILE_H
#define RECMAP_INDEX_INDEX_FILE_H

#include <stdatomic.h>

#include "index/index.h"
#include "index/offsets.h"

/* A value that is checked and opened when it is first needed. */
typedef struct lazy_offsets {
    _Atomic bool is_open;
    offsets_chunk chunk;
} lazy_offsets;

typedef struct lazy_column {
    _Atomic bool is_open;
    column_chunk chunk;
} lazy_column;

struct index_file {
    store *store;
    manifest manifest;
    index_shard *shards;
    /* Beside the shards, one more than there are, so that a search touches few cache lines. */
    uint64_t *first_records;
    uint64_t *bases;
    damage_entry *damages;
    lazy_offsets *offsets;
    size_t offsets_count;
    lazy_column *columns; /* chunk * column_count + column */
    size_t column_chunk_count;
    recmap_value *defaults;
    size_t id_chunk_count;
    unsigned id_number_size;
};

/* CORRUPT: `what` is wrong with the index, with advice. */
recmap_status index_fail(const index_file *index, recmap_error *error, const char *what);

/* Pairs of ids in a chunk of them. */
uint64_t index_pairs_in_chunk(const index_file *index, size_t chunk);

#endif
