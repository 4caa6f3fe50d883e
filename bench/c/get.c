/* What does a random record cost, against a bare loop that has all addresses in an array and runs
 * the same CRC over the same bytes?
 *
 * Every way gets the same random numbers, in turns, in another order each time. Times are CPU times
 * of the thread. usage: bench_get FOLDER [REPEATS] */
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "random.h"
#include "set.h"
#include "yardstick.h"

enum { GATHERED = 256 };

/* The ways to the same records. */
enum {
    WAY_BARE,
    WAY_GET,
    WAY_GATHER,
    WAY_BARE_BOTH,
    WAY_HEADER,
    WAY_GATHER_HEADER,
    WAY_READ,
    WAY_GATHER_READ,
    WAY_COUNT
};

struct get_bench {
    struct mapped_set bare;
    recmap_dataset *datasets[WAY_COUNT];
    recmap_batch *batch;
    uint64_t *numbers;
    size_t count;
};

static void check_count(uint64_t good, size_t count) {
    if (good == count) return;
    fprintf(stderr, "bench: %llu of %zu records hold\n", (unsigned long long)good, count);
    exit(3);
}

static void get_all(recmap_dataset *dataset, const uint64_t *numbers, size_t count) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record record = {0};
    uint64_t good = 0;
    for (size_t i = 0; i < count; i++) {
        must(recmap_dataset_get(&record, dataset, numbers[i], &error), &error);
        good += record.number == numbers[i];
        recmap_record_release(&record);
    }
    check_count(good, count);
}

static void gather_all(recmap_batch *batch, recmap_dataset *dataset, const uint64_t *numbers,
                       size_t count) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t good = 0;
    for (size_t i = 0; i < count; i += GATHERED) {
        must(recmap_dataset_gather(batch, dataset, numbers + i, GATHERED, &error), &error);
        good += recmap_batch_count(batch);
    }
    recmap_batch_clear(batch);
    check_count(good, count);
}

static double time_way(struct get_bench *bench, int variant) {
    uint64_t start = thread_cpu_ns();
    recmap_dataset *dataset = bench->datasets[variant];
    if (variant == WAY_BARE || variant == WAY_BARE_BOTH)
        check_count(
            mapped_set_check(&bench->bare, bench->numbers, bench->count, variant == WAY_BARE_BOTH),
            bench->count);
    else if (variant == WAY_GATHER || variant == WAY_GATHER_HEADER || variant == WAY_GATHER_READ)
        gather_all(bench->batch, dataset, bench->numbers, bench->count);
    else get_all(dataset, bench->numbers, bench->count);
    return (double)(thread_cpu_ns() - start) / (double)bench->count;
}

static void open_ways(struct get_bench *bench, const char *folder, const char *set) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    mapped_set_open(&bench->bare, folder, set);
    bench->datasets[WAY_GET] = bench->datasets[WAY_GATHER] = set_open(folder, set, false, &options);
    options.check = RECMAP_CHECK_HEADER;
    bench->datasets[WAY_HEADER] = bench->datasets[WAY_GATHER_HEADER] =
        set_open(folder, set, false, &options);
    options.check = RECMAP_CHECK_DATA;
    options.access = RECMAP_ACCESS_READ;
    bench->datasets[WAY_READ] = bench->datasets[WAY_GATHER_READ] =
        set_open(folder, set, false, &options);
    must(recmap_batch_create(&bench->batch, &error), &error);
}

static void close_ways(struct get_bench *bench) {
    recmap_batch_destroy(bench->batch);
    recmap_dataset_close(bench->datasets[WAY_GET]);
    recmap_dataset_close(bench->datasets[WAY_HEADER]);
    recmap_dataset_close(bench->datasets[WAY_READ]);
    mapped_set_close(&bench->bare);
    free(bench->numbers);
}

/* All pages of all maps are in the page tables before anything is timed. */
static void touch_all(struct get_bench *bench, uint64_t records) {
    uint64_t *all = must_have(malloc((records + GATHERED) * sizeof *all));
    for (uint64_t i = 0; i < records; i++) all[i] = i;
    size_t whole = records / GATHERED * GATHERED;
    for (int way = 0; way < WAY_COUNT; way++) {
        if (way == WAY_BARE) mapped_set_check(&bench->bare, all, records, false);
        else if (way == WAY_GET || way == WAY_READ) get_all(bench->datasets[way], all, records);
        else if (way == WAY_HEADER) get_all(bench->datasets[way], all, records);
        else if (way == WAY_GATHER) gather_all(bench->batch, bench->datasets[way], all, whole);
    }
    free(all);
}

static void print_ways(struct samples times[WAY_COUNT], struct samples ratios[WAY_COUNT],
                       const char *set, struct goal get, struct goal gather) {
    static const char *const names[WAY_COUNT] = {
        "bare loop, data CRC",  "get",
        "gather of 256",        "bare loop, both CRCs",
        "get, header CRC only", "gather of 256, header CRC only",
        "get, pread",           "gather of 256, pread"};
    print_row(&times[WAY_BARE], "ns a record", NO_GOAL, "%s: %s", set, names[WAY_BARE]);
    for (int way = WAY_BARE + 1; way < WAY_COUNT; way++) {
        struct goal wanted = way == WAY_GET ? get : way == WAY_GATHER ? gather : NO_GOAL;
        print_row(&ratios[way], "x bare loop", wanted, "%s: %s (%.0f ns)", set, names[way],
                  samples_median(&times[way]));
    }
}

static void shuffle(int *order, int count, uint64_t *seed) {
    for (int i = 0; i < count; i++) {
        int other = (int)random_below(seed, (uint64_t)i + 1);
        order[i] = i;
        order[i] = order[other];
        order[other] = i;
    }
}

static void measure(const char *folder, const char *set, size_t count, int repeats, struct goal get,
                    struct goal gather) {
    struct get_bench bench = {.count = count};
    struct samples times[WAY_COUNT] = {{.count = 0}}, ratios[WAY_COUNT] = {{.count = 0}};
    open_ways(&bench, folder, set);
    uint64_t records = bench.bare.record_count, seed = 1;
    bench.numbers = must_have(malloc(count * sizeof *bench.numbers));
    touch_all(&bench, records);
    for (int r = 0; r <= repeats; r++) {
        for (size_t i = 0; i < count; i++) bench.numbers[i] = random_below(&seed, records);
        double taken[WAY_COUNT];
        int order[WAY_COUNT];
        /* Each method leaves data in the caches, so their order is random. */
        shuffle(order, WAY_COUNT, &seed);
        for (int i = 0; i < WAY_COUNT; i++) taken[order[i]] = time_way(&bench, order[i]);
        for (int way = 0; r && way < WAY_COUNT; way++) {
            samples_add(&times[way], taken[way]);
            samples_add(&ratios[way], taken[way] / taken[WAY_BARE]);
        }
    }
    print_ways(times, ratios, set, get, gather);
    close_ways(&bench);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [REPEATS]\n", argv[0]);
        return 2;
    }
    int repeats = parse_repeats(argv[2], 16);
    measure(argv[1], "small", 256 << 10, repeats, AT_MAX(1.3), AT_MAX(0.4));
    measure(argv[1], "medium", 64 << 10, repeats, AT_MAX(1.3), NO_GOAL);
    measure(argv[1], "large", 8 << 10, repeats, AT_MAX(1.3), NO_GOAL);
    return 0;
}
