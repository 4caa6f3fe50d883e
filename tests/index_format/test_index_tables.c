/* What an index holds of its offsets, ids and columns: each statement is made wrong alone, in a
 * file whose hashes and seal are right, and must be refused with its own message, on opening or
 * where it is first used. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/bytes.h"
#include "index/tables/index.h"
#include "index/tables/offsets.h"
#include "index_format/break_case.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/forged.h"
#include "support/index/sample.h"

static void default_of_other_type(struct forged *index) {
    free(index->manifest.columns[0].default_value);
    index->manifest.columns[0].default_value = strdup("0.5");
}

static void default_too_long(struct forged *index) {
    char text[COLUMN_BYTES_MAX + 2];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    free(index->manifest.columns[2].default_value);
    index->manifest.columns[2].default_value = strdup(text);
}

static void first_value_past_end(struct forged *index) {
    index->manifest.columns[0].first_value = SAMPLE_RECORDS;
}

static void no_default(struct forged *index) {
    free(index->manifest.columns[3].default_value);
    index->manifest.columns[3].default_value = NULL;
}

static void column_missing(struct forged *index) {
    index->manifest.column_count--;
    free(index->manifest.columns[index->manifest.column_count].name);
    free(index->manifest.columns[index->manifest.column_count].default_value);
}

/* The chunk says int64, the manifest float. */
static void column_of_other_type(struct forged *index) {
    index->manifest.columns[0].type = RECMAP_TYPE_FLOAT;
}

/* A column that may have nulls: without a default, in an index of version 2. */
static void let_be_null(struct forged *index, size_t column, uint64_t null_count) {
    free(index->manifest.columns[column].default_value);
    index->manifest.columns[column].default_value = NULL;
    index->manifest.columns[column].null_count = null_count;
    index->manifest.format_version = 2;
}

static void nulls_in_version_1(struct forged *index) {
    let_be_null(index, 0, 1);
    index->manifest.format_version = 1;
}

/* The chunk says int64; float64 needs version 4. */
static void float64_in_version_3(struct forged *index) {
    index->manifest.columns[0].type = RECMAP_TYPE_FLOAT64;
    index->manifest.format_version = 3;
}

static void float64_in_manifest_only(struct forged *index) {
    index->manifest.columns[0].type = RECMAP_TYPE_FLOAT64;
    index->manifest.format_version = 4;
}

static void type_beyond_all(struct forged *index) {
    index->manifest.columns[0].type = (recmap_type)(RECMAP_TYPE_FLOAT64 + 1);
    index->manifest.format_version = 4;
}

static void nulls_with_default(struct forged *index) {
    index->manifest.columns[0].null_count = 1;
    index->manifest.format_version = 2;
}

static void nulls_beyond_records(struct forged *index) {
    let_be_null(index, 0, SAMPLE_RECORDS + 1);
}

/* The chunks have none. */
static void nulls_only_in_manifest(struct forged *index) {
    let_be_null(index, 0, 1);
}

/* The fourth column has no values, so that its chunk is only a prefix. */
static void all_null(struct forged *index) {
    value_of(index, STORE_COLUMNS, 3)->data[2] = COLUMN_HAS_NULLS;
}

static void no_nulls_in_manifest(struct forged *index) {
    let_be_null(index, 3, 0);
}

static void fewer_nulls_in_manifest(struct forged *index) {
    let_be_null(index, 3, SAMPLE_RECORDS - 1);
}

static void chunk_with_unknown_flag(struct forged *index) {
    value_of(index, STORE_COLUMNS, 0)->data[2] = 4;
}

static void flag_in_version_1(struct forged *index) {
    index->manifest.format_version = 1;
}

static void more_ids(struct forged *index) {
    index->manifest.id_count++;
}

static void more_ids_than_records(struct forged *index) {
    index->manifest.id_count = SAMPLE_RECORDS + 1;
}

/* With as many pairs as it says. */
static void add_pair(struct forged *index) {
    struct forged_value *ids = value_of(index, STORE_IDS, 0);
    size_t size = ids_packed_size(SAMPLE_RECORDS + 1, ids_number_size(SAMPLE_RECORDS));
    ids->data = must_realloc(ids->data, size);
    memset(ids->data + ids->size, 0, size - ids->size);
    ids->size = size;
}

static void ids_without_name(struct forged *index) {
    free(index->manifest.id_name);
    index->manifest.id_name = NULL;
}

static void no_ids_but_pairs(struct forged *index) {
    index->manifest.id_count = 0;
}

static void no_offsets(struct forged *index) {
    forged_remove(index, STORE_OFFSETS);
}

static void offsets_twice(struct forged *index) {
    add_copy(index, STORE_OFFSETS, (struct store_key){1, 0});
}

static void offsets_elsewhere(struct forged *index) {
    value_of(index, STORE_OFFSETS, 0)->key.chunk = 1;
}

static void offsets_cut(struct forged *index) {
    value_of(index, STORE_OFFSETS, 0)->size--;
}

static void column_dropped(struct forged *index) {
    forged_remove(index, STORE_COLUMNS);
}

static void column_surplus(struct forged *index) {
    add_copy(index, STORE_COLUMNS, (struct store_key){1, 0});
}

static void column_elsewhere(struct forged *index) {
    value_of(index, STORE_COLUMNS, SAMPLE_COLUMNS - 1)->key.series++;
}

static void column_cut(struct forged *index) {
    value_of(index, STORE_COLUMNS, 0)->size--;
}

static void ids_dropped(struct forged *index) {
    forged_remove(index, STORE_IDS);
}

static void ids_surplus(struct forged *index) {
    add_copy(index, STORE_IDS, (struct store_key){IDS_FENCES_CHUNK, 1});
}

static void ids_elsewhere(struct forged *index) {
    value_of(index, STORE_IDS, 0)->key.chunk = 1;
}

static void fences_elsewhere(struct forged *index) {
    value_of(index, STORE_IDS, 1)->key.chunk--;
}

static void fences_of_series(struct forged *index) {
    value_of(index, STORE_IDS, 1)->key.series = 1;
}

static void fences_cut(struct forged *index) {
    value_of(index, STORE_IDS, 1)->size--;
}

static void ids_cut(struct forged *index) {
    value_of(index, STORE_IDS, 0)->size--;
}

enum { FRAME = 4, FRAME_SHARD = 20 }; /* the frame of the last record, and its shard in the entry */

static uint8_t *frame_entry(struct forged *index, size_t frame) {
    return value_of(index, STORE_OFFSETS, 0)->data + frame * OFFSETS_ENTRY_SIZE;
}

/* Records 0 to 127 are all in shard 0. */
static void hint_too_far(struct forged *index) {
    store32(frame_entry(index, 0) + FRAME_SHARD, 1);
}

static void hint_outside(struct forged *index) {
    store32(frame_entry(index, FRAME) + FRAME_SHARD, SAMPLE_SHARDS);
}

static void hint_far_outside(struct forged *index) {
    store32(frame_entry(index, FRAME) + FRAME_SHARD, UINT32_MAX);
}

/* The last block begins where the last shard ends, so its records lie past the end. */
static void offset_past_shard(struct forged *index) {
    uint64_t end = 0;
    for (int i = 0; i < SAMPLE_SHARDS; i++) end += index->shards[i].size;
    store64(frame_entry(index, FRAME), end);
}

/* Of frame 1 the first records are of shard 0: now all lie in shard 1. */
static void frame_in_next_shard(struct forged *index) {
    store64(frame_entry(index, 1), index->shards[0].size);
}

/* Frame 2 begins in shard 1: its records would lie in shard 0. */
static void offset_before_shard(struct forged *index) {
    store64(frame_entry(index, 2), 0);
}

/* All of the frame's records begin where the first does. */
static void offset_repeats(struct forged *index) {
    store64(frame_entry(index, FRAME) + 8, 0);
}

/* The bits of a record's offset lie past the end of the chunk. */
static void offset_bits_outside(struct forged *index) {
    store32(frame_entry(index, 0) + 16, 1 << 20);
}

/* Every pair names the record after the last one. */
static void id_of_nothing(struct forged *index) {
    struct forged_value *ids = value_of(index, STORE_IDS, 0);
    size_t pair = IDS_HASH_BYTES + ids_number_size(SAMPLE_RECORDS);
    for (size_t i = 0; i < SAMPLE_RECORDS; i++) {
        ids->data[i * pair + IDS_HASH_BYTES] = SAMPLE_RECORDS & 0xff;
        ids->data[i * pair + IDS_HASH_BYTES + 1] = SAMPLE_RECORDS >> 8;
    }
}

static void column_counts_other(struct forged *index) {
    store32(value_of(index, STORE_COLUMNS, 0)->data + 4, SAMPLE_RECORDS - 1);
}

/* Where the wrong statement is first needed. */
static recmap_status locate_first(struct index_file *index, recmap_error *error) {
    struct index_place place;
    return index_locate(&place, index, 0, error);
}

static recmap_status locate_second_frame(struct index_file *index, recmap_error *error) {
    struct index_place place;
    return index_locate(&place, index, OFFSETS_BLOCK_RECORDS, error);
}

static recmap_status locate_middle(struct index_file *index, recmap_error *error) {
    struct index_place place;
    return index_locate(&place, index, 2 * OFFSETS_BLOCK_RECORDS, error);
}

static recmap_status locate_last(struct index_file *index, recmap_error *error) {
    struct index_place place;
    return index_locate(&place, index, SAMPLE_RECORDS - 1, error);
}

static recmap_status locate_before_last(struct index_file *index, recmap_error *error) {
    struct index_place place;
    return index_locate(&place, index, SAMPLE_RECORDS - 2, error);
}

static recmap_status look_for_id(struct index_file *index, recmap_error *error) {
    char text[24];
    recmap_value id = sample_id(text, 5);
    struct index_candidates candidates;
    recmap_status status = index_candidates_init(&candidates, index, id_hash(&id), error);
    uint64_t number;
    bool found;
    return status == RECMAP_OK ? index_candidates_next(&candidates, &number, &found, error)
                               : status;
}

static recmap_status read_first_column(struct index_file *index, recmap_error *error) {
    struct column_chunk chunk;
    return index_column_chunk(&chunk, index, 0, 0, error);
}

static recmap_status read_empty_column(struct index_file *index, recmap_error *error) {
    struct column_chunk chunk;
    return index_column_chunk(&chunk, index, 3, 0, error);
}

static recmap_status check_all(struct index_file *index, recmap_error *error) {
    return index_check_all(index, error);
}

static const struct break_case cases[] = {
    CHANGES(no_offsets, "its offsets are incomplete"),
    CHANGES(offsets_twice, "its offsets are incomplete"),
    CHANGES(offsets_elsewhere, "its offsets are incomplete"),
    SAYS(column_missing, "its columns are incomplete"),
    CHANGES(column_dropped, "its columns are incomplete"),
    CHANGES(column_surplus, "its columns are incomplete"),
    CHANGES(column_elsewhere, "its columns are incomplete"),
    SAYS(first_value_past_end, "a column has its first value after the last record"),
    SAYS(default_of_other_type, "the default of a column is not of its type"),
    SAYS(default_too_long, "the default of a column is not of its type"),
    SAYS(more_ids, "its ids are incomplete"),
    {.name = "more_ids_than_records",
     .say = more_ids_than_records,
     .change = add_pair,
     .message = "its ids are incomplete"},
    SAYS(ids_without_name, "its ids are incomplete"),
    {.name = "ids_without_name_nor_fences",
     .say = ids_without_name,
     .change = ids_dropped,
     .message = "its ids are incomplete"},
    SAYS(no_ids_but_pairs, "its ids are incomplete"),
    CHANGES(ids_dropped, "its ids are incomplete"),
    CHANGES(ids_surplus, "its ids are incomplete"),
    CHANGES(ids_elsewhere, "its ids are incomplete"),
    CHANGES(ids_cut, "its ids are incomplete"),
    CHANGES(fences_elsewhere, "its ids are incomplete"),
    CHANGES(fences_of_series, "its ids are incomplete"),
    CHANGES(fences_cut, "its ids are incomplete"),
    USED(offsets_cut, locate_first, "a chunk of offsets is malformed"),
    USED(offset_bits_outside, locate_first, "a chunk of offsets is malformed"),
    USED(hint_too_far, locate_first, "a chunk of offsets names a wrong shard"),
    USED(hint_outside, locate_last, "a chunk of offsets names a wrong shard"),
    USED(hint_far_outside, locate_last, "a chunk of offsets names a wrong shard"),
    USED(frame_in_next_shard, locate_second_frame, "an offset lies outside its shard"),
    USED(offset_past_shard, locate_last, "an offset lies outside its shard"),
    USED(offset_before_shard, locate_middle, "an offset lies outside its shard"),
    USED(offset_repeats, locate_before_last, "an offset lies outside its shard"),
    USED(id_of_nothing, look_for_id, "an id names a record that is not there"),
    USED(column_cut, read_first_column, "a chunk of a column is malformed"),
    USED(column_counts_other, read_first_column, "a chunk of a column is malformed"),
    {.name = "column_of_other_type",
     .say = column_of_other_type,
     .use = read_first_column,
     .message = "a chunk of a column is malformed"},
    SAYS(nulls_in_version_1, "a column has nulls, which need format version 2"),
    SAYS(float64_in_version_3, "a column is of type float64, which needs format version 4"),
    SAYS(type_beyond_all, "its manifest cannot be read"),
    {.name = "float64_in_manifest_only",
     .say = float64_in_manifest_only,
     .use = read_first_column,
     .message = "a chunk of a column is malformed"},
    SAYS(nulls_with_default, "a column with a default has nulls"),
    SAYS(nulls_beyond_records, "a column has more nulls than there are records"),
    {.name = "nulls_only_in_manifest",
     .say = nulls_only_in_manifest,
     .use = check_all,
     .message = "the chunks of a column have another number of nulls"},
    {.name = "no_nulls_in_manifest",
     .say = no_nulls_in_manifest,
     .change = all_null,
     .use = read_empty_column,
     .message = "a chunk of a column is malformed"},
    {.name = "fewer_nulls_in_manifest",
     .say = fewer_nulls_in_manifest,
     .change = all_null,
     .use = read_empty_column,
     .message = "a chunk of a column is malformed"},
    {.name = "flag_in_version_1",
     .say = flag_in_version_1,
     .change = all_null,
     .use = read_empty_column,
     .message = "a chunk of a column is malformed"},
    USED(chunk_with_unknown_flag, read_first_column, "a chunk of a column is malformed"),
    {.name = "column_of_nothing_without_default",
     .say = no_default,
     .use = read_empty_column,
     .message = "a chunk of a column is malformed"},
};

int main(void) {
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        tests[i] =
            (struct CMUnitTest){cases[i].name, break_case_run, NULL, NULL, (void *)&cases[i]};
    return cmocka_run_group_tests(tests, break_case_enter, folder_leave);
}
