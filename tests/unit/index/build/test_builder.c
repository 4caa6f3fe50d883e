/* The builder: the same shards give the same bytes, whatever the threads, and whether they were
 * indexed at once, appended or merged; what is wrong is refused, and no files are left over. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/known.h"
#include "support/rounds.h"
#include "support/shards/features.h"
#include "support/shards/layout.h"
#include "support/shards/oracle.h"
#include "unit/index/build/parts.h"

static void test_known_sets_are_indexed_as_written(void **state) {
    (void)state;
    unsigned rounds = is_long() ? 1500 : some_rounds(60);
    for (unsigned round = 0; round < rounds; round++) {
        struct rng random = {5000 + round};
        struct known_options made = {1 + (size_t)rng_below(&random, 9),
                                     (size_t)rng_below(&random, 400),
                                     60,
                                     rng_one_in(&random, 2),
                                     rng_one_in(&random, 2),
                                     rng_one_in(&random, 2)};
        struct known set = known_generate(&made, &random);
        recmap_index_options options = known_index_options(&set);
        assert_same_by_all_paths(&options, shard_names(set.shard_count), set.shard_count, &random);
        known_deinit(&set);
    }
}

/* Shards of any bytes, all kinds of damage. */
static void test_damaged_shards_list_their_damage(void **state) {
    (void)state;
    unsigned rounds = is_long() ? 1500 : some_rounds(60);
    for (unsigned round = 0; round < rounds; round++) {
        struct rng random = {9000 + round};
        size_t count = 1 + (size_t)rng_below(&random, 5);
        for (size_t i = 0; i < count; i++) {
            struct buffer bytes = BUFFER_INIT;
            layout_generate(&bytes, (size_t)rng_below(&random, 5000), &random);
            file_write(shard_names(count)[i], bytes.data, bytes.size);
            buffer_deinit(&bytes);
        }
        recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
        options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
        assert_same_by_all_paths(&options, shard_names(count), count, &random);
    }
}

static void add_example(struct buffer *shard, const char *name, int type) {
    struct buffer features = BUFFER_INIT, example = BUFFER_INIT;
    if (type == RECMAP_TYPE_INT64) features_add_int64(&features, name, 3);
    if (type == RECMAP_TYPE_FLOAT) features_add_float(&features, name, 3);
    if (type == RECMAP_TYPE_BYTES) features_add_text(&features, name, "three");
    features_end(&example, &features);
    oracle_add_record(shard, example.data, example.size);
    buffer_deinit(&example);
}

/* A build of one column over examples of these types; -1 begins another shard. */
static recmap_status try_types(const char *default_value, const int *types, size_t count,
                               unsigned threads, recmap_error *error) {
    struct buffer shard = BUFFER_INIT;
    size_t shards = 0;
    for (size_t i = 0; i <= count; i++) {
        if (i < count && types[i] >= 0) {
            add_example(&shard, "x", types[i]);
            continue;
        }
        file_write(shard_names(8)[shards++], shard.data, shard.size);
        buffer_deinit(&shard);
    }
    recmap_lift lift = {"x", default_value, 0};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.lifts = &lift;
    options.lift_count = 1;
    options.thread_count = threads;
    return index_try("types.rmx", &options, shard_names(8), shards, error);
}

static void assert_type_error(const char *default_value, const int *types, size_t count,
                              recmap_status due, uint64_t record, const char *message) {
    for (unsigned threads = 1; threads <= 3; threads++) {
        recmap_error error = RECMAP_ERROR_INIT;
        assert_int_equal(try_types(default_value, types, count, threads, &error), due);
        assert_int_equal(error.record, record);
        assert_string_equal(error.message, message);
        assert_true(error.advice[0]);
        assert_true(error.path[0] == 's');
        assert_false(file_exists("types.rmx"));
    }
}

/* The error is the same wherever shards and segments end. */
static void test_types_differ(void **state) {
    (void)state;
    const char *message =
        "feature \"x\" is of type float here and of type int64 in earlier records";
    assert_type_error("1", (int[]){1, 0, 1, 2, 3}, 5, RECMAP_FEATURE, 3, message);
    assert_type_error("1", (int[]){1, -1, 0, -1, 1, -1, 2}, 7, RECMAP_FEATURE, 3, message);
    assert_type_error("1", (int[]){1, -1, 2, 3}, 4, RECMAP_FEATURE, 1, message);
    assert_type_error(NULL, (int[]){1, 0, 2}, 3, RECMAP_FEATURE, 1,
                      "has no value of lifted feature \"x\"");
    assert_type_error(NULL, (int[]){0}, 1, RECMAP_FEATURE, 0,
                      "has no value of lifted feature \"x\"");
    assert_type_error("q", (int[]){0, -1, 0, 1}, 4, RECMAP_INVALID, 2,
                      "the default \"q\" of column \"x\" is not of type int64, as its values are");
}

/* The type comes from the values, late or never; then from what the default looks like. */
static void test_types_of_columns(void **state) {
    (void)state;
    static const struct {
        const char *default_value;
        int types[4];
        recmap_type due;
    } cases[] = {
        {"1", {0, 0, 0, 0}, RECMAP_TYPE_INT64},   {"1.5", {0, 0, -1, 0}, RECMAP_TYPE_FLOAT},
        {"", {0, 0, 0, 0}, RECMAP_TYPE_BYTES},    {"1", {0, 0, -1, 2}, RECMAP_TYPE_FLOAT},
        {"1", {0, -1, 0, 3}, RECMAP_TYPE_BYTES},  {"-5", {0, 1, -1, 0}, RECMAP_TYPE_INT64},
        {"nan", {0, 0, 0, 0}, RECMAP_TYPE_FLOAT}, {"x1", {0, 0, 0, 0}, RECMAP_TYPE_BYTES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        ASSERT_OK(try_types(cases[i].default_value, cases[i].types, 4, 2, &error), &error);
        recmap_dataset *dataset = dataset_open("types.rmx", NULL);
        recmap_lifted_column info;
        ASSERT_OK(recmap_dataset_get_lifted_column(&info, dataset, 1, &error), &error);
        assert_int_equal(info.type, cases[i].due);
        recmap_dataset_close(dataset);
    }
}

static void test_appending_keeps_numbers(void **state) {
    (void)state;
    struct rng random = {4};
    struct known_options made = {4, 100, 20, false, true, true};
    struct known set = known_generate(&made, &random);
    recmap_index_options options = known_index_options(&set);
    index_build("set.rmx", &options, shard_names(4), 2);
    recmap_dataset *before = dataset_open("set.rmx", NULL);
    uint64_t count = recmap_dataset_count(before);
    parts_append("set.rmx", &options, shard_names(4), 2, 4, &random);
    recmap_dataset *after = dataset_open("set.rmx", NULL);
    known_assert_records(&set, after);
    known_assert_ids(&set, after);
    /* A data set that has the old index open keeps using it. */
    assert_int_equal(recmap_dataset_count(before), count);
    set.count = (size_t)count;
    known_assert_records(&set, before);
    set.count = 100;
    recmap_dataset_close(before);
    recmap_dataset_close(after);
    known_deinit(&set);
}

static void make_shards(size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct buffer shard = BUFFER_INIT;
        add_example(&shard, "x", RECMAP_TYPE_INT64);
        file_write(shard_names(8)[i], shard.data, shard.size);
        buffer_deinit(&shard);
    }
}

static recmap_status extract_nothing(const recmap_record *record, recmap_value *id,
                                     recmap_value *columns, size_t column_count, char *message,
                                     size_t message_capacity, void *context) {
    (void)context, (void)record, (void)id, (void)columns;
    (void)column_count, (void)message, (void)message_capacity;
    return RECMAP_OK;
}

static void assert_mismatch(const recmap_index_options *options) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct build_part parts[] = {{"part.rmx", NULL}};
    assert_int_equal(parts_build("all.rmx", options, parts, 1, &error), RECMAP_MISMATCH);
    assert_string_equal(error.path, "part.rmx");
    assert_true(error.advice[0]);
}

/* Shards indexed with other columns, defaults or ids cannot be combined with an index. A refused
 * attempt must leave no files. */
static recmap_status build_of(const recmap_index_options *options, const char *shard,
                              recmap_error *error) {
    recmap_index_builder *builder;
    ASSERT_OK(recmap_index_builder_create(&builder, "x.rmx", options, error), error);
    ASSERT_OK(recmap_index_builder_add_shard(builder, shard, error), error);
    recmap_status status = recmap_index_builder_finish(NULL, builder, error);
    recmap_index_builder_destroy(builder);
    return status;
}

static void test_an_id_that_no_record_has(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = "imge_id";
    make_shards(1);
    size_t files = folder_count();
    assert_int_equal(build_of(&options, shard_names(1)[0], &error), RECMAP_FEATURE);
    assert_string_equal(error.message, "no record has the feature \"imge_id\", which should be the "
                                       "id; no index was written");
    assert_string_equal(error.path, "x.rmx");
    assert_string_equal(error.advice, "the first record's features: \"x\"");
    assert_int_equal(folder_count(), files);
    recmap_index_options part = options, own = options;
    part.is_part = 1;
    own.lift = extract_nothing;
    ASSERT_OK(build_of(&part, shard_names(1)[0], &error), &error);
    ASSERT_OK(build_of(&own, shard_names(1)[0], &error), &error);
    file_write("empty", "", 0);
    ASSERT_OK(build_of(&options, "empty", &error), &error);
}

/* Parts may lack the id, as long as one has it. Only a named id is missed. */
static void test_parts_that_all_lack_the_id(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = "y";
    options.is_part = 1;
    make_shards(2);
    ASSERT_OK(build_of(&options, shard_names(1)[0], &error), &error);
    struct build_part parts[] = {{"x.rmx", NULL}, {NULL, "s00001"}};
    size_t files = folder_count();
    options.is_part = 0;
    assert_int_equal(parts_build("all.rmx", &options, parts, 1, &error), RECMAP_FEATURE);
    assert_string_equal(error.path, "all.rmx");
    assert_string_equal(error.advice,
                        "choose a feature that has values: `recmap schema` lists them");
    assert_int_equal(parts_build("all.rmx", &options, parts, 2, &error), RECMAP_FEATURE);
    assert_string_equal(error.advice, "the first record's features: \"x\"");
    assert_int_equal(folder_count(), files);
    parts_append("x.rmx", &options, (const char *const[]){"s00001"}, 0, 1, &(struct rng){1});
}

static void test_parts_that_do_not_fit(void **state) {
    (void)state;
    make_shards(2);
    recmap_lift lifts[] = {{"x", "1", 0}, {"y", "2", 0}};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.lifts = lifts;
    options.lift_count = 2;
    options.id_feature = "x";
    options.is_part = 1;
    index_build("part.rmx", &options, shard_names(2), 2);
    size_t files = folder_count();
    recmap_index_options other = options;
    other.lift_count = 1;
    assert_mismatch(&other);
    other = options;
    other.id_feature = "y";
    assert_mismatch(&other);
    other.id_feature = NULL;
    assert_mismatch(&other);
    recmap_lift swapped[] = {{"y", "2", 0}, {"x", "1", 0}};
    other = options;
    other.lifts = swapped;
    assert_mismatch(&other);
    recmap_lift another[] = {{"x", "1", 0}, {"y", NULL, 0}};
    other.lifts = another;
    assert_mismatch(&other);
    other = options;
    other.lift = extract_nothing;
    assert_mismatch(&other);
    assert_int_equal(folder_count(), files);
}

static void assert_named_twice(const struct build_part *parts, size_t count,
                               const recmap_index_options *options, const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    size_t files = folder_count();
    assert_int_equal(parts_build("all.rmx", options, parts, count, &error), RECMAP_INVALID);
    assert_non_null(strstr(error.message, "named twice"));
    assert_non_null(strstr(error.path, path));
    assert_int_equal(folder_count(), files);
}

static void assert_twice(const struct build_part *parts, size_t count,
                         const recmap_index_options *options) {
    assert_named_twice(parts, count, options, "s00000");
}

/* One shard, however it is called. */
static void test_shard_named_twice(void **state) {
    (void)state;
    make_shards(3);
    assert_int_equal(symlink("s00000", "link"), 0);
    index_build("part.rmx", NULL, shard_names(2), 2);
    assert_twice((struct build_part[]){{NULL, "s00000"}, {NULL, "s00001"}, {NULL, "s00000"}}, 3,
                 NULL);
    assert_twice((struct build_part[]){{NULL, "s00000"}, {NULL, "./s00000"}}, 2, NULL);
    assert_named_twice((struct build_part[]){{NULL, "s00000"}, {NULL, "link"}}, 2, NULL, "link");
    assert_named_twice((struct build_part[]){{"part.rmx", NULL}, {NULL, "link"}}, 2, NULL, "link");
}

static void assert_no_build(const char *shard, recmap_status due) {
    recmap_error error = RECMAP_ERROR_INIT;
    size_t files = folder_count();
    const char *names[] = {"s00000", shard};
    assert_int_equal(index_try("all.rmx", NULL, names, 2, &error), due);
    assert_string_equal(error.path, shard);
    assert_true(error.message[0]);
    assert_int_equal(folder_count(), files);
}

static void test_paths_that_are_not_files(void **state) {
    (void)state;
    make_shards(1);
    assert_int_equal(mkfifo("fifo", 0777), 0);
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(symlink("nowhere", "broken"), 0);
    assert_no_build("fifo", RECMAP_IO);
    assert_no_build("folder", RECMAP_IO);
    assert_no_build("broken", RECMAP_IO);
    assert_no_build("missing", RECMAP_IO);
    assert_no_build("/dev/null", RECMAP_IO);
    if (getuid()) {
        file_write("closed", "x", 1);
        chmod("closed", 0);
        assert_no_build("closed", RECMAP_IO);
    }
}

/* Each option is set to a value that is refused, one at a time. The builder must not be created. */
static void test_impossible_options_are_refused(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder = NULL;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.version = 7;
    assert_int_equal(recmap_index_builder_create(&builder, "x.rmx", &options, &error),
                     RECMAP_INVALID);
    assert_int_equal(recmap_index_builder_create(&builder, "", NULL, &error), RECMAP_INVALID);
    assert_int_equal(recmap_index_builder_create(&builder, NULL, NULL, &error), RECMAP_INVALID);
    assert_int_equal(recmap_index_builder_create(&builder, "no/folder/x.rmx", NULL, &error),
                     RECMAP_IO);
    static const recmap_lift bad[][2] = {
        {{"", "1", 0}, {"x", "1", 0}},     {{"@length", "1", 0}, {"x", "1", 0}},
        {{"x", "1", 0}, {"x", "2", 0}},    {{"\xff", "1", 0}, {"x", "1", 0}},
        {{"y", "\xff", 0}, {"x", "1", 0}}, {{NULL, "1", 0}, {"x", "1", 0}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        recmap_index_options lifting = RECMAP_INDEX_OPTIONS_INIT;
        lifting.lifts = bad[i];
        lifting.lift_count = 2;
        assert_int_equal(recmap_index_builder_create(&builder, "x.rmx", &lifting, &error),
                         RECMAP_INVALID);
    }
    options = (recmap_index_options)RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = "\xff";
    assert_int_equal(recmap_index_builder_create(&builder, "x.rmx", &options, &error),
                     RECMAP_INVALID);
    assert_null(builder);
    assert_int_equal(folder_count(), 0);
    recmap_index_builder_destroy(NULL);
}

static void test_a_builder_finishes_once(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder;
    ASSERT_OK(recmap_index_builder_create(&builder, "x.rmx", NULL, &error), &error);
    ASSERT_OK(recmap_index_builder_finish(NULL, builder, &error), &error);
    assert_int_equal(recmap_index_builder_finish(NULL, builder, &error), RECMAP_INVALID);
    recmap_index_builder_destroy(builder);
    ASSERT_OK(recmap_index_builder_create(&builder, "y.rmx", NULL, &error), &error);
    recmap_index_builder_destroy(builder);
    assert_int_equal(folder_count(), 1);
}

static int cancel(const recmap_progress *progress, void *context) {
    assert_true(progress->bytes_total > 0);
    ++*(int *)context;
    return 1;
}

static void test_progress_can_cancel_a_build(void **state) {
    (void)state;
    make_shards(3);
    int asked = 0;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.progress = cancel;
    options.progress_context = &asked;
    recmap_error error = RECMAP_ERROR_INIT;
    size_t files = folder_count();
    assert_int_equal(index_try("x.rmx", &options, shard_names(3), 3, &error), RECMAP_CANCELLED);
    assert_int_equal(asked, 1);
    assert_int_equal(folder_count(), files);
}

/* Shards under the index's folder are named from there, others by their whole path; both may move
 * together. */
static void test_names_of_shards(void **state) {
    (void)state;
    assert_int_equal(mkdir("set", 0777), 0);
    assert_int_equal(mkdir("set/deep", 0777), 0);
    make_shards(2);
    assert_int_equal(rename("s00000", "set/deep/inner"), 0);
    const char *names[] = {"set/deep/inner", "s00001"};
    index_build("set/set.rmx", NULL, names, 2);
    assert_int_equal(rename("set", "moved"), 0);
    recmap_dataset *dataset = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_shard_info info;
    assert_int_equal(recmap_dataset_open(&dataset, "moved/set.rmx", NULL, &error), RECMAP_INVALID);
    assert_non_null(strstr(error.advice, "allow_absolute_paths"));
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.allow_absolute_paths = 1;
    dataset = dataset_open("moved/set.rmx", &options);
    ASSERT_OK(recmap_dataset_get_shard(&info, dataset, 0, &error), &error);
    assert_string_equal(info.path, "deep/inner");
    ASSERT_OK(recmap_dataset_get_shard(&info, dataset, 1, &error), &error);
    assert_int_equal(info.path[0], '/');
    recmap_record record;
    ASSERT_OK(recmap_dataset_get(&record, dataset, 0, &error), &error);
    recmap_record_release(&record);
    ASSERT_OK(recmap_dataset_get(&record, dataset, 1, &error), &error);
    recmap_record_release(&record);
    recmap_dataset_close(dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(known_sets_are_indexed_as_written),
        TEST(damaged_shards_list_their_damage),
        TEST(types_differ),
        TEST(types_of_columns),
        TEST(appending_keeps_numbers),
        TEST(an_id_that_no_record_has),
        TEST(parts_that_all_lack_the_id),
        TEST(parts_that_do_not_fit),
        TEST(shard_named_twice),
        TEST(paths_that_are_not_files),
        TEST(impossible_options_are_refused),
        TEST(a_builder_finishes_once),
        TEST(progress_can_cancel_a_build),
        TEST(names_of_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
