/* One order used by many threads at once, in different epochs, and retained and released by all. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/permutation/random.h"
#include "check.h"

#include <cmocka.h>

enum { THREADS = 4, N = 2000, EPOCHS = 4, ROUNDS = 300, PIECE = 64 };

struct shared {
    recmap_order *order;
    uint64_t *epochs[EPOCHS]; /* what one thread alone found */
    atomic_int failures;
    atomic_uint next_thread;
};

static void *iterate(void *context) {
    struct shared *s = context;
    uint64_t seed = atomic_fetch_add(&s->next_thread, 1);
    recmap_order *order = recmap_order_retain(s->order);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t numbers[PIECE], back, word = random_word(seed, round);
        uint64_t epoch = word % EPOCHS;
        uint64_t first = random_below(word, recmap_order_count(order) - PIECE);
        if (recmap_order_read(numbers, order, epoch, first, PIECE, NULL) != RECMAP_OK ||
            memcmp(numbers, s->epochs[epoch] + first, sizeof numbers))
            atomic_fetch_add(&s->failures, 1);
        recmap_status status = recmap_order_position_of(&back, order, epoch, numbers[0], NULL);
        if (status == RECMAP_OK && back != first) atomic_fetch_add(&s->failures, 1);
    }
    recmap_order_release(order);
    return NULL;
}

/* Takes the order over. */
static void check_shared(recmap_order *order) {
    struct shared s = {.order = order};
    pthread_t threads[THREADS];
    for (uint64_t e = 0; e < EPOCHS; e++) s.epochs[e] = whole_epoch(order, e);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, iterate, &s), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(s.failures, 0);
    for (int e = 0; e < EPOCHS; e++) free(s.epochs[e]);
    recmap_order_release(order);
}

static void test_threads_share_orders(void **state) {
    (void)state;
    int64_t labels[N];
    for (uint64_t i = 0; i < N; i++) labels[i] = (int64_t)random_below(random_word(1, i), 9);
    recmap_order *grouped = NULL, *stratified = NULL, *shuffled = NULL, *mixture = NULL;
    MUST(recmap_order_grouped(&grouped, labels, N, 16, 1, &error));
    MUST(recmap_order_stratified(&stratified, labels, N, 16, 1, &error));
    MUST(recmap_order_shuffled(&shuffled, N, 1, &error));
    recmap_order *sources[] = {grouped, stratified, shuffled};
    const double weights[] = {1, 2, 3};
    MUST(recmap_order_mixture(&mixture, sources, weights, 3, RECMAP_STOP_LAST, &error));
    check_shared(mixture);
    check_shared(grouped);
    check_shared(stratified);
    check_shared(shuffled);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads_share_orders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
