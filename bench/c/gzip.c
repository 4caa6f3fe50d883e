/* GZIP shards: what do indexing, single records and epochs cost against inflating alone?
 *
 * The baselines run alternately with them, in the same process: see inflating.h. All spans of the
 * set fit in the span cache; bench_spans measures sets that do not.
 * FOLDER/SET holds compressed shards (bench/run makes them).
 *
 * usage: bench_gzip FOLDER SET [REPEATS [index|get|windowed|shuffled]...] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/thread.h"
#include "epoch.h"
#include "inflating.h"
#include "measure.h"
#include "random.h"
#include "set.h"

enum { GETS = 20, SPANS_A_BLOCK = 4 };

struct bench {
    const char *folder, *set;
    int repeats;
    char index_path[SET_PATH_SIZE];
};

static void build(const struct bench *bench, unsigned threads) {
    recmap_index_summary summary;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.thread_count = threads;
    set_build(&summary, bench->folder, bench->set, bench->index_path, &options);
}

static void measure_index(const struct bench *bench, unsigned threads) {
    struct samples cpu = {.count = 0}, wall = {.count = 0}, rates = {.count = 0};
    for (int r = 0; r <= bench->repeats; r++) {
        uint64_t at = process_cpu_ns(), clock = now_ns();
        uint64_t size = inflate_set(bench->folder, bench->set, threads);
        double bare = (double)(process_cpu_ns() - at), bare_wall = (double)(now_ns() - clock);
        at = process_cpu_ns(), clock = now_ns();
        build(bench, threads);
        double took = (double)(process_cpu_ns() - at);
        if (r == 0) continue; /* warms the page cache */
        samples_add(&cpu, bare / took);
        samples_add(&wall, bare_wall / (double)(now_ns() - clock));
        samples_add(&rates, (double)size / (double)took * 1e3);
    }
    char label[128];
    snprintf(label, sizeof label, "index %s, %u thread%s", bench->set, threads,
             threads == 1 ? "" : "s");
    print_row(&rates, "MB/s and core", NO_GOAL, "%s: inflated bytes", label);
    print_row(&cpu, "x inflating + CRC", AT_MIN(0.9), "%s: rate by time on cores", label);
    print_row(&wall, "x inflating + CRC", NO_GOAL, "%s: rate by the clock", label);
}

static recmap_dataset *open_set(const struct bench *bench) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset;
    must(recmap_dataset_open(&dataset, bench->index_path, NULL, &error), &error);
    return dataset;
}

/* A record of the first shard, that far into it: fetched from a data set that was just opened, so
 * that no span is there yet, and reached by inflating all that lies before it. */
static double time_get(double *reading, const struct bench *bench, uint64_t percent,
                       uint64_t *seed) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_set(bench);
    recmap_shard_info shard;
    recmap_location place;
    recmap_record record;
    must(recmap_dataset_get_shard(&shard, dataset, 0, &error), &error);
    uint64_t count = shard.record_count / 100 + 1;
    uint64_t number = count * percent - random_below(seed, count) - 1;
    must(recmap_dataset_locate(&place, dataset, number, 1, &error), &error);
    uint64_t begun = thread_cpu_ns();
    must(recmap_dataset_get(&record, dataset, number, &error), &error);
    double took = (double)(thread_cpu_ns() - begun);
    recmap_record_release(&record);
    char path[SET_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", bench->folder, shard.path);
    begun = thread_cpu_ns();
    inflate_file(path, place.offset + place.size, false);
    *reading = (double)(thread_cpu_ns() - begun);
    recmap_dataset_close(dataset);
    return took;
}

static void measure_get(const struct bench *bench) {
    static const uint64_t percents[] = {10, 50, 90};
    uint64_t seed = 5;
    for (size_t p = 0; p < sizeof percents / sizeof *percents; p++) {
        struct samples times = {.count = 0}, ratios = {.count = 0};
        for (int i = 0; i < GETS; i++) {
            double reading, took = time_get(&reading, bench, percents[p], &seed);
            samples_add(&times, took / 1e6);
            samples_add(&ratios, reading / took);
        }
        unsigned percent = (unsigned)percents[p];
        print_row(&times, "ms", NO_GOAL, "%s: get, %u %% into a shard", bench->set, percent);
        print_row(&ratios, "x as fast as inflating up to it", NO_GOAL,
                  "%s: get, %u %% into a shard", bench->set, percent);
    }
}

/* Each round inflates the set without the library and then reads an epoch. The ratio shows the cost
 * of random access; the number of inflated spans shows whether a span is inflated more than once.
 * */
static void measure_epoch(const struct bench *bench, bool is_windowed) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct samples ratios = {.count = 0}, times = {.count = 0}, spans = {.count = 0};
    const char *kind = is_windowed ? "windowed" : "shuffled";
    for (int r = 0; r <= bench->repeats; r++) {
        uint64_t begun = process_cpu_ns();
        inflate_set(bench->folder, bench->set, 1);
        double bare = (double)(process_cpu_ns() - begun);
        recmap_dataset *dataset = open_set(bench);
        recmap_order *order =
            epoch_order(dataset, is_windowed ? epoch_block(dataset, SPANS_A_BLOCK) : 0);
        recmap_span_info info;
        double took = epoch_iterate(dataset, order, 1);
        must(recmap_dataset_get_span_info(&info, dataset, &error), &error);
        uint64_t inflated = recmap_dataset_span_statistics(dataset).inflate_count;
        uint64_t count = recmap_dataset_count(dataset);
        recmap_order_release(order);
        recmap_dataset_close(dataset);
        if (r == 0) continue;
        samples_add(&times, took / (double)count);
        samples_add(&ratios, bare / took);
        samples_add(&spans, (double)inflated / (double)info.span_count);
    }
    print_row(&times, "ns a record", NO_GOAL, "%s: a %s epoch, a core", bench->set, kind);
    print_row(&ratios, "x inflating + CRC", NO_GOAL, "%s: a %s epoch, a core", bench->set, kind);
    print_row(&spans, "times", NO_GOAL, "%s: a %s epoch: a span is inflated", bench->set, kind);
}

static bool is_asked(const char *name, int argc, char **argv) {
    for (int i = 4; i < argc; i++)
        if (!strcmp(argv[i], name)) return true;
    return argc <= 4;
}

/* The set is indexed first, measured if asked for. The measurements named on the command line
 * follow, or all of them. */
int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: bench_gzip FOLDER SET [REPEATS "
                        "[index|get|windowed|shuffled]...]\n");
        return 2;
    }
    struct bench of = {.folder = argv[1], .set = argv[2], .repeats = parse_repeats(argv[3], 5)};
    set_index_path(of.index_path, of.folder, of.set, "");
    unsigned cores = core_count();
    if (is_asked("index", argc, argv)) {
        measure_index(&of, 1);
        if (cores > 1) measure_index(&of, cores);
    } else {
        build(&of, cores);
    }
    if (is_asked("get", argc, argv)) measure_get(&of);
    if (is_asked("windowed", argc, argv)) measure_epoch(&of, true);
    if (is_asked("shuffled", argc, argv)) measure_epoch(&of, false);
    return 0;
}
