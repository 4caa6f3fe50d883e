/* The test vectors of docs/formats/order.md, on every way in which the permutation is computed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/permutation/permutation.h"
#include "base/permutation/random.h"
#include "check.h"
#include "order/kinds/weights.h"
#include "support/vector_file.h"

#include <cmocka.h>

enum { WEIGHTS_MAX = 64 };

/* The numbers at the vector's positions are the vector's, and the other way round: in batches,
 * which may use vector instructions, and one at a time, which does not. */
static void check_permutation(const struct vector_case *vector) {
    struct permutation permutation;
    permutation_init(&permutation, vector_number(vector, "n"), vector_number(vector, "seed"),
                     vector_number(vector, "epoch"), vector_number(vector, "stream"));
    size_t count, number_count;
    uint64_t *positions = vector_numbers(vector, "positions", &count);
    uint64_t *numbers = vector_numbers(vector, "numbers", &number_count);
    uint64_t *actual = make_array(count, sizeof *actual);
    assert_int_equal(count, number_count);
    permutation_at(&permutation, actual, positions, count);
    assert_memory_equal(actual, numbers, count * sizeof *actual);
    permutation_inverse(&permutation, actual, numbers, count);
    assert_memory_equal(actual, positions, count * sizeof *actual);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(permutation_at_one(&permutation, positions[i]), numbers[i]);
        assert_int_equal(permutation_inverse_one(&permutation, numbers[i]), positions[i]);
    }
    free(positions);
    free(numbers);
    free(actual);
}

static void test_permutations_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("order-permutation.txt");
    for (int path = 0; path < PERMUTATION_PATH_COUNT; path++) {
        if (!permutation_force((enum permutation_path)path)) continue;
        for (size_t i = 0; i < file.count; i++) check_permutation(vectors_at(&file, i));
    }
    permutation_force(permutation_best());
    vectors_deinit(&file);
}

static void test_bounded_numbers_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("order-below.txt");
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        size_t count, number_count;
        uint64_t *words = vector_numbers(vector, "words", &count);
        uint64_t *numbers = vector_numbers(vector, "numbers", &number_count);
        assert_int_equal(count, number_count);
        for (size_t j = 0; j < count; j++)
            assert_int_equal(random_below(words[j], vector_number(vector, "n")), numbers[j]);
        free(words);
        free(numbers);
    }
    vectors_deinit(&file);
}

static size_t read_weights(double weights[WEIGHTS_MAX], const struct vector_case *vector) {
    size_t count = 0;
    const char *text = vector_text(vector, "weights");
    while (*text) {
        char *end;
        weights[count++] = strtod(text, &end);
        assert_true(end > text);
        text = end + (*end == ' ');
    }
    return count;
}

/* From weights to whole numbers to shares per period, as the vectors specify. */
static void test_shares_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("order-shares.txt");
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        double weights[WEIGHTS_MAX];
        uint64_t integers[WEIGHTS_MAX], sum, expected_sum = 0;
        uint32_t shares[WEIGHTS_MAX], total;
        size_t count = read_weights(weights, vector), expected_count;
        uint64_t *expected = vector_numbers(vector, "shares", &expected_count);
        assert_int_equal(count, expected_count);
        MUST(weights_to_integers(integers, &sum, weights, count, "source", &error));
        MUST(weights_to_proportions(shares, &total, integers, sum, count, &error));
        for (size_t j = 0; j < count; expected_sum += expected[j++])
            assert_int_equal(shares[j], expected[j]);
        assert_int_equal(total, expected_sum);
        free(expected);
    }
    vectors_deinit(&file);
}

/* ---- Kinds: each is made from its case. */

static recmap_order *make_weighted(const struct vector_case *vector) {
    double weights[WEIGHTS_MAX];
    size_t count = read_weights(weights, vector);
    recmap_order *order = NULL;
    MUST(recmap_order_weighted(&order, weights, count, vector_number(vector, "seed"),
                               vector_number(vector, "size"), &error));
    return order;
}

static recmap_order *make_mixture(const struct vector_case *vector) {
    double weights[WEIGHTS_MAX];
    recmap_order *sources[WEIGHTS_MAX], *made = NULL;
    size_t count = read_weights(weights, vector), source_count;
    uint64_t *counts = vector_numbers(vector, "counts", &source_count);
    assert_int_equal(count, source_count);
    for (size_t i = 0; i < count; i++)
        MUST(recmap_order_shuffled(&sources[i], counts[i], vector_number(vector, "seed") + i,
                                   &error));
    bool is_first = !strcmp(vector_text(vector, "stop"), "first");
    MUST(recmap_order_mixture(&made, sources, weights, count,
                              is_first ? RECMAP_STOP_FIRST : RECMAP_STOP_LAST, &error));
    for (size_t i = 0; i < count; i++) recmap_order_release(sources[i]);
    free(counts);
    return made;
}

static recmap_mixture_options blend_options(const struct vector_case *vector) {
    recmap_mixture_options options = RECMAP_MIXTURE_OPTIONS_INIT;
    const char *stop = vector_text(vector, "stop");
    if (!strcmp(stop, "last")) options.stop = RECMAP_STOP_LAST;
    else if (strcmp(stop, "first")) options.length = vector_number(vector, "stop");
    return options;
}

static recmap_order *make_blend(const struct vector_case *vector) {
    double weights[WEIGHTS_MAX];
    recmap_order *sources[WEIGHTS_MAX], *made = NULL;
    recmap_mixture_change changes[WEIGHTS_MAX];
    size_t weight_count = read_weights(weights, vector), source_count, change_count;
    uint64_t *counts = vector_numbers(vector, "counts", &source_count);
    uint64_t *positions = vector_numbers(vector, "positions", &change_count);
    assert_int_equal(weight_count, source_count * change_count);
    for (size_t i = 0; i < source_count; i++)
        MUST(recmap_order_shuffled(&sources[i], counts[i], vector_number(vector, "seed") + i,
                                   &error));
    for (size_t i = 0; i < change_count; i++)
        changes[i] = (recmap_mixture_change){positions[i], weights + i * source_count};
    recmap_mixture_options options = blend_options(vector);
    MUST(recmap_order_blended(&made, sources, source_count, changes, change_count, &options,
                              &error));
    for (size_t i = 0; i < source_count; i++) recmap_order_release(sources[i]);
    free(counts);
    free(positions);
    return made;
}

static recmap_order *make_by_labels(const struct vector_case *vector) {
    size_t count;
    int64_t *labels = (int64_t *)vector_numbers(vector, "labels", &count);
    recmap_order *order = NULL;
    bool is_grouped = !strcmp(vector_text(vector, "kind"), "grouped");
    MUST((is_grouped ? recmap_order_grouped : recmap_order_stratified)(
        &order, labels, count, vector_number(vector, "batch_size"), vector_number(vector, "seed"),
        &error));
    free(labels);
    return order;
}

static recmap_order *make_bucketed(const struct vector_case *vector) {
    size_t count, bound_count;
    int64_t *lengths = (int64_t *)vector_numbers(vector, "lengths", &count);
    int64_t *bounds = (int64_t *)vector_numbers(vector, "bounds", &bound_count);
    recmap_bucket_size size = {0, 0};
    if (vector_has(vector, "batch_size")) size.batch_size = vector_number(vector, "batch_size");
    else size.token_budget = vector_number(vector, "token_budget");
    recmap_order *order = NULL;
    MUST(recmap_order_bucketed(&order, lengths, count, bounds, bound_count, size,
                               vector_number(vector, "seed"), &error));
    free(lengths);
    free(bounds);
    return order;
}

static recmap_order *make_view(const struct vector_case *vector) {
    recmap_order *base = NULL, *made = NULL;
    MUST(recmap_order_shuffled(&base, 6, vector_number(vector, "seed"), &error));
    if (vector_has(vector, "list")) {
        size_t count;
        uint64_t *list = vector_numbers(vector, "list", &count);
        MUST(recmap_order_view_list(&made, base, list, count, &error));
        free(list);
    } else {
        MUST(recmap_order_view_range(&made, base, vector_number(vector, "first"),
                                     vector_number(vector, "count"),
                                     (int64_t)vector_number(vector, "step"), &error));
    }
    recmap_order_release(base);
    return made;
}

static recmap_order *make_order(const struct vector_case *vector) {
    const char *kind = vector_text(vector, "kind");
    if (!strcmp(kind, "weighted")) return make_weighted(vector);
    if (!strcmp(kind, "mixture")) return make_mixture(vector);
    if (!strcmp(kind, "grouped") || !strcmp(kind, "stratified")) return make_by_labels(vector);
    if (!strcmp(kind, "bucketed")) return make_bucketed(vector);
    if (!strcmp(kind, "list") || !strcmp(kind, "range")) return make_view(vector);
    uint64_t n = vector_number(vector, "n"), seed = vector_number(vector, "seed");
    recmap_order *order = NULL;
    if (!strcmp(kind, "shuffled")) MUST(recmap_order_shuffled(&order, n, seed, &error));
    else if (!strcmp(kind, "with_replacement"))
        MUST(recmap_order_with_replacement(&order, n, seed, vector_number(vector, "size"), &error));
    else
        MUST(recmap_order_windowed(&order, n, vector_number(vector, "block"),
                                   vector_number(vector, "window"), seed, &error));
    return order;
}

/* Compares an epoch with the vector, position by position, and the sizes of its batches if it has
 * batches. Random access must agree with the epoch. */
static void check_epoch(const struct vector_case *vector, const recmap_order *order,
                        unsigned epoch) {
    char epoch_key[16], sizes_key[16];
    snprintf(epoch_key, sizeof epoch_key, "epoch-%u", epoch);
    snprintf(sizes_key, sizeof sizes_key, "sizes-%u", epoch);
    size_t count;
    uint64_t *expected = vector_numbers(vector, epoch_key, &count);
    if (count != recmap_order_count(order))
        fail_msg("case %s: another count", vector_title(vector));
    uint64_t *numbers = whole_epoch(order, epoch);
    for (size_t i = 0; i < count; i++)
        if (numbers[i] != expected[i])
            fail_msg("case %s: epoch %u, position %zu", vector_title(vector), epoch, i);
    free(numbers);
    free(expected);
    check_access(order, epoch);
    if (!vector_has(vector, sizes_key)) return;
    uint64_t *sizes = vector_numbers(vector, sizes_key, &count);
    assert_int_equal(count, recmap_order_batch_count(order));
    for (size_t i = 0; i < count; i++) {
        uint64_t first, size;
        MUST(recmap_order_batch(&first, &size, order, epoch, i, &error));
        assert_int_equal(size, sizes[i]);
    }
    free(sizes);
}

static void check_digest(const struct vector_case *vector, const recmap_order *order) {
    recmap_text text = RECMAP_TEXT_INIT;
    MUST(recmap_order_describe(&text, order, &error));
    if (!strstr(text.data, vector_text(vector, "kind")) ||
        (vector_has(vector, "digest") && !strstr(text.data, vector_text(vector, "digest"))))
        fail_msg("case %s: %s", vector_title(vector), text.data);
    recmap_text_deinit(&text);
}

static void test_orders_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("order-kinds.txt");
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        recmap_order *order = make_order(vector);
        const unsigned epochs[] = {0, 1, 5};
        for (int e = 0; e < 3; e++) check_epoch(vector, order, epochs[e]);
        check_digest(vector, order);
        recmap_order_release(order);
    }
    vectors_deinit(&file);
}

/* The vectors have a space after each comma. */
static void check_description(const struct vector_case *vector, const recmap_order *order) {
    recmap_text text = RECMAP_TEXT_INIT;
    MUST(recmap_order_describe(&text, order, &error));
    const char *cursor = text.data;
    for (const char *expected = vector_text(vector, "description"); *expected; expected++)
        if (*expected != ' ' && *expected != *cursor++)
            fail_msg("case %s: %s", vector_title(vector), text.data);
    assert_int_equal(*cursor, 0);
    recmap_text_deinit(&text);
}

static void test_blends_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("order-blends.txt");
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        recmap_order *order = make_blend(vector);
        const unsigned epochs[] = {0, 1, 5};
        for (int e = 0; e < 3; e++) check_epoch(vector, order, epochs[e]);
        check_description(vector, order);
        recmap_order_release(order);
    }
    vectors_deinit(&file);
}

/* ---- Dealing. */

static recmap_last last_of(const char *name) {
    if (!strcmp(name, "keep")) return RECMAP_LAST_KEEP;
    return !strcmp(name, "drop") ? RECMAP_LAST_DROP : RECMAP_LAST_PAD;
}

static void check_step(const struct vector_case *vector, const recmap_deal *deal, uint64_t step) {
    char key[16];
    snprintf(key, sizeof key, "step-%u", (unsigned)step);
    size_t count, at = 0;
    uint64_t *expected = vector_numbers(vector, key, &count), numbers[WEIGHTS_MAX];
    for (uint32_t rank = 0; rank < deal->options.world_size; rank++) {
        recmap_share share;
        MUST(recmap_deal_share(&share, deal, step, rank, &error));
        assert_int_equal(share.count, expected[at++]);
        MUST(recmap_deal_numbers(numbers, deal, &share, &error));
        for (uint64_t i = 0; i < share.count; i++) assert_int_equal(numbers[i], expected[at++]);
    }
    assert_int_equal(at, count);
    free(expected);
}

static void test_dealing_matches_its_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("order-deal.txt");
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        recmap_order *order = NULL;
        MUST(recmap_order_sequential(&order, vector_number(vector, "n"), &error));
        recmap_deal_options options = RECMAP_DEAL_OPTIONS_INIT;
        options.world_size = (uint32_t)vector_number(vector, "world");
        options.batch_size = vector_number(vector, "batch");
        options.last = last_of(vector_text(vector, "last"));
        recmap_deal deal;
        MUST(
            recmap_deal_init(&deal, order, 0, vector_number(vector, "position"), &options, &error));
        assert_int_equal(deal.step_count, vector_number(vector, "steps"));
        for (uint64_t step = 0; step < deal.step_count; step++) check_step(vector, &deal, step);
        recmap_order_release(order);
    }
    vectors_deinit(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permutations_match_their_vectors),
        cmocka_unit_test(test_bounded_numbers_match_their_vectors),
        cmocka_unit_test(test_shares_match_their_vectors),
        cmocka_unit_test(test_orders_match_their_vectors),
        cmocka_unit_test(test_blends_match_their_vectors),
        cmocka_unit_test(test_dealing_matches_its_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
