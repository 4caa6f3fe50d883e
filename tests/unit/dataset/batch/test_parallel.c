/* Batches filled by several threads hold what one thread puts into them: records, columns of every
 * kind, failures and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/batch/batch.h" /* cmocka has another `fail` */

#include <cmocka.h>

#include <recmap/writer.h>

#include "base/os/thread.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/rounds.h"
#include "unit/parse/columns/parse_specs.h"
#include "unit/parse/columns/parse_text.h"

enum { RECORDS = 400, TEXT_SIZE = 4096, DESCRIBED_MAX = 1 << 16 };

static const unsigned thread_counts[] = {2, 3, 7, 64};

static void append(char *text, const char *format, ...) {
    size_t size = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + size, TEXT_SIZE - size, format, arguments);
    va_end(arguments);
}

/* Appends "name=k:" and `count` values below `limit`. */
static void put_values(char *text, const char *name, char kind, size_t count, uint64_t limit,
                       struct rng *random) {
    append(text, "%s%s=%c:", *text ? " " : "", name, kind);
    for (size_t i = 0; i < count; i++)
        append(text, "%s%llu", i ? "," : "", (unsigned long long)rng_below(random, limit));
}

static void put_lists(char *text, struct rng *random) {
    append(text, " | words=");
    for (size_t i = rng_below(random, 4); i > 0; i--) {
        append(text, "%s", rng_one_in(random, 4) ? "[b:]" : "[b:some,words]");
    }
    if (rng_one_in(random, 5)) return;
    append(text, " pairs=");
    for (size_t i = rng_below(random, 3); i > 0; i--)
        append(text, "%s", rng_one_in(random, 2) ? "[i:1,-2]" : "[i:300,4]");
}

/* A record of random features; `is_bad`: one that does not fit them. */
static void random_record(struct message *message, struct rng *random, bool is_bad) {
    char text[TEXT_SIZE] = "";
    size_t count = rng_below(random, 5), first = rng_below(random, count + 1);
    put_values(text, "b", 'i', 1, is_bad && rng_one_in(random, 2) ? 100000 : 256, random);
    if (!rng_one_in(random, 3)) put_values(text, "fixed", 'i', 2, 1 << 30, random);
    if (!rng_one_in(random, 4)) put_values(text, "t", 'b', rng_below(random, 4), 1 << 20, random);
    put_values(text, "e", 'f', 2 * rng_below(random, 3), 100, random);
    put_values(text, "v", 'i', count, 1 << 20, random);
    put_values(text, "x", 'i', count + (is_bad && rng_one_in(random, 2)), 9, random);
    put_values(text, "y", 'i', count, 9, random);
    append(text, " inner=i:%zu,0,%zu outer=i:2,%d", first, count - first,
           is_bad && rng_one_in(random, 2) ? 2 : 1);
    put_lists(text, random);
    put_record(message, text, 1);
    if (is_bad && rng_one_in(random, 3)) message->size -= 1 + rng_below(random, 5);
}

static recmap_dataset *make_set(struct rng *random, bool is_damaged) {
    static struct message message;
    recmap_writer *writer;
    ASSERT_OK(recmap_writer_create(&writer, "s00000", NULL, NULL), NULL);
    for (size_t i = 0; i < RECORDS; i++) {
        message.size = 0;
        random_record(&message, random, is_damaged && rng_one_in(random, 20));
        ASSERT_OK(recmap_writer_write(writer, message.data, message.size, NULL), NULL);
    }
    ASSERT_OK(recmap_writer_finish(writer, NULL), NULL);
    recmap_writer_destroy(writer);
    remove("set.rmx");
    index_build("set.rmx", NULL, shard_names(1), 1);
    return dataset_open("set.rmx", NULL);
}

/* A parser of features of every kind; of a SequenceExample with `is_sequence`. */
static recmap_parser *make_parser(bool is_sequence) {
    recmap_parser *parser;
    const recmap_feature features[] = {
        {.name = "fixed", .kind = FIXED, .element = I64, SHAPE(2), DEFAULTS(INT64(-1))},
        {.name = "small", .key = "b", .kind = FIXED, .element = RECMAP_ELEMENT_UINT8},
        {.name = "copied",
         .key = "t",
         .kind = VAR,
         .element = STR,
         .bytes_mode = RECMAP_BYTES_COPY},
        {.name = "viewed", .key = "t", .kind = VAR, .element = STR},
        {.name = "var", .key = "v", .kind = VAR, .element = I64},
        {.name = "padded", .key = "v", .kind = SEQUENCE, .element = RECMAP_ELEMENT_INT32},
        {.name = "texts",
         .key = "t",
         .kind = SEQUENCE,
         .element = STR,
         .bytes_mode = RECMAP_BYTES_COPY},
        {.name = "steps", .key = "e", .kind = SEQUENCE, .element = F32, SHAPE(2), .unpadded = 1},
        RAGGED_OF("ragged", "v", I64, {RECMAP_PARTITION_ROW_LENGTHS, "outer", 0},
                  {RECMAP_PARTITION_ROW_LENGTHS, "inner", 0}),
        {.name = "sparse",
         .key = "v",
         .kind = SPARSE,
         .element = I64,
         INDICES("x", "y"),
         SIZES(9, 9)},
    };

    const recmap_feature lists[] = {
        {.name = "words", .kind = VAR, .element = STR, .bytes_mode = RECMAP_BYTES_COPY},
        {.name = "pairs", .kind = SEQUENCE, .element = I64, SHAPE(2)},
    };
    recmap_status status = is_sequence
                               ? recmap_parser_create_sequence(&parser, features, COUNT(features),
                                                               lists, COUNT(lists), NULL)
                               : recmap_parser_create(&parser, features, COUNT(features), NULL);
    ASSERT_OK(status, NULL);
    return parser;
}

/* ---- What a call gives, as it is with one thread and with several. */

struct call {
    recmap_dataset *dataset;
    recmap_parser *parser; /* NULL: the records are gathered */
    uint64_t numbers[RECORDS];
    size_t count;
    recmap_parse_mode mode;
};

struct result {
    recmap_batch *batch;
    recmap_status status;
    recmap_error error;
};

static void run(struct result *result, const struct call *call, unsigned thread_count) {
    recmap_batch_set_threads(result->batch, thread_count);
    result->error = (recmap_error)RECMAP_ERROR_INIT;
    result->status =
        call->parser ? recmap_dataset_parse(result->batch, call->dataset, call->parser,
                                            call->numbers, call->count, call->mode, &result->error)
                     : recmap_dataset_gather(result->batch, call->dataset, call->numbers,
                                             call->count, &result->error);
}

static void check_records(const recmap_batch *expected, const recmap_batch *actual) {
    assert_int_equal(recmap_batch_count(actual), recmap_batch_count(expected));
    for (size_t i = 0; i < recmap_batch_count(expected); i++) {
        const recmap_record *left = &recmap_batch_records(expected)[i];
        const recmap_record *right = &recmap_batch_records(actual)[i];
        assert_int_equal(left->number, right->number);
        assert_int_equal(left->size, right->size);
        assert_memory_equal(left->data, right->data, left->size);
    }
}

static void check_failures(const recmap_columns *expected, const recmap_columns *actual) {
    assert_int_equal(recmap_columns_failure_count(actual), recmap_columns_failure_count(expected));
    for (size_t i = 0; i < recmap_columns_failure_count(expected); i++) {
        recmap_failure left = recmap_columns_failure(expected, i);
        recmap_failure right = recmap_columns_failure(actual, i);
        assert_int_equal(left.row, right.row);
        assert_int_equal(left.number, right.number);
        assert_int_equal(left.offset, right.offset);
        assert_int_equal(left.status, right.status);
        assert_string_equal(left.message, right.message);
    }
}

static void check_columns(const recmap_columns *expected, const recmap_columns *actual) {
    assert_true(!expected == !actual);
    if (!expected) return;
    assert_int_equal(recmap_columns_count(actual), recmap_columns_count(expected));
    for (size_t i = 0; i < recmap_columns_count(expected); i++) {
        const char *left = describe_column(recmap_columns_get(expected, i));
        assert_true(strncmp(left, "BROKEN", 6) != 0 && strlen(left) < DESCRIBED_MAX - 1);
        assert_string_equal(left, describe_column(recmap_columns_get(actual, i)));
    }
    check_failures(expected, actual);
}

static void check_same(const struct result *expected, const struct result *actual) {
    assert_int_equal(actual->status, expected->status);
    if (expected->status != RECMAP_OK) {
        assert_string_equal(actual->error.message, expected->error.message);
        assert_int_equal(actual->error.record, expected->error.record);
        assert_int_equal(actual->error.offset, expected->error.offset);
    }
    check_records(expected->batch, actual->batch);
    check_columns(recmap_batch_columns(expected->batch), recmap_batch_columns(actual->batch));
}

/* The batches are used again for every call, as applications do. */
static void check_call(struct result *expected, struct result *actual, const struct call *call) {
    run(expected, call, 1);
    for (size_t i = 0; i < COUNT(thread_counts); i++) {
        run(actual, call, thread_counts[i]);
        check_same(expected, actual);
    }
}

static void choose_numbers(struct call *call, struct rng *random) {
    call->count = rng_one_in(random, 4) ? rng_below(random, 6) : rng_below(random, RECORDS + 1);
    for (size_t i = 0; i < call->count; i++) call->numbers[i] = rng_below(random, RECORDS);
}

static void check_many(struct call *call, struct rng *random) {
    struct result expected, actual;
    ASSERT_OK(recmap_batch_create(&expected.batch, NULL), NULL);
    ASSERT_OK(recmap_batch_create(&actual.batch, NULL), NULL);
    for (unsigned round = 0; round < (is_long() ? 1000 : some_rounds(10)); round++) {
        choose_numbers(call, random);
        call->mode = rng_one_in(random, 2) ? RECMAP_PARSE_COLLECT : RECMAP_PARSE_RAISE;
        check_call(&expected, &actual, call);
    }
    recmap_batch_destroy(expected.batch);
    recmap_batch_destroy(actual.batch);
}

static void check_kinds(bool is_damaged) {
    struct rng random = {is_damaged ? 11 : 10};
    static struct call call;
    for (int round = 0; round < 3; round++) {
        call.dataset = make_set(&random, is_damaged);
        call.parser = NULL;
        check_many(&call, &random);
        for (int is_sequence = 0; is_sequence < 2; is_sequence++) {
            call.parser = make_parser(is_sequence);
            check_many(&call, &random);
            recmap_parser_release(call.parser);
        }
        recmap_dataset_close(call.dataset);
    }
}

static void test_columns_of_all_kinds(void **state) {
    (void)state;
    check_kinds(false);
}

static void test_records_that_do_not_fit(void **state) {
    (void)state;
    check_kinds(true);
}

/* ---- Other ways to fail. */

static void test_a_damaged_record_gives_the_same_error(void **state) {
    (void)state;
    struct rng random = {12};
    static struct call call;
    uint8_t byte = 0xee;
    struct result expected, actual;
    recmap_location location;
    call.dataset = make_set(&random, false);
    ASSERT_OK(recmap_dataset_locate(&location, call.dataset, 300, 1, NULL), NULL);
    recmap_dataset_close(call.dataset);
    file_alter("s00000", location.offset + 20, &byte, 1);
    call.dataset = dataset_open("set.rmx", NULL);
    ASSERT_OK(recmap_batch_create(&expected.batch, NULL), NULL);
    ASSERT_OK(recmap_batch_create(&actual.batch, NULL), NULL);
    call.count = RECORDS;
    for (size_t i = 0; i < RECORDS; i++) call.numbers[i] = RECORDS - 1 - i;
    check_call(&expected, &actual, &call);
    assert_int_equal(expected.status, RECMAP_CORRUPT);
    call.numbers[399] = RECORDS; /* out of range: reported before anything is read */
    check_call(&expected, &actual, &call);
    assert_int_equal(expected.status, RECMAP_INVALID);
    recmap_batch_destroy(expected.batch);
    recmap_batch_destroy(actual.batch);
    recmap_dataset_close(call.dataset);
}

static int stop(void *context) {
    ++*(int *)context;
    return 1;
}

/* The other threads may do all the work of a call, so it is repeated until the calling thread had
 * enough of it to ask. */
static void test_an_interrupt_stops_the_call(void **state) {
    (void)state;
    enum { RECORDS_READ = 1000000, CALLS_MAX = 100 };
    struct rng random = {13};
    static struct call call;
    int calls = 0;
    struct result result;
    call.dataset = make_set(&random, false);
    ASSERT_OK(recmap_batch_create(&result.batch, NULL), NULL);
    uint64_t *numbers = calloc(RECORDS_READ, sizeof *numbers);
    assert_non_null(numbers);
    recmap_batch_set_interrupt(result.batch, stop, &calls);
    recmap_batch_set_threads(result.batch, 3);
    recmap_status status = RECMAP_OK;
    for (int i = 0; i < CALLS_MAX && status == RECMAP_OK; i++)
        status = recmap_dataset_gather(result.batch, call.dataset, numbers, RECORDS_READ, NULL);
    assert_int_equal(status, RECMAP_CANCELLED);
    assert_int_equal(calls, 1);
    assert_int_equal(recmap_batch_count(result.batch), 0);
    free(numbers);
    recmap_batch_destroy(result.batch);
    recmap_dataset_close(call.dataset);
}

/* ---- The default number of threads. */

/* Returns true if a gather of records 0 to `count` - 1, modulo the size of the set, is split. The
 * parts of a batch stay in it, empty, for the next call. */
static bool is_split(recmap_dataset *dataset, size_t count, unsigned thread_count) {
    enum { CALL_MAX = 1024 };
    uint64_t numbers[CALL_MAX];
    recmap_batch *batch;
    assert_true(count <= CALL_MAX);
    for (size_t i = 0; i < count; i++) numbers[i] = i % recmap_dataset_count(dataset);
    ASSERT_OK(recmap_batch_create(&batch, NULL), NULL);
    recmap_batch_set_threads(batch, thread_count);
    ASSERT_OK(recmap_dataset_gather(batch, dataset, numbers, count, NULL), NULL);
    assert_int_equal(recmap_batch_count(batch), count);
    bool is_split = batch->part_count > 1;
    recmap_batch_destroy(batch);
    return is_split;
}

static void test_many_records_are_split_by_default(void **state) {
    (void)state;
    struct rng random = {14};
    recmap_dataset *dataset = make_set(&random, false);
    assert_false(is_split(dataset, 1023, 0));
    assert_int_equal(is_split(dataset, 1024, 0), core_count() > 1);
    assert_true(is_split(dataset, 2, 2));
    assert_false(is_split(dataset, 1024, 1));
    recmap_dataset_close(dataset);
}

/* Two records of `size` bytes each. */
static recmap_dataset *make_pair(size_t size) {
    recmap_writer *writer;
    uint8_t *data = calloc(size, 1);
    assert_non_null(data);
    ASSERT_OK(recmap_writer_create(&writer, "s00000", NULL, NULL), NULL);
    for (size_t i = 0; i < 2; i++) ASSERT_OK(recmap_writer_write(writer, data, size, NULL), NULL);
    ASSERT_OK(recmap_writer_finish(writer, NULL), NULL);
    recmap_writer_destroy(writer);
    free(data);
    remove("set.rmx");
    index_build("set.rmx", NULL, shard_names(1), 1);
    return dataset_open("set.rmx", NULL);
}

static void test_long_records_are_split_by_default(void **state) {
    (void)state;
    enum { HALF = 1 << 19 }; /* of the smallest size in bytes that is split */
    recmap_dataset *dataset = make_pair(HALF);
    assert_int_equal(is_split(dataset, 2, 0), core_count() > 1);
    assert_false(is_split(dataset, 1, 0));
    recmap_dataset_close(dataset);
    dataset = make_pair(HALF - 1024);
    assert_false(is_split(dataset, 2, 0));
    recmap_dataset_close(dataset);
}

/* ---- Bytes that a batch keeps. */

enum { SHARDS = 8, OPEN_RECORDS = 50, OPEN_SIZE = 100000 };

/* Record i consists of bytes i % 251. */
static void make_shards(void) {
    uint8_t *data = malloc(OPEN_SIZE);
    assert_non_null(data);
    for (size_t i = 0; i < (size_t)SHARDS * OPEN_RECORDS; i += OPEN_RECORDS) {
        recmap_writer *writer;
        ASSERT_OK(recmap_writer_create(&writer, shard_names(SHARDS)[i / OPEN_RECORDS], NULL, NULL),
                  NULL);
        for (size_t k = i; k < i + OPEN_RECORDS; k++) {
            memset(data, (int)(k % 251), OPEN_SIZE);
            ASSERT_OK(recmap_writer_write(writer, data, OPEN_SIZE, NULL), NULL);
        }
        ASSERT_OK(recmap_writer_finish(writer, NULL), NULL);
        recmap_writer_destroy(writer);
    }
    free(data);
    index_build("set.rmx", NULL, shard_names(SHARDS), SHARDS);
}

static void check_bytes(const recmap_batch *batch, size_t count) {
    assert_int_equal(recmap_batch_count(batch), count);
    for (size_t i = 0; i < count; i++) {
        const recmap_record *record = &recmap_batch_records(batch)[i];
        const uint8_t *data = record->data;
        assert_int_equal(record->size, OPEN_SIZE);
        for (size_t k = 0; k < OPEN_SIZE; k++)
            if (data[k] != record->number % 251) fail_msg("byte %zu of record %zu", k, i);
    }
}

/* Records are valid until the batch is filled again: neither the memory that they were read into
 * is reused, nor are their shards closed, although only one may be open otherwise. */
static void check_bytes_are_kept(recmap_access access) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    uint64_t numbers[SHARDS * OPEN_RECORDS];
    recmap_batch *batch;
    options.access = access;
    options.shard_limit = 1;
    make_shards();
    recmap_dataset *dataset = dataset_open("set.rmx", &options);
    for (size_t i = 0; i < COUNT(numbers); i++) numbers[i] = i * 77 % COUNT(numbers);
    ASSERT_OK(recmap_batch_create(&batch, NULL), NULL);
    for (int round = 0; round < 3; round++) {
        recmap_batch_set_threads(batch, 2);
        ASSERT_OK(recmap_dataset_gather(batch, dataset, numbers, COUNT(numbers), NULL), NULL);
        for (size_t shard = 0; shard < SHARDS; shard++) {
            recmap_record record;
            ASSERT_OK(recmap_dataset_get(&record, dataset, shard * OPEN_RECORDS, NULL), NULL);
            recmap_record_release(&record);
        }
        check_bytes(batch, COUNT(numbers));
    }
    recmap_batch_destroy(batch);
    recmap_dataset_close(dataset);
}

static void test_mapped_bytes_are_kept(void **state) {
    (void)state;
    check_bytes_are_kept(RECMAP_ACCESS_MAP);
}

static void test_read_bytes_are_kept(void **state) {
    (void)state;
    check_bytes_are_kept(RECMAP_ACCESS_READ);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(columns_of_all_kinds),
        TEST(records_that_do_not_fit),
        TEST(a_damaged_record_gives_the_same_error),
        TEST(an_interrupt_stops_the_call),
        TEST(many_records_are_split_by_default),
        TEST(long_records_are_split_by_default),
        TEST(mapped_bytes_are_kept),
        TEST(read_bytes_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
