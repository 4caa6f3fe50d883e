/* Options that cannot be, callbacks that lie, names that would destroy something: each is refused
 * before anything is written. */
#define _GNU_SOURCE
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <recmap/recmap.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/oracle.h"

static void write_shard(const char *name, const char *payload) {
    struct buffer bytes = BUFFER_INIT;
    oracle_add_record(&bytes, payload, strlen(payload));
    file_write(name, bytes.data, bytes.size);
    buffer_deinit(&bytes);
}

static void assert_create_fails(const recmap_index_options *options, const char *path,
                                const char *message) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder = NULL;
    assert_int_equal(recmap_index_builder_create(&builder, path, options, &error), RECMAP_INVALID);
    assert_non_null(strstr(error.message, message));
    assert_null(builder);
}

static void test_invalid_index_options_are_refused(void **state) {
    (void)state;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.version = 9;
    assert_create_fails(&options, "x.rmx", "version 9");
    options = (recmap_index_options)RECMAP_INDEX_OPTIONS_INIT;
    options.on_bad_record = (recmap_on_bad_record)17;
    assert_create_fails(&options, "x.rmx", "on_bad_record is 17");
    options = (recmap_index_options)RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = "";
    assert_create_fails(&options, "x.rmx", "no name");
    options = (recmap_index_options)RECMAP_INDEX_OPTIONS_INIT;
    options.lift_count = 1;
    assert_create_fails(&options, "x.rmx", "lifts is NULL");
    assert_create_fails(NULL, "", "no path");
    write_shard("shard", "a");
    assert_create_fails(NULL, "shard", "is not a recmap index");
    assert_create_fails(NULL, "x.rmv", "is the name of a selection");
    assert_create_fails(NULL, "./.rmv", "is the name of a selection");
    assert_int_equal(folder_count(), 1);
}

static void test_invalid_dataset_options_are_refused(void **state) {
    (void)state;
    const char *const names[] = {"shard"};
    write_shard("shard", "a");
    index_build("x.rmx", NULL, names, 1);
    recmap_dataset *dataset = NULL;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.access = (recmap_access)5;
    assert_int_equal(recmap_dataset_open(&dataset, "x.rmx", &options, NULL), RECMAP_INVALID);
    options = (recmap_dataset_options)RECMAP_DATASET_OPTIONS_INIT;
    options.check = (recmap_check)9;
    assert_int_equal(recmap_dataset_open(&dataset, "x.rmx", &options, NULL), RECMAP_INVALID);
    options = (recmap_dataset_options)RECMAP_DATASET_OPTIONS_INIT;
    options.index_check = (recmap_index_check)2;
    assert_int_equal(recmap_dataset_open(&dataset, "x.rmx", &options, NULL), RECMAP_INVALID);
    assert_int_equal(recmap_dataset_open(&dataset, NULL, NULL, NULL), RECMAP_INVALID);
    assert_null(dataset);
}

/* A writer whose file and index are the same file must be refused, however the path is spelled. */
static void test_writer_onto_its_index(void **state) {
    (void)state;
    static const char *const spellings[] = {"same", "./same", "../%s/same", "sub/../same"};
    mkdir("sub", 0777);
    char here[PATH_ROOM], path[PATH_ROOM + 16];
    assert_non_null(getcwd(here, sizeof here));
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        snprintf(path, sizeof path, spellings[i], strrchr(here, '/') + 1);
        recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
        options.index_path = path;
        recmap_writer *writer = NULL;
        recmap_error error = RECMAP_ERROR_INIT;
        assert_int_equal(recmap_writer_create(&writer, "same", &options, &error), RECMAP_INVALID);
        assert_non_null(strstr(error.message, "same path"));
        assert_false(file_exists("same"));
    }
    recmap_index_options index = RECMAP_INDEX_OPTIONS_INIT;
    index.version = 9;
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.index_path = "x.rmx";
    options.index = &index;
    recmap_writer *writer = NULL;
    assert_int_equal(recmap_writer_create(&writer, "same", &options, NULL), RECMAP_INVALID);
    options.index = NULL;
    options.index_path = "x.rmv";
    assert_int_equal(recmap_writer_create(&writer, "same", &options, NULL), RECMAP_INVALID);
    rmdir("sub");
    assert_int_equal(folder_count(), 0);
}

struct lie {
    int id_type;
    int column_type;
    int status;
};

static recmap_status tell_lie(const recmap_record *record, recmap_value *id, recmap_value *columns,
                              size_t column_count, char *message, size_t message_capacity,
                              void *context) {
    const struct lie *told = context;
    (void)record;
    (void)message;
    (void)message_capacity;
    id->type = (recmap_type)told->id_type;
    for (size_t i = 0; i < column_count; i++) columns[i].type = (recmap_type)told->column_type;
    return (recmap_status)told->status;
}

static void test_callbacks_that_lie(void **state) {
    (void)state;
    static const struct lie lies[] = {{77, 0, 0}, {0, 77, 0}, {0, 0, 99}, {2, 0, 0}};
    const char *const names[] = {"shard"};
    recmap_lift lift = {"column", "0", 0};
    write_shard("shard", "a");
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
        options.id_feature = "id";
        options.lifts = &lift;
        options.lift_count = 1;
        options.lift = tell_lie;
        options.lift_context = (void *)&lies[i];
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = index_try("x.rmx", &options, names, 1, &error);
        assert_int_equal(status, lies[i].id_type == 2 ? RECMAP_FEATURE : RECMAP_INVALID);
        assert_false(file_exists("x.rmx"));
    }
}

/* The index that the link names is annotated, and the link stays. */
static void test_annotation_behind_a_link(void **state) {
    (void)state;
    const char *const names[] = {"data/a"};
    mkdir("data", 0777);
    mkdir("links", 0777);
    write_shard("data/a", "first");
    index_build("data/d.rmx", NULL, names, 1);
    assert_int_equal(symlink("../data/d.rmx", "links/d.rmx"), 0);
    recmap_dataset *dataset = dataset_open("links/d.rmx", NULL);
    recmap_annotation *annotation = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_annotation_create(&annotation, dataset, NULL, &error), &error);
    ASSERT_OK(recmap_annotation_add_column(annotation, "x", RECMAP_TYPE_INT64, "1", &error),
              &error);
    ASSERT_OK(recmap_annotation_finish(annotation, &error), &error);
    recmap_annotation_destroy(annotation);
    recmap_dataset_close(dataset);
    for (int i = 0; i < 2; i++) {
        recmap_record record;
        char path[PATH_MAX];
        dataset = dataset_open(i ? "links/d.rmx" : "data/d.rmx", NULL);
        assert_int_equal(recmap_dataset_get_info(dataset)->lifted_column_count, 2);
        ASSERT_OK(recmap_dataset_get(&record, dataset, 0, &error), &error);
        ASSERT_OK(recmap_dataset_shard_path(path, sizeof path, dataset, 0, &error), &error);
        assert_int_equal(access(path, R_OK), 0);
        recmap_dataset_close(dataset);
    }
    struct stat link;
    assert_int_equal(lstat("links/d.rmx", &link), 0);
    assert_true(S_ISLNK(link.st_mode));
}

/* Shards lie beside the index itself, not beside a link to it. */
static void test_index_behind_a_link(void **state) {
    (void)state;
    const char *const names[] = {"data/a"};
    mkdir("data", 0777);
    mkdir("links", 0777);
    write_shard("data/a", "first");
    write_shard("data/b", "second");
    index_build("data/d.rmx", NULL, names, 1);
    assert_int_equal(symlink("../data/d.rmx", "links/d.rmx"), 0);
    recmap_dataset *dataset = dataset_open("links/d.rmx", NULL);
    recmap_record record;
    assert_int_equal(recmap_dataset_get(&record, dataset, 0, NULL), RECMAP_OK);
    recmap_dataset_close(dataset);
    recmap_index_builder *builder;
    assert_int_equal(recmap_index_builder_create(&builder, "links/d.rmx", NULL, NULL), RECMAP_OK);
    assert_int_equal(recmap_index_builder_add_index(builder, "links/d.rmx", NULL), RECMAP_OK);
    assert_int_equal(recmap_index_builder_add_shard(builder, "data/b", NULL), RECMAP_OK);
    assert_int_equal(recmap_index_builder_finish(NULL, builder, NULL), RECMAP_OK);
    assert_int_equal(recmap_index_builder_add_shard(builder, "data/b", NULL), RECMAP_INVALID);
    recmap_index_builder_destroy(builder);
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.allow_absolute_paths = 1;
    dataset = dataset_open("links/d.rmx", &options);
    char path[PATH_MAX];
    assert_int_equal(recmap_dataset_shard_path(path, sizeof path, dataset, 1, NULL), RECMAP_OK);
    assert_int_equal(access(path, R_OK), 0);
    assert_int_equal(recmap_dataset_shard_path(path, strlen(path), dataset, 1, NULL),
                     RECMAP_INVALID);
    assert_int_equal(recmap_dataset_shard_path(path, sizeof path, dataset, 2, NULL),
                     RECMAP_INVALID);
    assert_int_equal(recmap_dataset_count(dataset), 2);
    assert_int_equal(recmap_dataset_get(&record, dataset, 1, NULL), RECMAP_OK);
    assert_memory_equal(record.data, "second", 6);
    recmap_dataset_close(dataset);
}

/* Skipping numbers the good records of damaged shards; a text is none, whatever is skipped. */
static void test_skipping_is_for_shards(void **state) {
    (void)state;
    const char *const names[] = {"shard"};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    recmap_error error = RECMAP_ERROR_INIT;
    char text[100];
    memset(text, 'a', sizeof text);
    file_write("shard", text, sizeof text);
    assert_int_equal(index_try("x.rmx", &options, names, 1, &error), RECMAP_CORRUPT);
    assert_non_null(strstr(error.message, "it is text"));
    file_write("shard", text, 20); /* could be anything */
    assert_int_equal(index_build("x.rmx", &options, names, 1).damage_count, 1);
    memset(text, 1, sizeof text);
    file_write("shard", text, sizeof text);
    assert_int_equal(index_build("x.rmx", &options, names, 1).damaged_byte_count, sizeof text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_invalid_index_options_are_refused, folder_enter,
                                        folder_leave),
        cmocka_unit_test_setup_teardown(test_invalid_dataset_options_are_refused, folder_enter,
                                        folder_leave),
        cmocka_unit_test_setup_teardown(test_writer_onto_its_index, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_callbacks_that_lie, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_index_behind_a_link, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_annotation_behind_a_link, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_skipping_is_for_shards, folder_enter, folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
