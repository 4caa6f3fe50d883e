/* What does an index of a shuffled order cost, on each way in which it is computed, forwards and
 * back, against a plain loop over the same rounds, one index after the other?
 *
 * Positions go in batches of 1,024 ascending ones. Times are those of the thread on its core.
 * usage: bench_permutation [REPEATS] */
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "order/permutation.h"

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

static void run_singly(void *context, uint64_t *numbers, const uint64_t *positions) {
    for (int i = 0; i < BATCH; i++) numbers[i] = permutation_at_one(context, positions[i]);
}

/* One epoch's batch through the public function: the keys are made anew. */
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
                    goal wanted) {
    samples times = {.count = 0};
    time_batches(run, context, n);
    for (int r = 0; r < repeats; r++) samples_add(&times, time_batches(run, context, n));
    print_row(&times, "ns an index", wanted, "n = %llu: %s", (unsigned long long)n, name);
}

/* What is wanted of a path: in plain C nothing is promised of what a compiler makes of it. */
static goal goal_of(permutation_path path, uint64_t n) {
    bool is_large = n >= 1000000;
    switch (path) {
    case PERMUTATION_AVX2:
    case PERMUTATION_AVX512: return AT_MOST(is_large ? 5 : 8);
    case PERMUTATION_SSE2: return is_large ? AT_MOST(10) : NO_GOAL;
    default: return is_large ? AT_MOST(20) : NO_GOAL;
    }
}

static void measure_paths(uint64_t n, int repeats) {
    char name[64];
    permutation p;
    permutation_init(&p, n, 42, 0, 0);
    for (int i = 0; i < PERMUTATION_PATH_COUNT; i++) {
        permutation_path path = (permutation_path)i;
        if (!permutation_force(path)) continue;
        snprintf(name, sizeof name, "%s", permutation_path_name(path));
        measure(name, n, run_forward, &p, repeats, goal_of(path, n));
        snprintf(name, sizeof name, "%s, inverse", permutation_path_name(path));
        measure(name, n, run_inverse, &p, repeats, goal_of(path, n));
    }
    permutation_force(permutation_best());
    measure("plain loop, one by one", n, run_singly, &p, repeats, NO_GOAL);
}

static void measure_orders(uint64_t n, int repeats) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order, *windowed;
    must(recmap_order_shuffled(&order, n, 42, &error), &error);
    must(recmap_order_windowed(&windowed, n, 100, 100, 42, &error), &error);
    measure("order, shuffled", n, run_order, order, repeats, NO_GOAL);
    measure("order, shuffled, a call each", n, run_order_singly, order, repeats, AT_MOST(1000));
    measure("order, windowed 100 x 100", n, run_order, windowed, repeats, NO_GOAL);
    recmap_order_release(order);
    recmap_order_release(windowed);
}

int main(int argc, char **argv) {
    static const uint64_t sizes[] = {100,   256,     257,        1000,          4097,
                                     65537, 1000000, 1000000007, 1000000000000, (uint64_t)1 << 62};
    int repeats = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 16;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i] > PERMUTATION_TABLE_MOST) measure_paths(sizes[i], repeats);
        measure_orders(sizes[i], repeats);
    }
    return 0;
}
