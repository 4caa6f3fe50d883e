/* Compressed shards that inflate to more than is kept of them: what does a true shuffle cost, and
 * what an order of windows, against inflating alone?
 *
 * FOLDER/SET holds compressed shards (bench/run makes them); FOLDER/SET-large gets the same ones
 * under as many names as it takes to inflate to twice what is kept. They share their bytes on disk
 * and in the page cache, and each name is inflated for itself. usage: bench_spans FOLDER SET
 * [REPEATS] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "epoch.h"
#include "inflating.h"
#include "measure.h"
#include "set.h"

enum { LARGER = 2, SHUFFLED_BATCHES = 4 };

struct bench {
    const char *folder, *set;
    char large[64];
    int repeats;
    double bare; /* ns on a core to inflate a record, with both checksums */
    recmap_span_info info;
    recmap_dataset *dataset;
};

static void link_once(const char *path, const char *folder, unsigned copy) {
    char to[2 * SET_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    snprintf(to, sizeof to, "%s/%05u-%s", folder, copy, slash ? slash + 1 : path);
    if (!link(path, to) || errno == EEXIST) return;
    perror(to);
    exit(4);
}

/* Gives all shards of the set so many names. */
static void make_large(const struct bench *bench, unsigned copies) {
    char folder[SET_PATH_SIZE];
    recmap_shards *shards;
    if (!set_find(&shards, bench->folder, bench->set)) exit(2);
    snprintf(folder, sizeof folder, "%s/%s", bench->folder, bench->large);
    mkdir(folder, 0777);
    for (unsigned copy = 0; copy < copies; copy++)
        for (size_t i = 0; i < recmap_shards_count(shards); i++)
            link_once(recmap_shards_path(shards, i), folder, copy);
    recmap_shards_destroy(shards);
}

static recmap_dataset *build_and_open(const struct bench *bench, const char *set) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    recmap_dataset *dataset;
    char path[SET_PATH_SIZE];
    set_index_path(path, bench->folder, set, "");
    set_build(NULL, bench->folder, set, path, &options);
    must(recmap_dataset_open(&dataset, path, NULL, &error), &error);
    return dataset;
}

static void prepare(struct bench *bench) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *small = build_and_open(bench, bench->set);
    must(recmap_dataset_get_span_info(&bench->info, small, &error), &error);
    make_large(bench, (unsigned)(LARGER * bench->info.keep_size / bench->info.inflated_size + 1));
    recmap_dataset_close(small);
    bench->dataset = build_and_open(bench, bench->large);
    must(recmap_dataset_get_span_info(&bench->info, bench->dataset, &error), &error);
}

static double inflate_alone(const struct bench *bench) {
    uint64_t begun = process_cpu_ns();
    inflate_set(bench->folder, bench->large, 1);
    return (double)(process_cpu_ns() - begun) / (double)recmap_dataset_count(bench->dataset);
}

static void gather_some(const struct bench *bench, recmap_batch *batch, recmap_order *order,
                        uint64_t *position) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t positions[EPOCH_BATCH], numbers[EPOCH_BATCH];
    for (int b = 0; b < SHUFFLED_BATCHES; b++) {
        for (int i = 0; i < EPOCH_BATCH; i++) positions[i] = (*position)++;
        must(recmap_order_at(numbers, order, 0, positions, EPOCH_BATCH, &error), &error);
        must(recmap_dataset_gather(batch, bench->dataset, numbers, EPOCH_BATCH, &error), &error);
    }
}

/* An epoch of a true shuffle would take hours: some batches of one, once all is kept that can be.
 * The records of a batch that lie in one span have it inflated once. */
static void measure_shuffle(const struct bench *bench) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct samples times = {.count = 0}, ratios = {.count = 0}, spans = {.count = 0};
    recmap_order *order = epoch_order(bench->dataset, 0);
    recmap_batch *batch;
    uint64_t at = 0;
    must(recmap_batch_create(&batch, &error), &error);
    while (!recmap_dataset_span_statistics(bench->dataset).evict_count)
        gather_some(bench, batch, order, &at);
    for (int r = 0; r < bench->repeats; r++) {
        uint64_t before = recmap_dataset_span_statistics(bench->dataset).inflate_count;
        uint64_t begun = process_cpu_ns();
        gather_some(bench, batch, order, &at);
        double count = SHUFFLED_BATCHES * EPOCH_BATCH;
        double took = (double)(process_cpu_ns() - begun) / count;
        uint64_t after = recmap_dataset_span_statistics(bench->dataset).inflate_count;
        samples_add(&times, took / 1e3);
        samples_add(&ratios, took / bench->bare);
        samples_add(&spans, (double)(after - before) / count);
    }
    print_row(&times, "us a record", NO_GOAL, "%s: a true shuffle", bench->large);
    print_row(&ratios, "x the time of inflating + CRC", NO_GOAL, "%s: a true shuffle",
              bench->large);
    print_row(&spans, "spans a record", NO_GOAL, "%s: a true shuffle", bench->large);
    recmap_batch_destroy(batch);
    recmap_order_release(order);
}

static void measure_windows(const struct bench *bench, unsigned span_count) {
    struct samples ratios = {.count = 0}, spans = {.count = 0};
    recmap_order *order = epoch_order(bench->dataset, epoch_block(bench->dataset, span_count));
    uint64_t before = recmap_dataset_span_statistics(bench->dataset).inflate_count;
    double took = epoch_iterate(bench->dataset, order, 1) /
                  (double)recmap_dataset_count(bench->dataset);
    uint64_t after = recmap_dataset_span_statistics(bench->dataset).inflate_count;
    samples_add(&ratios, bench->bare / took);
    samples_add(&spans, (double)(after - before) / (double)bench->info.span_count);
    print_row(&ratios, "x inflating + CRC", NO_GOAL, "%s: an epoch, blocks of %u span%s, a core",
              bench->large, span_count, span_count == 1 ? "" : "s");
    print_row(&spans, "times", NO_GOAL, "%s: an epoch, blocks of %u span%s: a span is inflated",
              bench->large, span_count, span_count == 1 ? "" : "s");
    recmap_order_release(order);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: bench_spans FOLDER SET [REPEATS]\n");
        return 2;
    }
    struct bench of = {.folder = argv[1], .set = argv[2], .repeats = parse_repeats(argv[3], 5)};
    snprintf(of.large, sizeof of.large, "%s-large", of.set);
    prepare(&of);
    of.bare = inflate_alone(&of);
    struct samples size = {.count = 0};
    samples_add(&size, (double)of.info.inflated_size / (double)(1 << 30));
    print_row(&size, "GiB", NO_GOAL, "%s: inflated", of.large);
    measure_windows(&of, 1);
    measure_windows(&of, 4);
    measure_shuffle(&of);
    recmap_dataset_close(of.dataset);
    return 0;
}
