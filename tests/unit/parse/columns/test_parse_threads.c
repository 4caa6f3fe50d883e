/* One parser for many threads, each with its own columns; what they export is let go by others. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/arrow.h>
#include <recmap/dlpack.h>

#include "unit/parse/columns/parse_specs.h"
#include "unit/parse/columns/parse_text.h"

enum { THREADS = 4, ROUNDS = 300, PLACES = 8 };

static struct parsing parsing;
static struct text_batch batch;
static atomic_int released;
/* Where exports wait to be let go by whoever comes along. */
static _Atomic(DLManagedTensorVersioned *) places[PLACES];
static atomic_int wrong;

static void count_release(void *owner) {
    (void)owner;
    atomic_fetch_add(&released, 1);
}

static void expect(int holds) {
    if (!holds) atomic_fetch_add(&wrong, 1);
}

/* Leaves a tensor, and ends the one that lay there. */
static void leave(DLManagedTensorVersioned *tensor, size_t place) {
    DLManagedTensorVersioned *other = atomic_exchange(&places[place % PLACES], tensor);
    if (!other) return;
    const int64_t *values = other->dl_tensor.data;
    expect(values[0] == 1 && values[1] == -1 && values[2] == 3);
    other->deleter(other);
}

static void *work(void *context) {
    recmap_columns *columns = NULL;
    size_t thread = (size_t)(uintptr_t)context;
    expect(recmap_columns_create(&columns, NULL) == RECMAP_OK);
    for (size_t i = 0; i < ROUNDS; i++) {
        DLManagedTensorVersioned *tensor = NULL;
        struct ArrowArray array;
        expect(recmap_parser_parse(columns, parsing.parser, batch.records, batch.count,
                                   RECMAP_PARSE_RAISE, NULL) == RECMAP_OK);
        recmap_columns_set_owner(columns, NULL, count_release);
        expect(recmap_columns_export_dlpack_versioned(&tensor, columns, 0, RECMAP_TENSOR_VALUES, 0,
                                                      NULL) == RECMAP_OK);
        expect(recmap_columns_export_arrow(&array, NULL, columns, NULL) == RECMAP_OK);
        leave(tensor, i * 7 + thread);
        array.release(&array);
    }
    recmap_columns_destroy(columns);
    return NULL;
}

static void test_threads_share_a_parser(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    const recmap_feature features[] = {
        {.name = "a", .kind = FIXED, .element = I64, DEFAULTS(INT64(-1))},
        {.name = "v", .kind = VAR, .element = STR}};
    assert_int_equal(parse_texts(&parsing, features, 2, RECMAP_PARSE_RAISE,
                                 TEXTS("a=i:1 v=b:x,y", "v=b:z", "a=i:3"), &batch),
                     RECMAP_OK);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i), 0);
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (size_t i = 0; i < PLACES; i++) leave(NULL, i);
    assert_int_equal(wrong, 0);
    assert_int_equal(released, THREADS * ROUNDS);
    parsing_deinit(&parsing);
    text_batch_deinit(&batch);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads_share_a_parser)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
