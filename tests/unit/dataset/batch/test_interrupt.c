/* A call over many records can be interrupted in all of its phases, not only while it reads: while
 * bytes are copied, rows padded and values sorted, by one thread and by several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/recmap.h>

#include "support/folder.h"
#include "support/index/build.h"

/* PIECE_SIZE: at most this much work is done between two questions. */
enum { RECORDS = 32, BYTES_SIZE = 256 << 10, LIST_COUNT = 65536, PIECE_SIZE = 1 << 20 };

/* Every record has 256 KiB of bytes. The first one has a long list, with descending coordinates,
 * and the others a list of one value. */
static recmap_dataset *make_set(void) {
    static uint8_t bytes[BYTES_SIZE];
    static int64_t list[LIST_COUNT];
    recmap_example_builder *builder;
    recmap_writer *writer;
    for (size_t i = 0; i < LIST_COUNT; i++) list[i] = (int64_t)(LIST_COUNT - 1 - i);
    ASSERT_OK(recmap_example_builder_create(&builder, NULL), NULL);
    ASSERT_OK(recmap_writer_create(&writer, "s00000", NULL, NULL), NULL);
    for (size_t i = 0; i < RECORDS; i++) {
        const uint8_t *data;
        size_t size, count = i ? 1 : LIST_COUNT;
        recmap_bytes value = {bytes, sizeof bytes};
        recmap_example_builder_begin(builder, RECMAP_MESSAGE_EXAMPLE);
        ASSERT_OK(recmap_example_builder_add_bytes(builder, "bytes", &value, 1, NULL), NULL);
        ASSERT_OK(recmap_example_builder_add_int64(builder, "list", list, count, NULL), NULL);
        ASSERT_OK(recmap_example_builder_finish(&data, &size, builder, NULL), NULL);
        ASSERT_OK(recmap_writer_write(writer, data, size, NULL), NULL);
    }
    ASSERT_OK(recmap_writer_finish(writer, NULL), NULL);
    recmap_writer_destroy(writer);
    recmap_example_builder_destroy(builder);
    index_build("set.rmx", NULL, shard_names(1), 1);
    return dataset_open("set.rmx", NULL);
}

/* Counts the questions, and answers one of them with "stop". */
struct questions {
    size_t count;
    size_t stop; /* the question that is answered with "stop", or SIZE_MAX */
};

static int answer(void *context) {
    struct questions *questions = context;
    return questions->count++ == questions->stop;
}

struct call {
    recmap_dataset *dataset;
    recmap_feature feature;
    unsigned thread_count;
    bool is_of_thread; /* the interrupt is set for the calling thread, not for the batch */
};

/* Parses all records and returns the status. The batch is empty unless that is OK. */
static recmap_status parse(const struct call *call, recmap_batch *batch,
                           struct questions *questions) {
    uint64_t numbers[RECORDS];
    recmap_parser *parser;
    for (size_t i = 0; i < RECORDS; i++) numbers[i] = i;
    ASSERT_OK(recmap_parser_create(&parser, &call->feature, 1, NULL), NULL);
    recmap_batch_set_threads(batch, call->thread_count);
    if (call->is_of_thread) recmap_thread_set_interrupt(answer, questions);
    else recmap_batch_set_interrupt(batch, answer, questions);
    recmap_status status = recmap_dataset_parse(batch, call->dataset, parser, numbers, RECORDS,
                                                RECMAP_PARSE_RAISE, NULL);
    recmap_batch_set_interrupt(batch, NULL, NULL);
    recmap_thread_set_interrupt(NULL, NULL);
    recmap_parser_release(parser);
    assert_int_equal(recmap_batch_count(batch), status == RECMAP_OK ? RECORDS : 0);
    return status;
}

static size_t count_questions(const struct call *call, recmap_batch *batch) {
    struct questions questions = {.stop = SIZE_MAX};
    assert_int_equal(parse(call, batch, &questions), RECMAP_OK);
    return questions.count;
}

static recmap_feature copied_bytes(void) {
    return (recmap_feature){.name = "bytes",
                            .kind = RECMAP_FEATURE_FIXED_LEN,
                            .element = RECMAP_ELEMENT_BYTES,
                            .bytes_mode = RECMAP_BYTES_COPY};
}

static recmap_feature padded_list(void) {
    return (recmap_feature){
        .name = "list", .kind = RECMAP_FEATURE_FIXED_LEN_SEQUENCE, .element = RECMAP_ELEMENT_INT64};
}

static recmap_feature sparse_list(void) {
    static const char *const keys[] = {"list"};
    static const uint64_t sizes[] = {LIST_COUNT};
    return (recmap_feature){.name = "sparse",
                            .key = "list",
                            .kind = RECMAP_FEATURE_SPARSE,
                            .element = RECMAP_ELEMENT_INT64,
                            .index_keys = keys,
                            .sizes = sizes,
                            .index_count = 1};
}

/* A call asks once more for each piece that it copies, pads or sorts than a call that only reads,
 * and each question can be answered with "stop". `size`: how many bytes the feature's columns are
 * assembled from. */
static void check_feature(recmap_feature feature, uint64_t size) {
    recmap_batch *batch;
    struct call call = {.dataset = make_set(), .thread_count = 1};
    ASSERT_OK(recmap_batch_create(&batch, NULL), NULL);
    call.feature = (recmap_feature){
        .name = "list", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_INT64};
    size_t reading = count_questions(&call, batch);
    call.feature = feature;
    size_t count = count_questions(&call, batch);
    assert_true(count >= reading + size / PIECE_SIZE);
    for (size_t i = 0; i < count; i++) {
        struct questions questions = {.stop = i};
        assert_int_equal(parse(&call, batch, &questions), RECMAP_CANCELLED);
        assert_int_equal(questions.count, i + 1);
    }
    count_questions(&call, batch); /* the batch can be used again */
    recmap_batch_destroy(batch);
    recmap_dataset_close(call.dataset);
}

static void test_copying_bytes_asks_the_interrupt(void **state) {
    (void)state;
    check_feature(copied_bytes(), (uint64_t)RECORDS * BYTES_SIZE);
}

static void test_padding_rows_asks_the_interrupt(void **state) {
    (void)state;
    check_feature(padded_list(), (uint64_t)RECORDS * LIST_COUNT * sizeof(int64_t));
}

/* Sorting the long list takes 16 passes, which read and write all of it. */
static void test_sorting_values_asks_the_interrupt(void **state) {
    (void)state;
    check_feature(sparse_list(), (uint64_t)16 * 2 * LIST_COUNT * sizeof(int64_t));
}

/* With several threads, how often the calling thread asks depends on how they run. Whenever it is
 * told to stop, the call stops, and otherwise it ends well. */
static void test_several_threads_ask_the_interrupt(void **state) {
    (void)state;
    const recmap_feature features[] = {copied_bytes(), padded_list(), sparse_list()};
    recmap_batch *batch;
    struct call call = {.dataset = make_set(), .thread_count = 3};
    ASSERT_OK(recmap_batch_create(&batch, NULL), NULL);
    for (size_t f = 0; f < sizeof features / sizeof *features; f++) {
        call.feature = features[f];
        for (size_t i = 0; i < 60; i++) {
            struct questions questions = {.stop = i};
            recmap_status status = parse(&call, batch, &questions);
            assert_int_equal(status, questions.count > i ? RECMAP_CANCELLED : RECMAP_OK);
        }
    }
    recmap_batch_destroy(batch);
    recmap_dataset_close(call.dataset);
}

/* The other threads may do all the work of a call, so it is repeated until the calling thread had
 * enough of it to ask. */
static void test_several_threads_with_the_interrupt_of_the_caller(void **state) {
    enum { CALLS_MIN = 20, CALLS_MAX = 100000 };
    (void)state;
    recmap_batch *batch;
    struct call call = {
        .dataset = make_set(), .feature = copied_bytes(), .thread_count = 3, .is_of_thread = true};
    size_t asked_count = 0;
    ASSERT_OK(recmap_batch_create(&batch, NULL), NULL);
    for (size_t i = 0; i < CALLS_MIN || (!asked_count && i < CALLS_MAX); i++) {
        struct questions questions = {.stop = i % 2};
        recmap_status status = parse(&call, batch, &questions);
        assert_int_equal(status, questions.count > i % 2 ? RECMAP_CANCELLED : RECMAP_OK);
        asked_count += questions.count;
    }
    assert_true(asked_count > 0);
    recmap_batch_destroy(batch);
    recmap_dataset_close(call.dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(copying_bytes_asks_the_interrupt),
        TEST(padding_rows_asks_the_interrupt),
        TEST(sorting_values_asks_the_interrupt),
        TEST(several_threads_ask_the_interrupt),
        TEST(several_threads_with_the_interrupt_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
