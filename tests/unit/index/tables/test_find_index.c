/* Which index a list of shards has if none has its default name. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <recmap/recmap.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/oracle.h"

static int warning_count;
static char warned_of[64], message[1024];

static void keep_warning(const recmap_error *warning, void *unused) {
    (void)unused;
    warning_count++;
    snprintf(warned_of, sizeof warned_of, "%.60s", warning->path);
    snprintf(message, sizeof message, "%s", warning->message);
}

static void write_shard(const char *name, int64_t time) {
    struct buffer bytes = BUFFER_INIT;
    oracle_add_record(&bytes, name, strlen(name));
    file_write(name, bytes.data, bytes.size);
    buffer_deinit(&bytes);
    file_set_time(name, time);
}

static void write_index(const char *path, int64_t time, const char *const *shards) {
    recmap_index_builder *builder;
    recmap_index_summary summary;
    assert_int_equal(recmap_index_builder_create(&builder, path, NULL, NULL), RECMAP_OK);
    for (; *shards; shards++)
        assert_int_equal(recmap_index_builder_add_shard(builder, *shards, NULL), RECMAP_OK);
    assert_int_equal(recmap_index_builder_finish(&summary, builder, NULL), RECMAP_OK);
    recmap_index_builder_destroy(builder);
    file_set_time(path, time);
}

/* The index of these shards, of whatever sets. `expected`: NULL for a new one, under the default
 * name. `reason`: of the warning, or NULL. */
static void assert_finds(const char *expected, const char *reason, const char *const *names) {
    recmap_shards *shards;
    char path[64], new_path[64];
    warning_count = 0;
    recmap_set_warn(keep_warning, NULL);
    assert_int_equal(recmap_shards_create(&shards, NULL), RECMAP_OK);
    assert_int_equal(recmap_shards_choose_sets(shards, NULL, RECMAP_SETS_ALL, NULL), RECMAP_OK);
    for (; *names; names++) assert_int_equal(recmap_shards_add(shards, *names, NULL), RECMAP_OK);
    assert_int_equal(recmap_shards_find_index(path, sizeof path, shards, NULL), RECMAP_OK);
    assert_int_equal(recmap_shards_index_path(new_path, sizeof new_path, shards, NULL), RECMAP_OK);
    assert_string_equal(path, expected ? expected : new_path);
    assert_int_equal(warning_count != 0, reason != NULL);
    if (reason && !strstr(message, reason)) fail_msg("%s", message);
    recmap_shards_destroy(shards);
    recmap_set_warn(NULL, NULL);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_shards_that_change_the_name(void **state) {
    (void)state;
    write_shard("part-m", 1);
    write_shard("part-n", 2);
    write_index("part.rmx", 10, LIST("part-m", "part-n"));
    write_shard("extra", 11);
    assert_finds("part.rmx", NULL, LIST("part-m", "part-n", "extra"));
    assert_finds("part.rmx", NULL, LIST("extra", "part-n", "./part-m"));
    file_set_time("extra", 10);
    assert_finds(NULL, "not all others are newer", LIST("part-m", "part-n", "extra"));
    assert_string_equal(warned_of, "part.rmx");
    /* It was extended, so its name is no longer the default one. */
    write_index("part.rmx", 20, LIST("part-m", "part-n", "extra"));
    assert_finds("part.rmx", NULL, LIST("extra", "part-m", "part-n"));
    /* Opening some of its shards. */
    assert_finds("part-m.rmx", NULL, LIST("part-m"));
    assert_finds("extra.rmx", NULL, LIST("extra"));
    assert_finds(NULL, NULL, LIST("part-n", "extra"));
    write_shard("y", 30);
    assert_finds(NULL, "it also has other shards", LIST("part-n", "y"));
}

static void test_indexes_that_are_not_used(void **state) {
    (void)state;
    write_shard("m", 1);
    write_shard("b", 20);
    write_index("chosen.rmx", 10, LIST("m"));
    file_write("noise.rmx", "noise", 5);
    assert_finds(NULL, NULL, LIST("b", "m"));
    write_shard("c", 20);
    write_index("m.rmx", 10, LIST("m"));
    write_index("c.rmx", 10, LIST("c"));
    assert_finds(NULL, "there are several", LIST("b", "c", "m"));
    assert_int_equal(warning_count, 2);
    assert_finds("m.rmx", NULL, LIST("b", "m"));
}

static void test_indexes_of_sets_are_found(void **state) {
    (void)state;
    write_shard("train-1", 1);
    write_index("train-1.rmx", 10, LIST("train-1"));
    write_shard("test-1", 20);
    write_shard("x-0-of-2", 1);
    write_shard("x-1-of-2", 20);
    write_index("x-0-of-2.rmx", 10, LIST("x-0-of-2"));
    assert_finds(NULL, "several sets", LIST("train-1", "test-1"));
    assert_finds("test-1.rmx", NULL, LIST("test-1"));
    assert_finds("x.rmx", "one shard of a set", LIST("x-0-of-2", "x-1-of-2"));
    write_shard("train-2", 20);
    assert_finds("train-1.rmx", NULL, LIST("train-1", "train-2"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, folder_enter, folder_leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_shards_that_change_the_name),
        TEST(test_indexes_that_are_not_used),
        TEST(test_indexes_of_sets_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
