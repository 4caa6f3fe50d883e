/* Marks in long lists: every value is found from the last mark at or before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dataset/long_records/list_marks.h"
#include "support/random.h"

enum { VALUE_MAX = 10 };

/* Values of 1 to VALUE_MAX bytes, of which the first one is the value's size. */
static size_t skip_values(const uint8_t *data, size_t size, uint64_t count) {
    size_t offset = 0;
    for (; count && offset < size; count--) offset += data[offset];
    return count ? SIZE_MAX : offset;
}

static void test_marks_lead_to_the_last_value_before(void **state) {
    (void)state;
    enum { VALUES = 20000, SPACING = 100 };
    uint8_t *bytes = malloc(VALUES * VALUE_MAX);
    size_t *starts = malloc(VALUES * sizeof *starts), size = 0;
    struct rng random = {3};
    assert_true(bytes && starts);
    for (size_t i = 0; i < VALUES; i++) {
        starts[i] = size;
        bytes[size] = (uint8_t)(1 + rng_below(&random, VALUE_MAX));
        size += bytes[size];
    }
    struct list_marks_cache *cache = list_marks_cache_create();
    struct marked_list list = {5, 0, bytes, size, skip_values, SPACING};
    for (int round = 0; round < 1000; round++) {
        uint64_t first = rng_below(&random, VALUES), value;
        size_t offset;
        assert_true(list_marks_find(&offset, &value, cache, &list, first));
        assert_true(value <= first && first - value < SPACING);
        assert_int_equal(offset, starts[value]);
    }
    uint64_t kept = list_marks_cache_size(cache), value;
    size_t offset;
    assert_true(kept >= VALUES / SPACING * 4 && kept < VALUES);
    assert_false(list_marks_find(&offset, &value, cache, &list, VALUES + SPACING));
    /* The same record with another list has marks of its own. */
    list.data += starts[50];
    list.position += starts[50];
    list.size -= starts[50];
    assert_true(list_marks_find(&offset, &value, cache, &list, SPACING));
    assert_int_equal(offset, starts[50 + SPACING] - starts[50]);
    list_marks_cache_destroy(cache);
    free(starts);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_marks_lead_to_the_last_value_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
