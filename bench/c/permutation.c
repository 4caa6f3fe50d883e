/* What does an index of a shuffled order cost, on each way in which it is computed, forwards and
 * back, and through the public functions?
 *
 * Positions go in batches of 1,024 ascending ones. Times are CPU times of the thread. usage:
 * bench_permutation [REPEATS] */
#include <stdio.h>
#include <stdlib.h>

#include "base/permutation/permutation.h"
#include "measure.h"

#include <recmap/order.h>

enum { BATCH = 1024, ROUNDS = 100 };

typedef void work(void *context, uint64_t *numbers, const uint64_t *positions);

/* ns an index, over ROUNDS batches of neighbouring positions. */
static double time_batches(work *run, void *context, uint64_t n) {
    static uint64_t positions[BATCH], numbers[BATCH];
    uint64_t taken = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < BATCH; i++) positions[i] = (round * BATCH + i) % n;
        uint64_t start = thread_cpu_ns();
        run(context, numbers, positions);
        taken += thread_cpu_ns() - start;
    }
    return (double)taken / ROUNDS / BATCH;
}

static void run_forward(void *context, uint64_t *numbers, const uint64_t *positions) {
    permutation_at(context, numbers, positions, BATCH);
}

static void run_inverse(void *context, uint64_t *numbers, const uint64_t *positions) {
    permutation_inverse(context, numbers, positions, BATCH);
}

/* One epoch's batch through the public function: the keys are computed again. */
static void run_order(void *context, uint64_t *numbers, const uint64_t *positions) {
    recmap_error error = RECMAP_ERROR_INIT;
    must(recmap_order_at(numbers, context, 3, positions, BATCH, &error), &error);
}

/* The same, a call for each index. */
static void run_order_singly(void *context, uint64_t *numbers, const uint64_t *positions) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (int i = 0; i < BATCH; i++)
        must(recmap_order_at(numbers + i, context, 3, positions + i, 1, &error), &error);
}

/* Measures one way and prints its row; returns the samples. */
static void measure(const char *name, uint64_t n, work *run, void *context, int repeats,
                    struct goal goal) {
    struct samples times = {.count = 0};
    time_batches(run, context, n);
    for (int r = 0; r < repeats; r++) samples_add(&times, time_batches(run, context, n));
    print_row(&times, "ns an index", goal, "permutation, n = %llu: %s", (unsigned long long)n,
              name);
}

static void measure_paths(uint64_t n, int repeats) {
    const struct goal wanted[PERMUTATION_PATH_COUNT] = {
        [PERMUTATION_PORTABLE] = AT_MAX(20),
        [PERMUTATION_NEON] = AT_MAX(20),
        [PERMUTATION_AVX2] = AT_MAX(n >= 1000000 ? 5 : 8),
        [PERMUTATION_AVX512] = AT_MAX(n >= 1000000 ? 5 : 8),
    };
    struct permutation permutation;
    permutation_init(&permutation, n, 42, 0, 0);
    for (int i = 0; i < PERMUTATION_PATH_COUNT; i++) {
        enum permutation_path path = (enum permutation_path)i;
        if (!permutation_force(path)) continue;
        measure(permutation_path_name(path), n, run_forward, &permutation, repeats, wanted[i]);
    }
    permutation_force(permutation_best());
    measure("inverse, the best of them", n, run_inverse, &permutation, repeats,
            wanted[permutation_best()]);
}

static void measure_orders(uint64_t n, int repeats) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order, *windowed;
    must(recmap_order_shuffled(&order, n, 42, &error), &error);
    must(recmap_order_windowed(&windowed, n, 100, 100, 42, &error), &error);
    measure("order, shuffled", n, run_order, order, repeats, NO_GOAL);
    measure("order, shuffled, a call each", n, run_order_singly, order, repeats, AT_MAX(1000));
    measure("order, windowed 100 x 100", n, run_order, windowed, repeats, NO_GOAL);
    recmap_order_release(order);
    recmap_order_release(windowed);
}

int main(int argc, char **argv) {
    static const uint64_t sizes[] = {257, 1000, 1000000, 1000000000, 1000000000000};
    int repeats = parse_repeats(argc > 1 ? argv[1] : NULL, 16);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) measure_paths(sizes[i], repeats);
    measure_orders(100, repeats);
    measure_orders(1000000, repeats);
    return 0;
}
