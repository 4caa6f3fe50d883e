/* Creating an order over many records takes seconds, and so does listing the pieces of many rows.
 * Each such call asks the thread's interrupt while it works, and can be stopped at any
 * question. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <recmap/recmap.h>

enum { RECORDS = 100000, ROWS = 10000 };

struct questions {
    size_t count;
    size_t stop; /* the question that is answered with "stop", or SIZE_MAX */
};

static int answer(void *context) {
    struct questions *questions = context;
    return questions->count++ == questions->stop;
}

/* Values that all records share, and an order of rows. */
struct fixture {
    int64_t *labels; /* as many as records */
    double *weights;
    uint64_t *positions;
    recmap_counts *counts;
    recmap_order *rows;
};

typedef recmap_status (*call_fn)(const struct fixture *fixture);

static recmap_status finish(recmap_status status, recmap_order **order) {
    recmap_order_release(*order);
    return status;
}

static recmap_status create_grouped(const struct fixture *fixture) {
    recmap_order *order = NULL;
    return finish(recmap_order_grouped(&order, fixture->labels, RECORDS, 8, 1, NULL), &order);
}

static recmap_status create_stratified(const struct fixture *fixture) {
    recmap_order *order = NULL;
    return finish(recmap_order_stratified(&order, fixture->labels, RECORDS, 8, 1, NULL), &order);
}

static recmap_status create_bucketed(const struct fixture *fixture) {
    recmap_order *order = NULL;
    static const int64_t bounds[] = {1 << 10, 1 << 20};
    recmap_bucket_size size = {.batch_size = 8};
    return finish(recmap_order_bucketed(&order, fixture->labels, RECORDS, bounds, 2, size, 1, NULL),
                  &order);
}

static recmap_status create_weighted(const struct fixture *fixture) {
    recmap_order *order = NULL;
    return finish(recmap_order_weighted(&order, fixture->weights, RECORDS, 1, 1, NULL), &order);
}

static recmap_status create_packed(const struct fixture *fixture) {
    recmap_order *order = NULL;
    recmap_packed_options options = RECMAP_PACKED_OPTIONS_INIT;
    options.size = 64;
    return finish(recmap_order_packed(&order, fixture->counts, &options, NULL), &order);
}

static recmap_status create_windows(const struct fixture *fixture) {
    recmap_order *order = NULL;
    recmap_windows_options options = RECMAP_WINDOWS_OPTIONS_INIT;
    options.size = 8;
    return finish(recmap_order_windows(&order, fixture->counts, &options, NULL), &order);
}

/* Weights that no short period comes close to, so that a million periods are tried. */
static recmap_status create_mixture(const struct fixture *fixture) {
    (void)fixture;
    static const double weights[] = {1, 1.41421356237, 1.73205080757};
    recmap_order *sources[3], *order = NULL;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(recmap_order_sequential(&sources[i], 1000, NULL), RECMAP_OK);
    recmap_status status =
        recmap_order_mixture(&order, sources, weights, 3, RECMAP_STOP_FIRST, NULL);
    for (size_t i = 0; i < 3; i++) recmap_order_release(sources[i]);
    return finish(status, &order);
}

/* A view of a list that is long enough to be asked about while it is hashed. */
static recmap_status create_view(const struct fixture *fixture) {
    static const uint64_t numbers[4 * RECORDS];
    (void)fixture;
    recmap_order *base, *order = NULL;
    assert_int_equal(recmap_order_sequential(&base, 4 * RECORDS, NULL), RECMAP_OK);
    recmap_status status = recmap_order_view_list(&order, base, numbers, 4 * RECORDS, NULL);
    recmap_order_release(base);
    return finish(status, &order);
}

static recmap_status create_counts(const struct fixture *fixture) {
    recmap_counts *counts = NULL;
    recmap_status status = recmap_counts_create(&counts, fixture->labels, 8, RECORDS, NULL);
    recmap_counts_release(counts);
    return status;
}

static recmap_status list_pieces(const struct fixture *fixture) {
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    recmap_status status =
        recmap_order_pieces(&pieces, fixture->rows, 0, fixture->positions, ROWS, NULL);
    recmap_pieces_deinit(&pieces);
    return status;
}

static void check_call(call_fn call, const struct fixture *fixture, size_t questions_min) {
    struct questions all = {0, SIZE_MAX};
    recmap_thread_set_interrupt(answer, &all);
    assert_int_equal(call(fixture), RECMAP_OK);
    assert_true(all.count >= questions_min);
    for (size_t stop = 0; stop < all.count; stop += 1 + all.count / 8) {
        struct questions questions = {0, stop};
        recmap_thread_set_interrupt(answer, &questions);
        assert_int_equal(call(fixture), RECMAP_CANCELLED);
        assert_int_equal(questions.count, stop + 1);
    }
    recmap_thread_set_interrupt(NULL, NULL);
    assert_int_equal(call(fixture), RECMAP_OK);
}

static int start(void **state) {
    static struct fixture fixture;
    recmap_chunked_options options = RECMAP_CHUNKED_OPTIONS_INIT;
    fixture.labels = malloc(RECORDS * sizeof *fixture.labels);
    fixture.weights = malloc(RECORDS * sizeof *fixture.weights);
    fixture.positions = malloc(ROWS * sizeof *fixture.positions);
    uint64_t *lengths = malloc(RECORDS * sizeof *lengths);
    assert_true(fixture.labels && fixture.weights && fixture.positions && lengths);
    uint64_t word = 1;
    for (size_t i = 0; i < RECORDS; i++) {
        word = word * 6364136223846793005u + 1442695040888963407u;
        fixture.labels[i] = (int64_t)(word >> 33);
        fixture.weights[i] = (double)(1 + (word >> 50));
        lengths[i] = 1 + word % 32;
    }
    for (size_t i = 0; i < ROWS; i++) fixture.positions[i] = i;
    assert_int_equal(recmap_counts_create(&fixture.counts, lengths, sizeof *lengths, RECORDS, NULL),
                     RECMAP_OK);
    options.size = 64;
    assert_int_equal(recmap_order_chunked(&fixture.rows, fixture.counts, &options, NULL),
                     RECMAP_OK);
    /* With several threads, which would make the questions unpredictable. */
    assert_int_equal(recmap_order_prepare(fixture.rows, 0, NULL), RECMAP_OK);
    free(lengths);
    *state = &fixture;
    return 0;
}

static int stop(void **state) {
    struct fixture *fixture = *state;
    recmap_order_release(fixture->rows);
    recmap_counts_release(fixture->counts);
    free(fixture->labels);
    free(fixture->weights);
    free(fixture->positions);
    return 0;
}

/* Distinct labels are sorted: about 20 comparisons each. */
static void test_grouping_asks_the_interrupt(void **state) {
    check_call(create_grouped, *state, 115);
}

static void test_stratifying_asks_the_interrupt(void **state) {
    check_call(create_stratified, *state, 166);
}

static void test_bucketing_asks_the_interrupt(void **state) {
    check_call(create_bucketed, *state, 30);
}

static void test_weighting_asks_the_interrupt(void **state) {
    check_call(create_weighted, *state, 44);
}

/* Finding the period counts as 8 bytes for each source and period that is tried; filling it, as
 * much again for each slot. */
static void test_mixing_asks_the_interrupt(void **state) {
    check_call(create_mixture, *state, 2);
}

/* So few documents are packed by the calling thread alone, which makes the questions predictable.
 */
static void test_packing_asks_the_interrupt(void **state) {
    check_call(create_packed, *state, 1);
}

static void test_making_windows_asks_the_interrupt(void **state) {
    check_call(create_windows, *state, 2);
}

/* Hashing counts as a quarter of its bytes. */
static void test_creating_a_view_asks_the_interrupt(void **state) {
    check_call(create_view, *state, 4 * RECORDS * 8 / 4 / (256 << 10));
}

/* They are read three times. */
static void test_counts(void **state) {
    check_call(create_counts, *state, 3 * RECORDS * 8 / (256 << 10));
}

static void test_listing_pieces_asks_the_interrupt(void **state) {
    check_call(list_pieces, *state, ROWS * 256 / (256 << 10));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grouping_asks_the_interrupt),
        cmocka_unit_test(test_stratifying_asks_the_interrupt),
        cmocka_unit_test(test_bucketing_asks_the_interrupt),
        cmocka_unit_test(test_weighting_asks_the_interrupt),
        cmocka_unit_test(test_mixing_asks_the_interrupt),
        cmocka_unit_test(test_packing_asks_the_interrupt),
        cmocka_unit_test(test_making_windows_asks_the_interrupt),
        cmocka_unit_test(test_listing_pieces_asks_the_interrupt),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_creating_a_view_asks_the_interrupt),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
