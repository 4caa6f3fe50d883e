/* Row orders used by many threads at once, in epochs that replace each other's tables, and by a
 * child that was forked while they were used. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/permutation/random.h"
#include "make_rows.h"
#include "support/emulation.h"
#include "support/sanitizers.h"
#include "unit/order/kinds/check.h"

#include <cmocka.h>

enum { THREADS = 4, DOCUMENTS = 40000, EPOCHS = 4, ROUNDS = 60, BATCH = 16 };

struct shared {
    recmap_order *order;
    recmap_pieces epochs[EPOCHS]; /* what one thread alone found */
    atomic_int failures;
    atomic_uint next_thread;
    atomic_bool should_stop;
};

static bool is_equal(const recmap_pieces *expected, const recmap_pieces *actual, uint64_t first) {
    for (size_t i = 0; i < actual->row_count; i++) {
        size_t a_begin = first + i ? expected->ends[first + i - 1] : 0;
        size_t b_begin = i ? actual->ends[i - 1] : 0;
        size_t count = actual->ends[i] - b_begin;
        if (expected->ends[first + i] - a_begin != count ||
            memcmp(expected->items + a_begin, actual->items + b_begin,
                   count * sizeof *expected->items))
            return false;
    }
    return true;
}

/* Returns true if a batch somewhere in an epoch is as it should be. */
static bool check_batch(struct shared *shared, recmap_pieces *pieces, uint64_t word) {
    uint64_t epoch = word % EPOCHS, positions[BATCH];
    uint64_t first = random_below(word, recmap_order_count(shared->order) - BATCH);
    for (uint64_t i = 0; i < BATCH; i++) positions[i] = first + i;
    return recmap_order_pieces(pieces, shared->order, epoch, positions, BATCH, NULL) == RECMAP_OK &&
           is_equal(&shared->epochs[epoch], pieces, first);
}

static void *read_rows(void *context) {
    struct shared *shared = context;
    uint64_t seed = atomic_fetch_add(&shared->next_thread, 1);
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t word = random_word(seed, round);
        if (!check_batch(shared, &pieces, word)) atomic_fetch_add(&shared->failures, 1);
        if (recmap_order_prepare(shared->order, word >> 32 & 3, NULL) != RECMAP_OK)
            atomic_fetch_add(&shared->failures, 1);
    }
    recmap_pieces_deinit(&pieces);
    return NULL;
}

static void shared_init(struct shared *shared, recmap_order *order) {
    *shared = (struct shared){.order = order};
    for (uint64_t e = 0; e < EPOCHS; e++) shared->epochs[e] = all_pieces(order, e);
}

static void shared_deinit(struct shared *shared) {
    for (int e = 0; e < EPOCHS; e++) recmap_pieces_deinit(&shared->epochs[e]);
}

static void check_shared(recmap_order *order) {
    struct shared shared;
    pthread_t threads[THREADS];
    shared_init(&shared, order);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_rows, &shared), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(shared.failures, 0);
    shared_deinit(&shared);
}

static void make_orders(recmap_order *orders[4]) {
    uint64_t *values = make_values(DOCUMENTS, 300, 6, 1);
    recmap_counts *counts = make_counts(values, DOCUMENTS);
    recmap_chunked_options chunks = RECMAP_CHUNKED_OPTIONS_INIT;
    recmap_packed_options packs = RECMAP_PACKED_OPTIONS_INIT;
    recmap_windows_options slices = RECMAP_WINDOWS_OPTIONS_INIT;
    chunks.size = packs.size = slices.size = 512;
    packs.group = 1000;
    slices.stride = 100;
    slices.pad_before = 500;
    orders[0] = chunked(recmap_counts_retain(counts), &chunks);
    orders[1] = packed(recmap_counts_retain(counts), &packs);
    orders[2] = windows(recmap_counts_retain(counts), &slices);
    const double weights[] = {1, 2, 3};
    MUST(recmap_order_mixture(&orders[3], orders, weights, 3, RECMAP_STOP_FIRST, &error));
    recmap_counts_release(counts);
    free(values);
}

static void test_threads_share_row_orders(void **state) {
    (void)state;
    recmap_order *orders[4];
    make_orders(orders);
    for (int i = 0; i < 4; i++) check_shared(orders[i]);
    for (int i = 0; i < 4; i++) recmap_order_release(orders[i]);
}

/* ---- Fork: the child may find a table that a thread of its parent was making. */

static void *remake_tables(void *context) {
    struct shared *shared = context;
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    uint64_t position = 0;
    for (uint64_t epoch = 0; !atomic_load(&shared->should_stop); epoch++)
        if (recmap_order_pieces(&pieces, shared->order, epoch % EPOCHS, &position, 1, NULL) !=
            RECMAP_OK)
            atomic_fetch_add(&shared->failures, 1);
    recmap_pieces_deinit(&pieces);
    return NULL;
}

static void run_child(struct shared *shared) {
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    bool is_good = true;
    alarm(60); /* a child that never returns must not hold up the test */
    for (uint64_t i = 0; i < 8; i++) is_good = check_batch(shared, &pieces, i) && is_good;
    _exit(is_good ? 0 : 1);
}

static void check_fork(recmap_order *order) {
    struct shared shared;
    pthread_t thread;
    shared_init(&shared, order);
    assert_int_equal(pthread_create(&thread, NULL, remake_tables, &shared), 0);
    for (int i = 0; i < 20; i++) {
        int status = 0;
        pid_t child = fork();
        if (!child) run_child(&shared);
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    atomic_store(&shared.should_stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(shared.failures, 0);
    shared_deinit(&shared);
}

static void test_a_forked_child_computes_rows(void **state) {
    (void)state;
    if (is_emulated(__func__, "a fork may hang while other threads run")) skip();
    /* The child starts threads while the parent may have been starting some: the sanitizers' own
     * locks are not released in it. */
    if (has_address_sanitizer || has_thread_sanitizer) skip();
    recmap_order *orders[4];
    make_orders(orders);
    for (int i = 0; i < 4; i++) check_fork(orders[i]);
    for (int i = 0; i < 4; i++) recmap_order_release(orders[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads_share_row_orders),
                                       cmocka_unit_test(test_a_forked_child_computes_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
