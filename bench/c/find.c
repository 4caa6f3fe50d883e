/* What does finding a record by its id cost, against getting it by its number?
 *
 * usage: bench_find FOLDER [REPEATS] */
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "random.h"
#include "set.h"

enum { COUNT = 64 << 10, ID_SIZE = 13 };

struct find_bench {
    recmap_dataset *dataset;
    char (*ids)[ID_SIZE + 1];
    uint64_t *numbers;
};

static void choose(struct find_bench *bench, uint64_t *seed) {
    for (size_t i = 0; i < COUNT; i++) {
        bench->numbers[i] = random_below(seed, recmap_dataset_count(bench->dataset));
        snprintf(bench->ids[i], sizeof *bench->ids, "img-%09u", (unsigned)bench->numbers[i]);
    }
}

static double time_find(const struct find_bench *bench) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t start = thread_cpu_ns();
    for (size_t i = 0; i < COUNT; i++) {
        recmap_value id = {.type = RECMAP_TYPE_BYTES};
        id.as.bytes.data = (const uint8_t *)bench->ids[i];
        id.as.bytes.size = ID_SIZE;
        uint64_t number;
        must(recmap_dataset_find(&number, bench->dataset, &id, &error), &error);
        if (number != bench->numbers[i]) abort();
    }
    return (double)(thread_cpu_ns() - start) / COUNT;
}

static double time_get(const struct find_bench *bench) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t start = thread_cpu_ns();
    for (size_t i = 0; i < COUNT; i++) {
        recmap_record record;
        must(recmap_dataset_get(&record, bench->dataset, bench->numbers[i], &error), &error);
        recmap_record_release(&record);
    }
    return (double)(thread_cpu_ns() - start) / COUNT;
}

/* Measures find and get alternately and in changing order, so that a drift of the machine's speed
 * affects both. The ratio of both is the result; the first round is discarded. */
int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [REPEATS]\n", argv[0]);
        return 2;
    }
    int repeats = parse_repeats(argv[2], 9);
    struct find_bench bench = {
        .dataset = set_open(argv[1], "small", true, NULL),
        .ids = must_have(malloc(COUNT * sizeof *bench.ids)),
        .numbers = must_have(malloc(COUNT * sizeof *bench.numbers)),
    };
    struct samples times = {.count = 0}, ratios = {.count = 0};
    uint64_t seed = 1;
    for (int r = 0; r <= repeats; r++) {
        choose(&bench, &seed);
        double find, get;
        if (r % 2) find = time_find(&bench), get = time_get(&bench);
        else get = time_get(&bench), find = time_find(&bench);
        if (r == 0) continue;
        samples_add(&times, find);
        samples_add(&ratios, find / get);
    }
    print_row(&ratios, "x get", NO_GOAL, "small: find by a random id (%.0f ns)",
              samples_median(&times));
    recmap_dataset_close(bench.dataset);
    free(bench.ids);
    free(bench.numbers);
    return 0;
}
