#include "check.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/permutation/random.h"

void must_be_ok(recmap_status status, const recmap_error *error, const char *call) {
    if (status != RECMAP_OK)
        fail_msg("%s: %s: %s", call, recmap_status_name(status), error->message);
}

void must_have_failed(recmap_status status, const recmap_error *error, recmap_status expected,
                      const char *text, const char *call) {
    if (status != expected || error->status != expected)
        fail_msg("%s: %s, not %s", call, recmap_status_name(status), recmap_status_name(expected));
    if (!strstr(error->message, text))
        fail_msg("%s: \"%s\" does not say \"%s\"", call, error->message, text);
}

void *make_array(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    assert_non_null(memory);
    return memory;
}

uint64_t *whole_epoch(const recmap_order *order, uint64_t epoch) {
    size_t count = recmap_order_count(order);
    uint64_t *numbers = make_array(count, sizeof *numbers);
    MUST(recmap_order_read(numbers, order, epoch, 0, count, &error));
    return numbers;
}

bool is_permutation(const uint64_t *numbers, size_t count, uint64_t n) {
    if (count != n) return false;
    bool *seen = make_array(n, sizeof *seen);
    bool is_one = true;
    for (size_t i = 0; is_one && i < count; i++) {
        is_one = numbers[i] < n && !seen[numbers[i]];
        if (is_one) seen[numbers[i]] = true;
    }
    free(seen);
    return is_one;
}

static void check_positions(const recmap_order *order, uint64_t epoch, const uint64_t *whole,
                            const uint64_t *positions, size_t count) {
    uint64_t *numbers = make_array(count, sizeof *numbers);
    MUST(recmap_order_at(numbers, order, epoch, positions, count, &error));
    for (size_t i = 0; i < count; i++) assert_int_equal(numbers[i], whole[positions[i]]);
    free(numbers);
}

static void check_runs(const recmap_order *order, uint64_t epoch, const uint64_t *whole) {
    size_t count = recmap_order_count(order);
    uint64_t *numbers = make_array(count, sizeof *numbers);
    for (size_t first = 0, size = 0; first < count; first += size, size = size * 2 + 1) {
        if (size > count - first) size = count - first;
        MUST(recmap_order_read(numbers, order, epoch, first, size, &error));
        assert_memory_equal(numbers, whole + first, size * sizeof *numbers);
    }
    free(numbers);
}

static void check_batches(const recmap_order *order, uint64_t epoch) {
    uint64_t end = 0;
    for (uint64_t b = 0; b < recmap_order_batch_count(order); b++) {
        uint64_t first, count, found;
        MUST(recmap_order_batch(&first, &count, order, epoch, b, &error));
        assert_int_equal(first, end);
        assert_true(count > 0);
        MUST(recmap_order_batch_of(&found, order, epoch, first, &error));
        assert_int_equal(found, b);
        MUST(recmap_order_batch_of(&found, order, epoch, first + count - 1, &error));
        assert_int_equal(found, b);
        end = first + count;
    }
    if (recmap_order_batch_count(order)) assert_int_equal(end, recmap_order_count(order));
}

void check_access(const recmap_order *order, uint64_t epoch) {
    size_t count = recmap_order_count(order);
    uint64_t *whole = whole_epoch(order, epoch);
    uint64_t *positions = make_array(2 * count, sizeof *positions);
    for (size_t i = 0; i < count; i++) assert_true(whole[i] < recmap_order_number_limit(order));
    for (size_t i = 0; i < count; i++) {
        uint64_t number;
        MUST(recmap_order_at(&number, order, epoch, &(uint64_t){i}, 1, &error));
        assert_int_equal(number, whole[i]);
        positions[i] = count - 1 - i;
    }
    check_positions(order, epoch, whole, positions, count);
    for (size_t i = 0; i < 2 * count; i++) positions[i] = random_below(random_word(1, i), count);
    check_positions(order, epoch, whole, positions, 2 * count);
    check_runs(order, epoch, whole);
    check_batches(order, epoch);
    free(positions);
    free(whole);
}

void check_inverse(const recmap_order *order, uint64_t epoch) {
    uint64_t *whole = whole_epoch(order, epoch);
    for (size_t i = 0; i < recmap_order_count(order); i++) {
        uint64_t position;
        MUST(recmap_order_position_of(&position, order, epoch, whole[i], &error));
        assert_int_equal(position, i);
    }
    free(whole);
}

void check_once(recmap_order *order) {
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        uint64_t *whole = whole_epoch(order, epoch);
        if (!is_permutation(whole, recmap_order_count(order), recmap_order_number_limit(order))) {
            recmap_text text = RECMAP_TEXT_INIT;
            assert_int_equal(recmap_order_describe(&text, order, NULL), RECMAP_OK);
            fail_msg("epoch %u has not each record once: %s", (unsigned)epoch, text.data);
        }
        free(whole);
        check_access(order, epoch);
        check_inverse(order, epoch);
    }
    check_access(order, UINT64_MAX);
    recmap_order_release(order);
}

char *describe(const recmap_order *order) {
    recmap_text text = RECMAP_TEXT_INIT;
    MUST(recmap_order_describe(&text, order, &error));
    return text.data;
}

bool is_long(void) {
    const char *asked = getenv("RECMAP_TEST_LONG");
    return asked && *asked == '1';
}

double chi_square_z(const uint64_t *counts, const double *expected, size_t count) {
    double chi = 0, freedom = -1;
    for (size_t i = 0; i < count; i++) {
        if (expected[i] == 0) continue;
        chi += ((double)counts[i] - expected[i]) * ((double)counts[i] - expected[i]) / expected[i];
        freedom++;
    }
    return freedom < 1 ? 0 : (chi - freedom) / sqrt(2 * freedom);
}
