/* The builder: the same shards give the same bytes, whatever the threads, and whether they were
 * indexed at once, appended or merged; what is wrong is refused, and no files are left over. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/build.h"
#include "support/features.h"
#include "support/folder.h"
#include "support/known.h"
#include "support/layout.h"
#include "support/oracle.h"
#include "support/rounds.h"

struct part {
    const char *index; /* or a shard */
    const char *shard;
};

static recmap_status build_parts(const char *path, const recmap_index_options *options,
                                 const struct part *parts, size_t count, recmap_error *error) {
    recmap_index_builder *builder = NULL;
    recmap_status status = recmap_index_builder_create(&builder, path, options, error);
    for (size_t i = 0; i < count && status == RECMAP_OK; i++)
        status = parts[i].index ? recmap_index_builder_add_index(builder, parts[i].index, error)
                                : recmap_index_builder_add_shard(builder, parts[i].shard, error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builder, error);
    recmap_index_builder_destroy(builder);
    return status;
}

/* Appends shards [first, end) to the index, one or more at a time. */
static void append(const char *path, const recmap_index_options *options, const char *const *names,
                   size_t first, size_t end, struct rng *random) {
    recmap_error error = RECMAP_ERROR_INIT;
    while (first < end) {
        struct part parts[64] = {{path, NULL}};
        size_t count = 1 + (size_t)rng_below(random, end - first);
        for (size_t i = 0; i < count; i++) parts[1 + i].shard = names[first + i];
        ASSERT_OK(build_parts(path, options, parts, count + 1, &error), &error);
        first += count;
    }
}

/* Indexes groups of shards, some of them in a folder of their own, and merges: now and then a shard
 * stays a shard. */
static void merge(const char *path, const recmap_index_options *options, const char *const *names,
                  size_t count, struct rng *random) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct part parts[64];
    char indexes[64][32];
    size_t part_count = 0;
    for (size_t first = 0; first < count; part_count++) {
        size_t group = 1 + (size_t)rng_below(random, count - first);
        if (rng_one_in(random, 4)) {
            parts[part_count] = (struct part){NULL, names[first++]};
            continue;
        }
        snprintf(indexes[part_count], sizeof indexes[0], "%spart%zu.rmx",
                 rng_one_in(random, 2) ? "parts/" : "", part_count);
        index_build(indexes[part_count], options, names + first, group);
        parts[part_count] = (struct part){indexes[part_count], NULL};
        first += group;
    }
    ASSERT_OK(build_parts(path, options, parts, part_count, &error), &error);
}

static void assert_same_by_all_ways(recmap_index_options *options, const char *const *names,
                                    size_t count, struct rng *random) {
    mkdir("parts", 0777);
    options->thread_count = 1;
    index_build("once.rmx", options, names, count);
    options->thread_count = 2 + (unsigned)rng_below(random, 7);
    index_build("threads.rmx", options, names, count);
    assert_same_file("once.rmx", "threads.rmx");
    size_t first = (size_t)rng_below(random, count + 1);
    index_build("append.rmx", options, names, first);
    append("append.rmx", options, names, first, count, random);
    assert_same_file("once.rmx", "append.rmx");
    merge("merge.rmx", options, names, count, random);
    assert_same_file("once.rmx", "merge.rmx");
}

static void test_known_sets(void **state) {
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
        assert_same_by_all_ways(&options, shard_names(set.shard_count), set.shard_count, &random);
        known_deinit(&set);
    }
}

/* Shards of any bytes, all kinds of damage. */
static void test_damaged_shards(void **state) {
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
        options.on_corrupt = RECMAP_ON_CORRUPT_SKIP;
        assert_same_by_all_ways(&options, shard_names(count), count, &random);
    }
}

/* The many: payloads are a u32, the record's number. */
static uint32_t number_of(const recmap_record *record) {
    uint32_t number = 0;
    for (size_t i = 4; i-- > 0 && record->size == 4;) number = number << 8 | record->data[i];
    return number;
}

enum { MANY = 1150000, FIRST_TYPED = 700000, IDS_REPEAT = 1100000 };

static recmap_status extract_number(void *context, const recmap_record *record, recmap_value *id,
                                    recmap_value *columns, size_t column_count, char *message,
                                    size_t message_capacity) {
    (void)context;
    (void)message;
    (void)message_capacity;
    uint32_t number = number_of(record);
    if (id && number % 50) *id = int64_value(number % IDS_REPEAT);
    if (column_count == 2 && number >= FIRST_TYPED && number % 7) columns[0] = int64_value(number);
    if (column_count == 2 && number % 3) {
        columns[1].type = RECMAP_TYPE_BYTES;
        columns[1].as.bytes.data = record->data;
        columns[1].as.bytes.size = number % 5;
    }
    return RECMAP_OK;
}

static void write_many(const char *const *names, size_t shard_count) {
    uint32_t number = 0;
    for (size_t s = 0; s < shard_count; s++) {
        struct buffer shard = BUFFER_INIT;
        for (uint32_t end = (uint32_t)(MANY * (s + 1) / shard_count); number < end; number++) {
            uint8_t payload[4] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16),
                                  (uint8_t)(number >> 24)};
            oracle_add_record(&shard, payload, 4);
        }
        file_write(names[s], shard.data, shard.size);
        buffer_deinit(&shard);
    }
}

static void check_columns_of_many(recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    int64_t *numbers = must_realloc(NULL, MANY * sizeof *numbers);
    recmap_value *bytes = must_realloc(NULL, MANY * sizeof *bytes);
    ASSERT_OK(recmap_dataset_read_int64(numbers, dataset, 1, 0, MANY, &error), &error);
    ASSERT_OK(recmap_dataset_read_bytes(bytes, dataset, 2, 0, MANY, &error), &error);
    for (uint32_t i = 0; i < MANY; i++) {
        int64_t due = i >= FIRST_TYPED && i % 7 ? (int64_t)i : -3;
        size_t due_size = i % 3 ? i % 5 : 4;
        if (numbers[i] != due || bytes[i].as.bytes.size != due_size)
            fail_msg("record %u: %" PRId64 ", %zu bytes", i, numbers[i], bytes[i].as.bytes.size);
    }
    free(bytes);
    free(numbers);
}

/* Samples of records, ids and places in a data set that is too large to compare completely. */
static void check_many(void) {
    recmap_dataset_options opening = RECMAP_DATASET_OPTIONS_INIT;
    opening.extract = extract_number;
    recmap_dataset *dataset = dataset_open("once.rmx", &opening);
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_dataset_count(dataset), MANY);
    assert_int_equal(recmap_dataset_get_info(dataset)->id_count, MANY - MANY / 50);
    struct rng random = {3};
    for (int i = 0; i < 5000; i++) {
        uint32_t number = (uint32_t)rng_below(&random, i % 2 ? MANY : MANY - IDS_REPEAT);
        recmap_record record;
        ASSERT_OK(recmap_dataset_get(&record, dataset, number, &error), &error);
        assert_int_equal(number_of(&record), number);
        recmap_value id = int64_value(number % IDS_REPEAT);
        uint64_t found[3];
        size_t count;
        ASSERT_OK(recmap_dataset_find_all(found, 3, &count, dataset, &id, &error), &error);
        uint32_t first = number % IDS_REPEAT;
        size_t due = (first % 50 != 0) + (first + IDS_REPEAT < MANY && (first % 50 != 0));
        assert_int_equal(count, due);
        if (due) assert_int_equal(found[0], first);
        if (due == 2) assert_int_equal(found[1], first + IDS_REPEAT);
    }
    check_columns_of_many(dataset);
    recmap_dataset_close(dataset);
}

/* More records than a chunk of offsets or columns holds, more ids than are sorted at once; a shard
 * of several segments. */
static void test_many_records(void **state) {
    (void)state;
    const char *const *names = shard_names(3);
    write_many(names, 3);
    recmap_lift lifts[] = {{"number", "-3"}, {"bytes", "none"}};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = "id";
    options.lifts = lifts;
    options.lift_count = 2;
    options.extract = extract_number;
    struct rng random = {1};
    assert_same_by_all_ways(&options, names, 3, &random);
    check_many();
}

/* One shard of several real segments, full of records that look like streams. */
static void test_large_shard(void **state) {
    (void)state;
    struct rng random = {8};
    struct buffer shard = BUFFER_INIT;
    while (shard.size < 18 << 20) layout_add_records(&shard, 1 << 20, &random);
    for (int i = 0; i < 6; i++) layout_damage(&shard, &random);
    file_write("shard", shard.data, shard.size);
    const char *name = "shard";
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.on_corrupt = RECMAP_ON_CORRUPT_SKIP;
    options.thread_count = 1;
    index_build("one.rmx", &options, &name, 1);
    options.thread_count = 4;
    recmap_index_summary summary = index_build("four.rmx", &options, &name, 1);
    assert_same_file("one.rmx", "four.rmx");
    struct oracle_file due = oracle_read(shard.data, shard.size, false);
    assert_int_equal(summary.record_count, due.record_count);
    assert_int_equal(summary.damage_count, due.damage_count);
    oracle_deinit(&due);
    buffer_deinit(&shard);
}

/* More damage than a table holds, in a shard of several segments and chunks. */
static void test_many_damages(void **state) {
    (void)state;
    enum { RECORDS = 700000, APART = 50 };
    struct buffer shard = BUFFER_INIT;
    for (int i = 0; i < RECORDS; i++) {
        oracle_add_record(&shard, "12345678", 8);
        if (i % APART == 0) shard.data[shard.size - 1] ^= 1;
    }
    file_write("shard", shard.data, shard.size);
    buffer_deinit(&shard);
    const char *name = "shard";
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.on_corrupt = RECMAP_ON_CORRUPT_SKIP;
    struct rng random = {2};
    assert_same_by_all_ways(&options, &name, 1, &random);
    recmap_dataset *dataset = dataset_open("once.rmx", NULL);
    assert_int_equal(recmap_dataset_count(dataset), RECORDS - RECORDS / APART);
    assert_int_equal(recmap_dataset_get_info(dataset)->damage_count, RECORDS / APART);
    for (uint64_t i = 0; i < RECORDS / APART; i += 7) {
        recmap_damage damage;
        assert_int_equal(recmap_dataset_get_damage(&damage, dataset, i, NULL), RECMAP_OK);
        assert_int_equal(damage.offset, i * APART * 24);
        assert_int_equal(damage.length, 24);
    }
    recmap_location place;
    assert_int_equal(recmap_dataset_locate(&place, dataset, 48, 1, NULL), RECMAP_OK);
    assert_int_equal(place.size, 8);
    recmap_dataset_close(dataset);
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
    recmap_lift lift = {"x", default_value};
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
    append("set.rmx", &options, shard_names(4), 2, 4, &random);
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

static void assert_mismatch(const recmap_index_options *options) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct part parts[] = {{"part.rmx", NULL}};
    assert_int_equal(build_parts("all.rmx", options, parts, 1, &error), RECMAP_MISMATCH);
    assert_string_equal(error.path, "part.rmx");
    assert_true(error.advice[0]);
}

/* Shards indexed with other columns, defaults or ids cannot be combined with an index. A refused
 * attempt must leave no files. */
static void test_parts_that_do_not_fit(void **state) {
    (void)state;
    make_shards(2);
    recmap_lift lifts[] = {{"x", "1"}, {"y", "2"}};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.lifts = lifts;
    options.lift_count = 2;
    options.id_feature = "x";
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
    recmap_lift swapped[] = {{"y", "2"}, {"x", "1"}};
    other = options;
    other.lifts = swapped;
    assert_mismatch(&other);
    recmap_lift another[] = {{"x", "1"}, {"y", NULL}};
    other.lifts = another;
    assert_mismatch(&other);
    other = options;
    other.extract = extract_number;
    assert_mismatch(&other);
    assert_int_equal(folder_count(), files);
}

static void assert_twice(const struct part *parts, size_t count,
                         const recmap_index_options *options) {
    recmap_error error = RECMAP_ERROR_INIT;
    size_t files = folder_count();
    assert_int_equal(build_parts("all.rmx", options, parts, count, &error), RECMAP_INVALID);
    assert_non_null(strstr(error.message, "named twice"));
    assert_non_null(strstr(error.path, "s00000"));
    assert_int_equal(folder_count(), files);
}

/* One shard, however it is called. */
static void test_shard_named_twice(void **state) {
    (void)state;
    make_shards(3);
    assert_int_equal(symlink("s00000", "link"), 0);
    index_build("part.rmx", NULL, shard_names(2), 2);
    assert_twice((struct part[]){{NULL, "s00000"}, {NULL, "s00001"}, {NULL, "s00000"}}, 3, NULL);
    assert_twice((struct part[]){{NULL, "s00000"}, {NULL, "./s00000"}}, 2, NULL);
    assert_twice((struct part[]){{NULL, "s00000"}, {NULL, "link"}}, 2, NULL);
    assert_twice((struct part[]){{"part.rmx", NULL}, {NULL, "s00000"}}, 2, NULL);
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
static void test_impossible_options(void **state) {
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
        {{"", "1"}, {"x", "1"}},     {{"@length", "1"}, {"x", "1"}}, {{"x", "1"}, {"x", "2"}},
        {{"\xff", "1"}, {"x", "1"}}, {{"y", "\xff"}, {"x", "1"}},    {{NULL, "1"}, {"x", "1"}},
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

static void test_finish_once(void **state) {
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

static int cancel(void *context, const recmap_progress *progress) {
    assert_true(progress->bytes_total > 0);
    ++*(int *)context;
    return 1;
}

static void test_cancel(void **state) {
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
        TEST(known_sets),
        TEST(damaged_shards),
        TEST(many_records),
        TEST(large_shard),
        TEST(many_damages),
        TEST(types_differ),
        TEST(types_of_columns),
        TEST(appending_keeps_numbers),
        TEST(parts_that_do_not_fit),
        TEST(shard_named_twice),
        TEST(paths_that_are_not_files),
        TEST(impossible_options),
        TEST(finish_once),
        TEST(cancel),
        TEST(names_of_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
