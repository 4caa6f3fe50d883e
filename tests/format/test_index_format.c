/* What an index says of itself: each statement is made wrong alone, in a file whose hashes and seal
 * are right, and must be refused with its own message, on opening or where it is first used. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "index/index.h"
#include "index/offsets.h"
#include "support/build.h"
#include "support/folder.h"
#include "support/forged.h"
#include "support/sample.h"

static struct forged_value *value_of(struct forged *index, enum store_table table, size_t i) {
    assert_true(i < index->tables[table].count);
    return &index->tables[table].values[i];
}

/* Wrong in what is said: encoded afterwards. */
static void newer_format(struct forged *index) {
    index->manifest.format_version = INDEX_FORMAT_VERSION + 1;
}

static void older_format(struct forged *index) {
    index->manifest.format_version = 0;
}

static void set_framing(struct forged *index, const char *name) {
    char *framing = index->shards[1].framing;
    index->shards[1].framing = strdup(name);
    free(framing);
}

static void unknown_framing(struct forged *index) {
    set_framing(index, "parchment");
}

static void no_framing(struct forged *index) {
    set_framing(index, "");
}

static void more_bytes(struct forged *index) {
    index->manifest.byte_count++;
}

/* Chunks are as many as before. */
static void fewer_records(struct forged *index) {
    index->manifest.record_count--;
}

static void more_records_in_shard(struct forged *index) {
    index->shards[0].record_count++;
}

/* The list is as long as before; shards have one more of it together. */
static void more_damage_in_shard(struct forged *index) {
    index->shards[2].damage_count++;
}

static void huge_size(struct forged *index) {
    index->shards[1].compression = COMPRESSION_GZIP;
    index->shards[1].size = (uint64_t)1 << 63;
}

static void huge_file_size(struct forged *index) {
    index->shards[1].compression = COMPRESSION_GZIP;
    index->shards[1].file_size = (uint64_t)1 << 63;
}

static void huge_record_count(struct forged *index) {
    index->shards[1].record_count = UINT64_MAX;
}

static void huge_damage_count(struct forged *index) {
    index->shards[1].damage_count = UINT64_MAX;
}

/* By one byte more than deflate can give. */
static void huge_image(struct forged *index) {
    struct shard_entry *shard = &index->shards[1];
    shard->compression = COMPRESSION_GZIP;
    shard->size = 1032 * (shard->file_size + 1);
}

static void rename_column(struct forged *index, size_t column, const char *name) {
    free(index->manifest.columns[column].name);
    index->manifest.columns[column].name = strdup(name);
}

static void column_not_utf8(struct forged *index) {
    rename_column(index, 1, "sh\xff");
}

static void column_without_name(struct forged *index) {
    rename_column(index, 1, "");
}

static void column_of_library(struct forged *index) {
    rename_column(index, 1, "@length");
}

static void column_twice(struct forged *index) {
    rename_column(index, 1, index->manifest.columns[0].name);
}

static void default_not_utf8(struct forged *index) {
    free(index->manifest.columns[2].default_value);
    index->manifest.columns[2].default_value = strdup("\xff");
}

static void id_name_not_utf8(struct forged *index) {
    free(index->manifest.id_name);
    index->manifest.id_name = strdup("\xc0");
}

static void shard_twice(struct forged *index) {
    free(index->shards[2].path);
    index->shards[2].path = strdup(index->shards[0].path);
}

static void rename_shard(struct forged *index, const char *name) {
    free(index->shards[1].path);
    index->shards[1].path = strdup(name);
}

static void name_above(struct forged *index) {
    rename_shard(index, "../s00001");
}

static void name_above_later(struct forged *index) {
    rename_shard(index, "sub/../../s00001");
}

static void name_ends_above(struct forged *index) {
    rename_shard(index, "sub/..");
}

static void name_of_folder(struct forged *index) {
    rename_shard(index, ".");
}

static void name_with_empty_part(struct forged *index) {
    rename_shard(index, "sub//s00001");
}

static void name_ends_empty(struct forged *index) {
    rename_shard(index, "s00001/");
}

/* One more is promised than the table holds. */
static void missing_shard(struct forged *index) {
    index->manifest.shard_count++;
}

static void surplus_shard(struct forged *index) {
    index->manifest.shard_count--;
}

static void shard_tables_missing(struct forged *index) {
    index->manifest.shard_count = SHARDS_PER_TABLE + 1;
}

static void shards_countless(struct forged *index) {
    index->manifest.shard_count = ((uint64_t)1 << 32) + 1;
}

static void damage_missing(struct forged *index) {
    index->damage_count--;
    free(index->damages[index->damage_count].reason);
}

static void damage_surplus(struct forged *index) {
    index->manifest.damage_count--;
    index->shards[2].damage_count--;
}

static void damage_tables_missing(struct forged *index) {
    index->manifest.damage_count = DAMAGES_PER_TABLE + 1;
    index->shards[0].damage_count += DAMAGES_PER_TABLE + 1 - SAMPLE_DAMAGES;
}

static void damage_out_of_order(struct forged *index) {
    uint64_t first = index->damages[0].offset;
    index->damages[0].offset = index->damages[1].offset;
    index->damages[1].offset = first;
}

/* The second begins in the first one's last byte. */
static void damage_overlaps(struct forged *index) {
    index->damages[1].offset = index->damages[0].offset + index->damages[0].length - 1;
}

/* The damage ends one byte past the end of its shard. */
static void damage_outside(struct forged *index) {
    index->damages[1].offset = index->shards[0].size - index->damages[1].length + 1;
}

static void damage_wraps(struct forged *index) {
    index->damages[1].offset = UINT64_MAX - index->damages[1].length + 1;
}

static void damage_of_wrong_shard(struct forged *index) {
    index->damages[1].shard = 1;
}

static void damage_without_length(struct forged *index) {
    index->manifest.damaged_byte_count -= index->damages[0].length;
    index->damages[0].length = 0;
}

static void damage_longer(struct forged *index) {
    index->damages[0].length++;
}

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

/* Wrong in the values themselves. */
static void no_manifest(struct forged *index) {
    forged_remove(index, STORE_MANIFEST);
}

static void add_copy(struct forged *index, enum store_table table, struct store_key key) {
    struct forged_value copied = *value_of(index, table, 0);
    forged_add(index, table, key, copied.data, copied.size);
}

static void two_manifests(struct forged *index) {
    add_copy(index, STORE_MANIFEST, (struct store_key){1, 0});
}

static void strange_manifest(struct forged *index) {
    value_of(index, STORE_MANIFEST, 0)->data[0] = 0xff;
}

static void strange_shards(struct forged *index) {
    value_of(index, STORE_SHARDS, 0)->data[0] = 0xff;
}

static void strange_damages(struct forged *index) {
    value_of(index, STORE_DAMAGE, 0)->data[0] = 0xff;
}

static void shards_elsewhere(struct forged *index) {
    value_of(index, STORE_SHARDS, 0)->key.chunk = 1;
}

static void shards_twice(struct forged *index) {
    add_copy(index, STORE_SHARDS, (struct store_key){1, 0});
}

static void damages_elsewhere(struct forged *index) {
    value_of(index, STORE_DAMAGE, 0)->key.series = 1;
}

static void damages_twice(struct forged *index) {
    add_copy(index, STORE_DAMAGE, (struct store_key){1, 0});
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

struct break_case {
    const char *name;
    void (*say)(struct forged *index);    /* before manifest, shards and damages are encoded */
    void (*change)(struct forged *index); /* after it */
    recmap_status (*use)(struct index_file *index,
                         recmap_error *error); /* NULL: refused on opening */
    const char *message;                       /* after "the index is damaged or forged: " */
    const char *other_message;
};

static const struct break_case cases[] = {
    {.name = "newer_format",
     .say = newer_format,
     .other_message = "the index has format version 2; this recmap reads 1"},
    {.name = "older_format",
     .say = older_format,
     .other_message = "the index has format version 0; this recmap reads 1"},
    {.name = "unknown_framing",
     .say = unknown_framing,
     .other_message = "shard s00001 has the framing \"parchment\", which this recmap cannot read"},
    {.name = "no_framing",
     .say = no_framing,
     .other_message = "shard s00001 has the framing \"\", which this recmap cannot read"},
#define SAYS(broken, text)                                                                         \
    { .name = #broken, .say = broken, .message = text }
#define CHANGES(broken, text)                                                                      \
    { .name = #broken, .change = broken, .message = text }
#define USED(broken, user, text)                                                                   \
    { .name = #broken, .change = broken, .use = user, .message = text }
    CHANGES(no_manifest, "it has no manifest"),
    CHANGES(two_manifests, "it has no manifest"),
    CHANGES(strange_manifest, "its manifest cannot be read"),
    SAYS(missing_shard, "its table of shards is incomplete"),
    SAYS(surplus_shard, "its table of shards cannot be read"),
    SAYS(shard_tables_missing, "its table of shards is incomplete"),
    SAYS(shards_countless, "its table of shards is incomplete"),
    CHANGES(shards_elsewhere, "its table of shards is incomplete"),
    CHANGES(shards_twice, "its table of shards is incomplete"),
    CHANGES(strange_shards, "its table of shards cannot be read"),
    SAYS(shard_twice, "it names a shard twice"),
    SAYS(column_not_utf8, "its manifest cannot be read"),
    SAYS(default_not_utf8, "its manifest cannot be read"),
    SAYS(id_name_not_utf8, "its manifest cannot be read"),
    SAYS(column_without_name, "the name of a column is impossible"),
    SAYS(column_of_library, "the name of a column is impossible"),
    SAYS(column_twice, "it names a column twice"),
    SAYS(name_above, "it names a shard outside its own folder"),
    SAYS(name_above_later, "it names a shard outside its own folder"),
    SAYS(name_ends_above, "it names a shard outside its own folder"),
    SAYS(name_of_folder, "it names a shard outside its own folder"),
    SAYS(name_with_empty_part, "it names a shard outside its own folder"),
    SAYS(name_ends_empty, "it names a shard outside its own folder"),
    SAYS(huge_size, "its shards are too large"),
    SAYS(huge_image, "its shards are too large"),
    SAYS(huge_file_size, "its shards are too large"),
    SAYS(huge_record_count, "its shards are too large"),
    SAYS(huge_damage_count, "its shards are too large"),
    SAYS(more_bytes, "its shards do not add up to its totals"),
    SAYS(fewer_records, "its shards do not add up to its totals"),
    SAYS(more_records_in_shard, "its shards do not add up to its totals"),
    SAYS(more_damage_in_shard, "its shards do not add up to its totals"),
    SAYS(damage_missing, "its list of damage is incomplete"),
    SAYS(damage_surplus, "its list of damage cannot be read"),
    SAYS(damage_tables_missing, "its list of damage is incomplete"),
    CHANGES(damages_elsewhere, "its list of damage is incomplete"),
    CHANGES(damages_twice, "its list of damage is incomplete"),
    CHANGES(strange_damages, "its list of damage cannot be read"),
    SAYS(damage_out_of_order, "its list of damage is out of order"),
    SAYS(damage_overlaps, "its list of damage is out of order"),
    SAYS(damage_outside, "its list of damage is out of order"),
    SAYS(damage_wraps, "its list of damage is out of order"),
    SAYS(damage_of_wrong_shard, "its list of damage is out of order"),
    SAYS(damage_without_length, "its list of damage is out of order"),
    SAYS(damage_longer, "its list of damage does not add up to its totals"),
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
    {.name = "column_of_nothing_without_default",
     .say = no_default,
     .use = read_empty_column,
     .message = "a chunk of a column is malformed"},
};

static void assert_refused(const struct break_case *broken, recmap_status status,
                           const recmap_error *error) {
    char due[160];
    snprintf(due, sizeof due, "%s%s", broken->message ? "the index is damaged or forged: " : "",
             broken->message ? broken->message : broken->other_message);
    assert_string_equal(error->message, due);
    assert_int_equal(status, broken->message ? RECMAP_CORRUPT : RECMAP_UNSUPPORTED);
    assert_int_equal(error->status, status);
    assert_string_equal(error->path, "forged.rmx");
    assert_true(error->advice[0]);
}

static void refuse(const struct break_case *broken, bool in_memory) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store_options options = {.in_memory = in_memory};
    struct index_file *index = NULL;
    recmap_status status = index_open(&index, "forged.rmx", &options, &error);
    if (!broken->use) {
        assert_null(index);
        assert_refused(broken, status, &error);
        return;
    }
    ASSERT_OK(status, &error);
    /* Not only the first time. */
    for (int i = 0; i < 2; i++) {
        error = (recmap_error)RECMAP_ERROR_INIT;
        assert_refused(broken, broken->use(index, &error), &error);
    }
    index_close(index);
}

static void breaks(void **state) {
    const struct break_case *broken = *state;
    struct forged index = forged_read("sample.rmx");
    if (broken->say) broken->say(&index);
    forged_encode(&index);
    if (broken->change) broken->change(&index);
    forged_write(&index, "forged.rmx");
    forged_deinit(&index);
    refuse(broken, false);
    refuse(broken, true);
}

/* Taken apart and put together again it says the same: nothing but the break is refused. */
static void unbroken(void **state) {
    (void)state;
    struct forged index = forged_read("sample.rmx"), again;
    assert_int_equal(index.manifest.record_count, SAMPLE_RECORDS);
    assert_int_equal(index.damage_count, SAMPLE_DAMAGES);
    assert_int_equal(index.tables[STORE_COLUMNS].count, SAMPLE_COLUMNS);
    assert_int_equal(index.tables[STORE_IDS].count, 2);
    forged_encode(&index);
    forged_write(&index, "forged.rmx");
    forged_deinit(&index);
    index = forged_read("sample.rmx");
    again = forged_read("forged.rmx");
    for (int t = 0; t < STORE_TABLE_COUNT; t++) {
        assert_int_equal(again.tables[t].count, index.tables[t].count);
        for (size_t i = 0; i < index.tables[t].count; i++) {
            const struct forged_value *value = value_of(&again, (enum store_table)t, i);
            const struct forged_value *due = value_of(&index, (enum store_table)t, i);
            assert_int_equal(value->size, due->size);
            assert_memory_equal(value->data, due->data, due->size);
        }
    }
    forged_deinit(&index);
    forged_deinit(&again);
    recmap_error error = RECMAP_ERROR_INIT;
    struct index_file *opened;
    ASSERT_OK(index_open(&opened, "forged.rmx", NULL, &error), &error);
    ASSERT_OK(index_check_all(opened, &error), &error);
    index_close(opened);
}

static int enter(void **state) {
    if (folder_enter(state)) return -1;
    sample_build("sample.rmx");
    return 0;
}

int main(void) {
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT + 1] = {cmocka_unit_test(unbroken)};
    for (size_t i = 0; i < COUNT; i++)
        tests[i + 1] = (struct CMUnitTest){cases[i].name, breaks, NULL, NULL, (void *)&cases[i]};
    return cmocka_run_group_tests(tests, enter, folder_leave);
}
