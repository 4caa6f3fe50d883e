/* Marks of what is to be warmed: every byte of a marked record is taken once, and of other bytes
 * only those in short gaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataset/warm/warm_marks.h"
#include "support/random.h"

enum { SHARDS = 5, UNIT = 4096, GAP = 32 << 10, SIZE_MAX_UNITS = 4000 };

struct model {
    recmap_dataset dataset;
    struct index_shard shards[SHARDS];
    uint8_t *wanted[SHARDS]; /* a flag for each unit */
    uint8_t *taken[SHARDS];
};

static uint64_t count_units(const struct model *model, uint32_t shard) {
    return (model->shards[shard].entry.size + UNIT - 1) / UNIT;
}

static void model_init(struct model *model, struct rng *random) {
    memset(model, 0, sizeof *model);
    model->dataset.info.shard_count = SHARDS;
    model->dataset.shard_table = model->shards;
    for (uint32_t i = 0; i < SHARDS; i++) {
        uint64_t size = rng_below(random, 4) ? rng_below(random, SIZE_MAX_UNITS * UNIT) : 0;
        model->shards[i].entry.size = size;
        model->wanted[i] = calloc(count_units(model, i) + 1, 1);
        model->taken[i] = calloc(count_units(model, i) + 1, 1);
        assert_true(model->wanted[i] && model->taken[i]);
    }
}

static void model_deinit(struct model *model) {
    for (uint32_t i = 0; i < SHARDS; i++) {
        free(model->wanted[i]);
        free(model->taken[i]);
    }
}

static void add_record(struct model *model, struct warm_marks *marks, struct rng *random) {
    struct index_place place = {.shard_index = (uint32_t)rng_below(random, SHARDS)};
    uint64_t size = model->shards[place.shard_index].entry.size;
    if (!size) return;
    place.offset = rng_below(random, size);
    uint64_t rest = size - place.offset;
    place.frame_size = 1 + rng_below(random, rest < 9000 ? rest : 9000);
    warm_marks_add(marks, &place);
    uint64_t end = (place.offset + place.frame_size - 1) / UNIT;
    for (uint64_t unit = place.offset / UNIT; unit <= end; unit++)
        model->wanted[place.shard_index][unit] = 1;
}

/* Checks a range: it begins and ends with units that are wanted for the first time, and what is not
 * wanted is in gaps. */
static void take_range(struct model *model, const struct warm_range *range) {
    uint8_t *wanted = model->wanted[range->shard_index], *taken = model->taken[range->shard_index];
    uint64_t size = model->shards[range->shard_index].entry.size;
    assert_true(range->begin % UNIT == 0 && range->begin < range->end && range->end <= size);
    assert_true(range->end % UNIT == 0 || range->end == size);
    assert_true(range->end - range->begin <= WARM_RANGE_MAX + UNIT);
    uint64_t first = range->begin / UNIT, last = (range->end - 1) / UNIT, gap = 0;
    assert_true(wanted[first] && !taken[first] && wanted[last] && !taken[last]);
    for (uint64_t unit = first; unit <= last; unit++) {
        gap = wanted[unit] && !taken[unit] ? 0 : gap + UNIT;
        assert_true(gap <= GAP);
        taken[unit] = 1;
    }
}

static void take_all(struct model *model, struct warm_marks *marks) {
    struct warm_range range = {0, 0, 0}, before = {0, 0, 0};
    marks->next = 0;
    while (warm_marks_take(&range, marks)) {
        assert_true(range.shard_index > before.shard_index || range.begin >= before.end);
        take_range(model, &range);
        before = range;
    }
    assert_int_equal(warm_marks_size(marks), 0);
    for (uint32_t i = 0; i < SHARDS; i++)
        for (uint64_t unit = 0; unit < count_units(model, i); unit++)
            assert_true(model->taken[i][unit] || !model->wanted[i][unit]);
}

static void test_every_record_is_taken_once(void **state) {
    (void)state;
    struct rng random = {7};
    for (int round = 0; round < 60; round++) {
        struct model model;
        struct warm_marks marks;
        model_init(&model, &random);
        assert_int_equal(warm_marks_init(&marks, &model.dataset, NULL), RECMAP_OK);
        for (int group = 0; group < 4; group++) {
            for (uint64_t i = rng_below(&random, 3000); i; i--) add_record(&model, &marks, &random);
            take_all(&model, &marks);
        }
        warm_marks_deinit(&marks);
        model_deinit(&model);
    }
}

static void test_stretches_are_counted(void **state) {
    (void)state;
    struct model model;
    struct warm_marks marks;
    struct rng random = {1};
    model_init(&model, &random);
    model.shards[0].entry.size = 100 * UNIT;
    assert_int_equal(warm_marks_init(&marks, &model.dataset, NULL), RECMAP_OK);
    assert_int_equal(warm_marks_stretch_size(&marks), 0);
    for (uint64_t unit = 0; unit < 20; unit += 2) {
        struct index_place place = {0, unit * UNIT, 10};
        warm_marks_add(&marks, &place);
    }
    assert_int_equal(warm_marks_stretch_size(&marks), UNIT);
    for (uint64_t unit = 1; unit < 20; unit += 2) {
        struct index_place place = {0, unit * UNIT, 10};
        warm_marks_add(&marks, &place);
    }
    assert_int_equal(warm_marks_stretch_size(&marks), 20 * UNIT);
    assert_int_equal(warm_marks_size(&marks), 20 * UNIT);
    warm_marks_deinit(&marks);
    model_deinit(&model);
}

/* A forged index may say that a record ends past its shard. */
static void test_places_outside_the_shard_are_ignored(void **state) {
    (void)state;
    struct model model;
    struct warm_marks marks;
    struct rng random = {1};
    model_init(&model, &random);
    model.shards[0].entry.size = 3 * UNIT;
    assert_int_equal(warm_marks_init(&marks, &model.dataset, NULL), RECMAP_OK);
    const struct index_place places[] = {
        {0, 3 * UNIT, 1}, {0, UINT64_MAX, 1}, {0, 0, UINT64_MAX}, {0, 0, 0}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) warm_marks_add(&marks, &places[i]);
    assert_int_equal(warm_marks_size(&marks), 0);
    warm_marks_deinit(&marks);
    model_deinit(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_record_is_taken_once),
                                       cmocka_unit_test(test_stretches_are_counted),
                                       cmocka_unit_test(test_places_outside_the_shard_are_ignored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
