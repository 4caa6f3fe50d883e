/* The inside of an opened index: what opening finds, and reading uses. */
#ifndef RECMAP_INDEX_INDEX_FILE_H
#define RECMAP_INDEX_INDEX_FILE_H

#include <stdatomic.h>

#include "index/index.h"
#include "index/offsets.h"

/* A value that is checked and opened when it is first needed. */
struct lazy_offsets {
    _Atomic bool is_open;
    struct offsets_chunk chunk;
};

struct lazy_column {
    _Atomic bool is_open;
    struct column_chunk chunk;
};

struct index_file {
    struct store *store;
    struct manifest manifest;
    struct index_shard *shards;
    /* Beside the shards, one more than there are, so that a search touches few cache lines. */
    uint64_t *first_records;
    uint64_t *bases;
    struct damage_entry *damages;
    struct lazy_offsets *offsets;
    size_t offsets_count;
    struct lazy_column *columns; /* chunk * column_count + column */
    size_t column_chunk_count;
    recmap_value *defaults;
    size_t id_chunk_count;
    unsigned id_number_size;
};

/* CORRUPT: `what` is wrong with the index, with advice. */
recmap_status index_fail(const struct index_file *index, recmap_error *error, const char *what);

/* Pairs of ids in a chunk of them. */
uint64_t index_pairs_in_chunk(const struct index_file *index, size_t chunk);

#endif
