/* The cache of spans: which calls fill a span. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/core/error.h" /* declares `fail`, which is a macro of cmocka */
#include "dataset/spans/span_cache.h"

#include <cmocka.h>

enum { SIZE = 100 };

/* Fails the first `failure_count` times that it is called. */
struct filler {
    unsigned failure_count;
    unsigned call_count;
    bool is_transient;
};

static void fill(struct span *span, void *context) {
    struct filler *filler = context;
    if (filler->call_count++ < filler->failure_count) {
        span->error.status = RECMAP_CORRUPT;
        span->is_transient = filler->is_transient;
        return;
    }
    span->data = calloc(1, SIZE);
    assert_non_null(span->data);
    span->size = SIZE;
}

/* While a thread still holds what failed, another one can already try again. */
static void test_a_failure_that_may_pass_is_not_found_while_it_is_pinned(void **state) {
    (void)state;
    struct filler filler = {.failure_count = 1, .is_transient = true};
    struct span_cache *cache = span_cache_create(0);
    struct span_key key = {3, 7};
    assert_non_null(cache);
    const struct span *failed = span_cache_pin(cache, key, fill, &filler);
    assert_int_equal(failed->error.status, RECMAP_CORRUPT);
    const struct span *good = span_cache_pin(cache, key, fill, &filler);
    assert_ptr_not_equal(good, failed);
    assert_int_equal(good->error.status, RECMAP_OK);
    assert_int_equal(good->size, SIZE);
    assert_int_equal(failed->error.status, RECMAP_CORRUPT);
    span_cache_unpin(cache, failed);
    assert_ptr_equal(span_cache_pin(cache, key, fill, &filler), good);
    assert_int_equal(filler.call_count, 2);
    span_cache_unpin(cache, good);
    span_cache_unpin(cache, good);
    assert_int_equal(span_cache_statistics(cache).held_size, SIZE);
    span_cache_destroy(cache);
}

static void test_a_failure_that_lasts_is_kept(void **state) {
    (void)state;
    struct filler filler = {.failure_count = 1};
    struct span_cache *cache = span_cache_create(0);
    assert_non_null(cache);
    for (unsigned i = 0; i < 3; i++) {
        const struct span *failed = span_cache_pin(cache, (struct span_key){3, 7}, fill, &filler);
        assert_int_equal(failed->error.status, RECMAP_CORRUPT);
        span_cache_unpin(cache, failed);
    }
    assert_int_equal(filler.call_count, 1);
    span_cache_destroy(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_failure_that_may_pass_is_not_found_while_it_is_pinned),
        cmocka_unit_test(test_a_failure_that_lasts_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
