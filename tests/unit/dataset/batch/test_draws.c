/* The draws of batches: whoever reads records says what their seeds depend on, and the batch keeps
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/sample.h"

enum { COUNT = 100, FIRST = 17 };

enum { GATHERED, READ, PARSED, WAYS };

struct drawn {
    recmap_dataset *dataset;
    recmap_parser *parser;
    recmap_batch *batch;
    uint64_t numbers[COUNT]; /* of the records that are read */
    recmap_error error;
};

static void drawn_init(struct drawn *drawn) {
    static const recmap_feature feature = {
        .name = "number", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_INT64};
    sample_build("sample.rmx");
    *drawn = (struct drawn){.dataset = dataset_open("sample.rmx", NULL)};
    ASSERT_OK(recmap_parser_create(&drawn->parser, &feature, 1, &drawn->error), &drawn->error);
    ASSERT_OK(recmap_batch_create(&drawn->batch, &drawn->error), &drawn->error);
    for (uint64_t i = 0; i < COUNT; i++) drawn->numbers[i] = FIRST + i;
}

static void drawn_deinit(struct drawn *drawn) {
    recmap_batch_destroy(drawn->batch);
    recmap_parser_release(drawn->parser);
    recmap_dataset_close(drawn->dataset);
}

/* Reads the same records in each way. */
static recmap_status drawn_read(struct drawn *drawn, int way) {
    switch (way) {
    case GATHERED:
        return recmap_dataset_gather(drawn->batch, drawn->dataset, drawn->numbers, COUNT,
                                     &drawn->error);
    case READ:
        return recmap_dataset_read(drawn->batch, drawn->dataset, FIRST, COUNT, &drawn->error);
    default:
        return recmap_dataset_parse(drawn->batch, drawn->dataset, drawn->parser, drawn->numbers,
                                    COUNT, RECMAP_PARSE_COLLECT, &drawn->error);
    }
}

static void read_seeds(uint64_t seeds[COUNT], struct drawn *drawn, const recmap_draws *draws) {
    recmap_batch_set_draws(drawn->batch, draws);
    ASSERT_OK(drawn_read(drawn, GATHERED), &drawn->error);
    ASSERT_OK(recmap_batch_seeds(seeds, drawn->batch, "a", &drawn->error), &drawn->error);
}

static void test_a_batch_keeps_its_draws(void **unused) {
    (void)unused;
    struct drawn drawn;
    uint64_t wanted[COUNT], seeds[COUNT], positions[COUNT], numbers[COUNT], kept[COUNT];
    drawn_init(&drawn);
    for (uint64_t i = 0; i < COUNT; i++) kept[i] = positions[i] = 900 - i;
    for (uint64_t i = 0; i < COUNT; i++) numbers[i] = 2 * i;
    const recmap_draws draws = {5, 2, positions, numbers, 1};
    read_seeds(wanted, &drawn, &draws);
    for (int way = 0; way < WAYS; way++)
        for (unsigned threads = 1; threads < 6; threads += 2) {
            memcpy(positions, kept, sizeof kept);
            for (uint64_t i = 0; i < COUNT; i++) numbers[i] = 2 * i;
            recmap_batch_set_threads(drawn.batch, threads);
            recmap_batch_set_draws(drawn.batch, &draws);
            ASSERT_OK(drawn_read(&drawn, way), &drawn.error);
            recmap_batch_set_draws(drawn.batch, NULL);
            memset(positions, 0xff, sizeof positions);
            memset(numbers, 0xff, sizeof numbers);
            assert_true(recmap_batch_has_draws(drawn.batch));
            assert_int_equal(recmap_batch_epoch(drawn.batch), 2);
            assert_memory_equal(recmap_batch_positions(drawn.batch), kept, sizeof kept);
            ASSERT_OK(recmap_batch_seeds(seeds, drawn.batch, "a", &drawn.error), &drawn.error);
            assert_memory_equal(seeds, wanted, sizeof seeds);
        }
    drawn_deinit(&drawn);
}

/* Each member counts, but positions only if the order repeats records. */
static void test_what_seeds_depend_on(void **unused) {
    (void)unused;
    struct drawn drawn;
    uint64_t plain[COUNT], seeds[COUNT], values[COUNT];
    drawn_init(&drawn);
    for (uint64_t i = 0; i < COUNT; i++) values[i] = FIRST + (i + 1) % COUNT;
    read_seeds(plain, &drawn, &(recmap_draws){5, 2, NULL, NULL, 0});
    assert_null(recmap_batch_positions(drawn.batch));
    read_seeds(seeds, &drawn, &(recmap_draws){5, 2, NULL, drawn.numbers, 0});
    assert_memory_equal(seeds, plain, sizeof seeds);
    read_seeds(seeds, &drawn, &(recmap_draws){5, 2, NULL, values, 0});
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(seeds[i], plain[(i + 1) % COUNT]);
    read_seeds(seeds, &drawn, &(recmap_draws){5, 2, values, NULL, 0});
    assert_memory_equal(seeds, plain, sizeof seeds);
    assert_memory_equal(recmap_batch_positions(drawn.batch), values, sizeof values);
    const recmap_draws others[] = {
        {6, 2, NULL, NULL, 0}, {5, 3, NULL, NULL, 0}, {5, 2, values, NULL, 1}};
    for (size_t other = 0; other < 3; other++) {
        read_seeds(seeds, &drawn, &others[other]);
        for (size_t i = 0; i < COUNT; i++) assert_int_not_equal(seeds[i], plain[i]);
    }
    drawn_deinit(&drawn);
}

static void assert_without_draws(struct drawn *drawn) {
    uint64_t seeds[COUNT];
    assert_false(recmap_batch_has_draws(drawn->batch));
    assert_null(recmap_batch_positions(drawn->batch));
    assert_int_equal(recmap_batch_epoch(drawn->batch), 0);
    assert_int_equal(recmap_batch_seeds(seeds, drawn->batch, "", &drawn->error), RECMAP_INVALID);
    assert_non_null(strstr(drawn->error.message, "without draws"));
}

static void test_batches_without_draws(void **unused) {
    (void)unused;
    struct drawn drawn;
    uint64_t seeds[COUNT];
    drawn_init(&drawn);
    assert_without_draws(&drawn);
    for (int way = 0; way < WAYS; way++) {
        read_seeds(seeds, &drawn, &(recmap_draws){5, 2, drawn.numbers, NULL, 0});
        recmap_batch_set_draws(drawn.batch, NULL);
        ASSERT_OK(drawn_read(&drawn, way), &drawn.error);
        assert_without_draws(&drawn);
    }
    read_seeds(seeds, &drawn, &(recmap_draws){5, 2, drawn.numbers, NULL, 0});
    recmap_batch_clear(drawn.batch);
    assert_without_draws(&drawn);
    drawn_deinit(&drawn);
}

static void test_positions_that_count_must_be_known(void **unused) {
    (void)unused;
    struct drawn drawn;
    drawn_init(&drawn);
    for (int way = 0; way < WAYS; way++) {
        recmap_batch_set_draws(drawn.batch, NULL);
        ASSERT_OK(drawn_read(&drawn, way), &drawn.error);
        recmap_batch_set_draws(drawn.batch, &(recmap_draws){.repeats = 1});
        assert_int_equal(drawn_read(&drawn, way), RECMAP_INVALID);
        assert_non_null(strstr(drawn.error.message, "lack the positions"));
        assert_int_equal(recmap_batch_count(drawn.batch), 0);
    }
    drawn_deinit(&drawn);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(a_batch_keeps_its_draws),
        TEST(what_seeds_depend_on),
        TEST(batches_without_draws),
        TEST(positions_that_count_must_be_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
