/* How fast are shuffled batches of data that is in memory, through the loader, every CRC checked?
 * How long does a run take to its first batch, from the start and resumed in the middle, and what
 * does a state cost?
 *
 * usage: bench_loader FOLDER [REPEATS] */
#include <stdio.h>
#include <stdlib.h>

#include <recmap/recmap.h>

#include "base/os/thread.h"
#include "measure.h"
#include "set.h"
#include "yardstick.h"

enum { BATCH = 256 };

struct loader_bench {
    recmap_dataset *dataset;
    recmap_order *order;
    recmap_loader_options options;
};

static void bench_open(struct loader_bench *bench, const char *folder, const char *set) {
    recmap_error error = RECMAP_ERROR_INIT;
    bench->dataset = set_open(folder, set, false, NULL);
    bench->options = (recmap_loader_options)RECMAP_LOADER_OPTIONS_INIT;
    bench->options.batch_size = BATCH;
    must(recmap_order_shuffled(&bench->order, recmap_dataset_count(bench->dataset), 1, &error),
         &error);
}

static void bench_close(struct loader_bench *bench) {
    recmap_order_release(bench->order);
    recmap_dataset_close(bench->dataset);
}

static recmap_loader *make_loader(const struct loader_bench *bench, uint64_t epoch,
                                  uint64_t position) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader *loader;
    must(recmap_loader_create(&loader, bench->dataset, bench->order, &bench->options, &error),
         &error);
    must(recmap_loader_seek(loader, epoch, position, &error), &error);
    return loader;
}

/* Records to the end of the epoch. */
static uint64_t iterate(recmap_loader *loader) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch = NULL;
    uint64_t count = 0;
    do {
        must(recmap_loader_next(&batch, loader, &error), &error);
        if (batch) count += recmap_batch_count(batch);
    } while (batch);
    return count;
}

struct taken_time {
    double cpu_ns; /* a record, all threads together */
    double wall_ns;
};

static struct taken_time time_epoch(struct loader_bench *bench, unsigned threads,
                                    recmap_readahead readahead, uint64_t epoch) {
    bench->options.thread_count = threads;
    bench->options.readahead = readahead;
    recmap_loader *loader = make_loader(bench, epoch, 0);
    uint64_t cpu = process_cpu_ns(), wall = now_ns();
    double count = (double)iterate(loader);
    struct taken_time taken = {(double)(process_cpu_ns() - cpu) / count,
                               (double)(now_ns() - wall) / count};
    recmap_loader_destroy(loader);
    return taken;
}

/* The CRCs of all records in file order, a record. */
static double time_crc(const struct mapped_set *set, const uint64_t *numbers) {
    uint64_t start = thread_cpu_ns();
    if (mapped_set_check(set, numbers, set->record_count, false) != set->record_count) abort();
    return (double)(thread_cpu_ns() - start) / (double)set->record_count;
}

static void measure_warm(const char *folder, const char *set, int repeats, struct goal rate,
                         struct goal share) {
    struct loader_bench bench;
    struct mapped_set bare;
    struct samples one = {.count = 0}, all = one, ratio = one, sampling = one;
    unsigned cores = core_count();
    bench_open(&bench, folder, set);
    mapped_set_open(&bare, folder, set);
    uint64_t *numbers = must_have(malloc((bare.record_count + 1) * sizeof *numbers));
    for (uint64_t i = 0; i < bare.record_count; i++) numbers[i] = i;
    for (int r = 0; r <= repeats; r++) {
        uint64_t epoch = (uint64_t)r;
        double crc = time_crc(&bare, numbers);
        struct taken_time single = time_epoch(&bench, 1, RECMAP_READAHEAD_AUTO, epoch);
        struct taken_time off = time_epoch(&bench, 1, RECMAP_READAHEAD_OFF, epoch);
        struct taken_time wide = time_epoch(&bench, cores, RECMAP_READAHEAD_AUTO, epoch);
        if (!r) continue; /* the first time brings all pages into the page tables */
        samples_add(&one, 1e3 / single.cpu_ns);
        samples_add(&all, 1e3 / wide.wall_ns);
        samples_add(&ratio, crc / single.cpu_ns);
        samples_add(&sampling, single.cpu_ns / off.cpu_ns);
    }
    print_row(&one, "million records/s", rate, "%s: loader, shuffled batches, a core", set);
    print_row(&all, "million records/s", NO_GOAL, "%s: loader, %u threads, on the clock", set,
              cores);
    print_row(&ratio, "x data CRC alone, in file order", share, "%s: loader, rate a core", set);
    print_row(&sampling, "x without", AT_MAX(1.05), "%s: loader, time that readahead costs", set);
    free(numbers);
    mapped_set_close(&bare);
    bench_close(&bench);
}

/* From nothing to the first batch in hand: loader, state, threads, records. */
static double time_first(const struct loader_bench *bench, uint64_t position) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch = NULL;
    recmap_state *state;
    recmap_loader *saved = make_loader(bench, 0, position), *loader;
    must(recmap_loader_save(&state, saved, &error), &error);
    uint64_t start = now_ns();
    must(recmap_loader_create(&loader, bench->dataset, bench->order, &bench->options, &error),
         &error);
    must(recmap_loader_load(loader, state, &error), &error);
    must(recmap_loader_next(&batch, loader, &error), &error);
    double taken = (double)(now_ns() - start) / 1e3;
    recmap_batch_destroy(batch);
    recmap_loader_destroy(loader);
    recmap_loader_destroy(saved);
    recmap_state_destroy(state);
    return taken;
}

/* Compares the time to the first batch at the start of an epoch and in its middle. Both are
 * averaged over 50 loaders, alternately. */
static void measure_resume(const char *folder, const char *set, int repeats) {
    struct loader_bench bench;
    struct samples start = {.count = 0}, middle = start, ratio = start;
    bench_open(&bench, folder, set);
    uint64_t half = recmap_dataset_count(bench.dataset) / 2;
    for (int r = 0; r <= repeats; r++) {
        double tries = 50, at_start = 0, at_half = 0;
        for (int i = 0; i < (int)tries; i++) {
            at_start += time_first(&bench, 0) / tries;
            at_half += time_first(&bench, half) / tries;
        }
        if (!r) continue;
        samples_add(&start, at_start);
        samples_add(&middle, at_half);
        samples_add(&ratio, at_half / at_start);
    }
    print_row(&start, "us", NO_GOAL, "%s: first batch, from the start", set);
    print_row(&middle, "us", AT_MAX(1000), "%s: first batch, resumed in the middle", set);
    print_row(&ratio, "x from the start", AT_MAX(1.2), "%s: first batch, resumed", set);
    bench_close(&bench);
}

struct state_times {
    double save_ns, load_ns;
    size_t size;
};

/* Saves the loader's state as JSON, and loads it, many times. */
static struct state_times time_state(recmap_loader *loader) {
    enum { TRIES = 2000 };
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_text json = {0};
    struct state_times taken = {0};
    for (int i = 0; i < TRIES; i++) {
        recmap_state *state;
        recmap_text_deinit(&json);
        uint64_t start = thread_cpu_ns();
        must(recmap_loader_save(&state, loader, &error), &error);
        must(recmap_state_to_json(&json, state, &error), &error);
        uint64_t saved = thread_cpu_ns();
        recmap_state_destroy(state);
        uint64_t begun = thread_cpu_ns();
        must(recmap_state_from_json(&state, json.data, json.size, &error), &error);
        must(recmap_loader_load(loader, state, &error), &error);
        taken.load_ns += (double)(thread_cpu_ns() - begun) / TRIES;
        taken.save_ns += (double)(saved - start) / TRIES;
        recmap_state_destroy(state);
    }
    taken.size = json.size;
    recmap_text_deinit(&json);
    return taken;
}

/* Saves and loads the state at the start and in the middle of an epoch. Size and time must not
 * depend on the position. */
static void measure_state(const char *folder, const char *set, int repeats) {
    struct loader_bench bench;
    struct samples save = {.count = 0}, load = save, ratio = save, size = save;
    bench_open(&bench, folder, set);
    uint64_t half = recmap_dataset_count(bench.dataset) / 2;
    recmap_loader *at_start = make_loader(&bench, 0, 0), *at_half = make_loader(&bench, 0, half);
    for (int r = 0; r <= repeats; r++) {
        struct state_times start = time_state(at_start), middle = time_state(at_half);
        if (!r) continue;
        samples_add(&save, middle.save_ns);
        samples_add(&load, middle.load_ns);
        samples_add(&ratio, middle.load_ns / start.load_ns);
        if (r == 1) samples_add(&size, (double)middle.size);
    }
    print_row(&size, "bytes", AT_MAX(300), "%s: state of a shuffled run, size", set);
    print_row(&save, "ns", NO_GOAL, "%s: state, saving it", set);
    print_row(&load, "ns", NO_GOAL, "%s: state, loading it in the middle", set);
    print_row(&ratio, "x at the start", AT_MAX(1.2), "%s: state, loading it in the middle", set);
    recmap_loader_destroy(at_half);
    recmap_loader_destroy(at_start);
    bench_close(&bench);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [REPEATS]\n", argv[0]);
        return 2;
    }
    int repeats = parse_repeats(argv[2], 8);
    measure_warm(argv[1], "small", repeats, AT_MIN(4), NO_GOAL);
    measure_warm(argv[1], "medium", repeats, AT_MIN(1), NO_GOAL);
    measure_warm(argv[1], "large", repeats, NO_GOAL, AT_MIN(0.7));
    measure_resume(argv[1], "small", repeats);
    measure_state(argv[1], "small", repeats);
    return 0;
}
