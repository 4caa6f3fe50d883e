/* What does a run of 4,096 ranks cost one of them, beside a run of one? The records of a step, the
 * state, and the time from opening the data set to the first batch.
 *
 * Ranks do not talk to each other, so they are measured one after another in this process: RANKS of
 * them, spread evenly over the run. Each opens the data set itself.
 *
 * usage: bench_ranks FOLDER [REPEATS] */
#include <stdio.h>
#include <stdlib.h>

#include <recmap/recmap.h>

#include "measure.h"
#include "set.h"

enum { BATCH = 256, RANKS = 64, STEPS = 16, RUNS = 3 };

static const uint32_t world_sizes[RUNS] = {1, 64, 4096};

/* Longer than any data set, so that each of many ranks has many steps. */
#define RECORDS UINT64_C(10000000000)

/* CPU time for the numbers of one record, over some steps of some ranks. */
static double time_numbers(const recmap_order *order, uint32_t world_size, uint64_t epoch) {
    static uint64_t numbers[BATCH];
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_deal_options options = RECMAP_DEAL_OPTIONS_INIT;
    recmap_deal deal;
    recmap_share share;
    options.world_size = world_size;
    options.batch_size = BATCH;
    uint64_t start = thread_cpu_ns();
    must(recmap_deal_init(&deal, order, epoch, 0, &options, &error), &error);
    for (uint32_t i = 0; i < RANKS; i++)
        for (uint64_t step = 0; step < STEPS; step++) {
            uint32_t rank = (uint32_t)((uint64_t)i * world_size / RANKS);
            uint64_t number = step * (deal.step_count - 1) / STEPS;
            must(recmap_deal_share(&share, &deal, number, rank, &error), &error);
            must(recmap_deal_numbers(numbers, &deal, &share, &error), &error);
        }
    return (double)(thread_cpu_ns() - start) / (RANKS * STEPS * BATCH);
}

/* The runs take turns, so that other users of the machine slow down all of them. */
static void measure_numbers(int repeats) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order;
    struct samples times[RUNS] = {{.count = 0}}, ratios[RUNS] = {{.count = 0}};
    must(recmap_order_shuffled(&order, RECORDS, 1, &error), &error);
    for (int r = 0; r < repeats; r++)
        for (int i = 0; i < RUNS; i++) {
            samples_add(&times[i], time_numbers(order, world_sizes[i], (uint64_t)r));
            samples_add(&ratios[i], times[i].values[r] / times[0].values[r]);
        }
    for (int i = 0; i < RUNS; i++)
        print_row(&times[i], "ns a record", NO_GOAL, "numbers of a step, %u ranks", world_sizes[i]);
    for (int i = 1; i < RUNS; i++)
        print_row(&ratios[i], "x one rank", AT_MAX(1.1), "numbers of a step, %u ranks",
                  world_sizes[i]);
    recmap_order_release(order);
}

/* From nothing to the first batch of a rank. Sets the size of its state as JSON. */
static double time_first(size_t *state_size, const char *folder, const char *set, uint32_t rank,
                         uint32_t world_size) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    recmap_batch *batch = NULL;
    recmap_order *order;
    recmap_loader *loader;
    recmap_state *state;
    recmap_text json = {0};
    options.rank = rank;
    options.world_size = world_size;
    options.batch_size = BATCH;
    uint64_t start = now_ns();
    recmap_dataset *dataset = set_open(folder, set, false, NULL);
    must(recmap_order_shuffled(&order, recmap_dataset_count(dataset), 1, &error), &error);
    must(recmap_loader_create(&loader, dataset, order, &options, &error), &error);
    must(recmap_loader_next(&batch, loader, &error), &error);
    double taken = (double)(now_ns() - start) / 1e6;
    must(recmap_loader_save(&state, loader, &error), &error);
    must(recmap_state_to_json(&json, state, &error), &error);
    *state_size = json.size;
    recmap_text_deinit(&json);
    recmap_state_destroy(state);
    recmap_batch_destroy(batch);
    recmap_loader_destroy(loader);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    return taken;
}

static void measure_first(const char *folder, const char *set, uint32_t world_size) {
    struct samples times = {.count = 0}, sizes = times;
    size_t size;
    time_first(&size, folder, set, 0, world_size); /* builds the index, if there is none */
    for (uint32_t i = 0; i < RANKS; i++) {
        uint32_t rank = (uint32_t)((uint64_t)i * world_size / RANKS);
        samples_add(&times, time_first(&size, folder, set, rank, world_size));
        samples_add(&sizes, (double)size);
    }
    print_row(&times, "ms", AT_MAX(2000), "%s: opened, to the first batch, %u ranks", set,
              world_size);
    print_row(&sizes, "bytes", NO_GOAL, "%s: state of %u ranks", set, world_size);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [REPEATS]\n", argv[0]);
        return 2;
    }
    measure_numbers(parse_repeats(argv[2], 16));
    for (int i = 0; i < RUNS; i++) measure_first(argv[1], "small", world_sizes[i]);
    return 0;
}
