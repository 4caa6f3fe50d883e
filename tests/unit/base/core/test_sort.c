/* Sorting that can be interrupted: compared with qsort, and stopped at each question. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/interrupt.h>

#include "base/core/sort.h"

struct item {
    uint32_t key;
    uint32_t place; /* before the sort */
};

static int compare_keys(const void *a, const void *b) {
    const struct item *left = a, *right = b;
    return (left->key > right->key) - (left->key < right->key);
}

static int compare_all(const void *a, const void *b) {
    const struct item *left = a, *right = b;
    int order = compare_keys(a, b);
    return order ? order : (left->place > right->place) - (left->place < right->place);
}

static struct item *random_items(size_t count, uint32_t key_count) {
    struct item *items = malloc((count + 1) * sizeof *items);
    uint32_t word = 1;
    assert_non_null(items);
    for (size_t i = 0; i < count; i++) {
        word = word * 1664525 + 1013904223;
        items[i] = (struct item){(word >> 8) % key_count, (uint32_t)i};
    }
    return items;
}

/* Sizes around the runs that are merged; few keys, so that many items are equal. */
static void test_sort_equals_qsort(void **state) {
    (void)state;
    static const size_t counts[] = {0, 1, 2, 4095, 4096, 4097, 8192, 8193, 12289, 40000, 65537};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (uint32_t key_count = 3; key_count < 1000000; key_count *= 100) {
            struct item *items = random_items(counts[i], key_count);
            struct item *expected = random_items(counts[i], key_count);
            qsort(expected, counts[i], sizeof *expected, compare_all);
            assert_int_equal(sort_items(items, counts[i], sizeof *items, compare_all, NULL),
                             RECMAP_OK);
            assert_memory_equal(items, expected, counts[i] * sizeof *items);
            free(items);
            free(expected);
        }
    }
}

struct questions {
    size_t count;
    size_t stop;
};

static int answer(void *context) {
    struct questions *questions = context;
    return questions->count++ == questions->stop;
}

static recmap_status sort_asking(struct questions *questions, size_t count) {
    struct item *items = random_items(count, 1u << 30);
    recmap_thread_set_interrupt(answer, questions);
    recmap_status status = sort_items(items, count, sizeof *items, compare_keys, NULL);
    recmap_thread_set_interrupt(NULL, NULL);
    free(items);
    return status;
}

/* The sorting of the runs asks, and so does each of the merges, which follow. */
static void test_sorting_can_be_interrupted(void **state) {
    (void)state;
    const size_t count = 1 << 18; /* six rounds of merges */
    struct questions all = {0, SIZE_MAX};
    assert_int_equal(sort_asking(&all, count), RECMAP_OK);
    assert_in_range(all.count, 7 * (count * 16 / (256 << 10)), 9 * (count * 16 / (256 << 10)));
    for (size_t stop = 0; stop < all.count; stop += 5) {
        struct questions questions = {0, stop};
        assert_int_equal(sort_asking(&questions, count), RECMAP_CANCELLED);
        assert_int_equal(questions.count, stop + 1);
    }
}

/* Sorted items are merged by copying half of each two runs. Seven rounds leave the result in the
 * copy, which is copied back. */
static void test_copies_ask(void **state) {
    (void)state;
    const size_t count = 1 << 19, size = count * sizeof(struct item), piece = 1 << 20;
    struct item *items = malloc(size);
    struct questions all = {0, SIZE_MAX};
    assert_non_null(items);
    for (size_t i = 0; i < count; i++) items[i] = (struct item){(uint32_t)i, (uint32_t)i};
    recmap_thread_set_interrupt(answer, &all);
    assert_int_equal(sort_items(items, count, sizeof *items, compare_all, NULL), RECMAP_OK);
    size_t work = count * 16 / (256 << 10); /* questions of a round that merges all */
    assert_in_range(all.count, work + 7 * work / 2 + size / piece + 3 * size / 2 / piece,
                    2 * (work + 7 * work));
    size_t last = all.count - 1;
    struct questions questions = {0, last};
    recmap_thread_set_interrupt(answer, &questions);
    assert_int_equal(sort_items(items, count, sizeof *items, compare_all, NULL), RECMAP_CANCELLED);
    assert_int_equal(questions.count, last + 1);
    recmap_thread_set_interrupt(NULL, NULL);
    free(items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort_equals_qsort),
        cmocka_unit_test(test_sorting_can_be_interrupted),
        cmocka_unit_test(test_copies_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
