/* More damage than a table holds, in a shard of more records than a chunk: the index is the same
 * however it was built, and lists all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/tables/manifest.h"
#include "index/tables/offsets.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/oracle.h"

enum { DAMAGES = DAMAGES_PER_TABLE + 900, RECORDS = OFFSETS_CHUNK_RECORDS + 40000 };

/* Good records, with bad ones among the last; then a length that is bad, in front of a segment's
 * end. */
static void write_shard(const char *name) {
    struct buffer bytes = BUFFER_INIT;
    for (size_t i = 0; i < RECORDS; i++) {
        oracle_add_record(&bytes, "good", 4);
        if (i + DAMAGES < RECORDS) continue;
        oracle_add_record(&bytes, "bad", 3);
        bytes.data[bytes.size - 1] ^= 1;
    }
    for (int i = 0; i < 500; i++) buffer_add_byte(&bytes, 1);
    for (size_t i = 0; i < RECORDS; i++) oracle_add_record(&bytes, "good", 4);
    file_write(name, bytes.data, bytes.size);
    buffer_deinit(&bytes);
}

static void append(const char *path, const recmap_index_options *options, const char *shard) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder;
    assert_int_equal(recmap_index_builder_create(&builder, path, options, &error), RECMAP_OK);
    assert_int_equal(recmap_index_builder_add_index(builder, path, &error), RECMAP_OK);
    assert_int_equal(recmap_index_builder_add_shard(builder, shard, &error), RECMAP_OK);
    assert_int_equal(recmap_index_builder_finish(NULL, builder, &error), RECMAP_OK);
    recmap_index_builder_destroy(builder);
}

static void test_damage_of_many_shards_is_listed(void **state) {
    (void)state;
    const char *const names[] = {"a", "b"};
    write_shard("a");
    write_shard("b");
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    options.thread_count = 1;
    recmap_index_summary summary = index_build("one.rmx", &options, names, 2);
    /* There is no valid header after the last bad record, so it and the bytes after it are one
     * stretch of damage. */
    assert_int_equal(summary.damage_count, 2 * DAMAGES);
    assert_int_equal(summary.record_count, 4 * (uint64_t)RECORDS);
    options.thread_count = 4;
    index_build("four.rmx", &options, names, 2);
    index_build("appended.rmx", &options, names, 1);
    append("appended.rmx", &options, "b");
    assert_same_file("one.rmx", "four.rmx");
    assert_same_file("one.rmx", "appended.rmx");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_damage_of_many_shards_is_listed, folder_enter,
                                        folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
