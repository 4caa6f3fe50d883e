/* What an index says about itself: each statement is made wrong alone, in a file whose hashes and
 * seal are right, and must be refused with its own message, on opening or where it is first used.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
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

/* Two parts of the file of shard 0, of which the second begins elsewhere than the first ends. */
static void part_after_gap(struct forged *index) {
    shard_twice(index);
    index->manifest.format_version = 3;
    index->shards[2].start = index->shards[0].size + 1;
    index->shards[2].size += index->shards[2].start;
    index->shards[2].file_size = index->shards[2].size;
}

static void part_of_nothing(struct forged *index) {
    index->manifest.format_version = 3;
    index->shards[0].start = 1;
}

static void start_after_end(struct forged *index) {
    index->manifest.format_version = 3;
    index->shards[0].start = index->shards[0].size + 1;
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

/* Wrong in the values themselves. */
static void no_manifest(struct forged *index) {
    forged_remove(index, STORE_MANIFEST);
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

static const struct break_case cases[] = {
    {.name = "newer_format",
     .say = newer_format,
     .other_message = "the index has format version 5; this recmap reads 1 to 4"},
    {.name = "older_format",
     .say = older_format,
     .other_message = "the index has format version 0; this recmap reads 1 to 4"},
    {.name = "unknown_framing",
     .say = unknown_framing,
     .other_message = "shard s00001 has the framing \"parchment\", which this recmap cannot read"},
    {.name = "no_framing",
     .say = no_framing,
     .other_message = "shard s00001 has the framing \"\", which this recmap cannot read"},
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
    SAYS(part_after_gap, "it names a shard twice"),
    SAYS(part_of_nothing, "it lacks the first part of a shard"),
    SAYS(start_after_end, "its table of shards cannot be read"),
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
};

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

int main(void) {
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT + 1] = {cmocka_unit_test(unbroken)};
    for (size_t i = 0; i < COUNT; i++)
        tests[i + 1] =
            (struct CMUnitTest){cases[i].name, break_case_run, NULL, NULL, (void *)&cases[i]};
    return cmocka_run_group_tests(tests, break_case_enter, folder_leave);
}
