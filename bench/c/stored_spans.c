/* Compressed shards through a cache on the local disk, in a true shuffle that keeps no span in
 * memory: the first epoch, which inflates and stores each span, and the second one, against an
 * epoch over plain shards of the same records.
 *
 * FOLDER/SET holds compressed shards (bench/run makes them); FOLDER/SET-plain gets the plain ones,
 * FOLDER/SET-cache the cache. usage: bench_stored_spans FOLDER SET [REPEATS] */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "epoch.h"
#include "inflating.h"
#include "measure.h"
#include "set.h"

enum { PIECE = 1 << 20, NAME_SIZE = 128 };

struct bench {
    const char *folder, *set;
    char plain_set[NAME_SIZE], cache[SET_PATH_SIZE];
    recmap_dataset *plain;
    recmap_span_info info;
    struct samples second, first, inflated, plain_ns, second_ns;
};

static void write_record(recmap_writer *writer, recmap_dataset *dataset, uint64_t number) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record record;
    must(recmap_dataset_get(&record, dataset, number, &error), &error);
    must(recmap_writer_write(writer, record.data, record.size, &error), &error);
    recmap_record_release(&record);
}

static void write_shard(const struct bench *bench, recmap_dataset *dataset, unsigned i,
                        unsigned count) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_writer *writer;
    char path[SET_PATH_SIZE];
    uint64_t total = recmap_dataset_count(dataset);
    set_shard_path(path, bench->folder, bench->plain_set, i, count);
    must(recmap_writer_create(&writer, path, NULL, &error), &error);
    for (uint64_t r = total * i / count; r < total * (i + 1) / count; r++)
        write_record(writer, dataset, r);
    must(recmap_writer_finish(writer, &error), &error);
    recmap_writer_destroy(writer);
}

/* The records of the set in plain shards, unless they are there. */
static void make_plain(const struct bench *bench, recmap_dataset *dataset) {
    char folder[2 * SET_PATH_SIZE];
    recmap_shards *shards;
    if (set_find(&shards, bench->folder, bench->plain_set)) {
        recmap_shards_destroy(shards);
        return;
    }
    snprintf(folder, sizeof folder, "%s/%s", bench->folder, bench->plain_set);
    mkdir(folder, 0777);
    for (unsigned i = 0; i < SET_SHARD_COUNT; i++) write_shard(bench, dataset, i, SET_SHARD_COUNT);
}

static void clear_cache(const struct bench *bench) {
    char path[2 * SET_PATH_SIZE];
    DIR *folder = opendir(bench->cache);
    for (struct dirent *file; folder && (file = readdir(folder));) {
        snprintf(path, sizeof path, "%s/%s", bench->cache, file->d_name);
        unlink(path);
    }
    if (folder) closedir(folder);
}

/* CPU time of writing as many bytes as the shards inflate to. */
static double write_alone(const struct bench *bench) {
    static char piece[PIECE];
    char path[2 * SET_PATH_SIZE];
    mkdir(bench->cache, 0777);
    snprintf(path, sizeof path, "%s/written", bench->cache);
    uint64_t begun = process_cpu_ns();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (uint64_t done = 0; done < bench->info.inflated_size; done += PIECE) {
        if (write(fd, piece, PIECE) == PIECE) continue;
        perror(path);
        exit(4);
    }
    close(fd);
    double took = (double)(process_cpu_ns() - begun);
    unlink(path);
    return took;
}

static recmap_dataset *open_cached(const struct bench *bench) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.cache = bench->cache;
    options.cache_size = UINT64_MAX / 2;
    options.span_keep_size = 1;
    return set_open(bench->folder, bench->set, false, &options);
}

/* All of it in one process, one after the other, over the same bytes of the page cache. */
static void measure(struct bench *bench) {
    recmap_order *order = epoch_order(bench->plain, 0);
    clear_cache(bench);
    uint64_t begun = process_cpu_ns();
    inflate_set(bench->folder, bench->set, 1);
    double bare = (double)(process_cpu_ns() - begun) + write_alone(bench);
    double plain = epoch_iterate(bench->plain, order, 1);
    recmap_dataset *cached = open_cached(bench);
    double first = epoch_iterate(cached, order, 1);
    uint64_t count = recmap_dataset_span_statistics(cached).inflate_count;
    double second = epoch_iterate(cached, order, 1);
    double records = (double)recmap_dataset_count(cached);
    samples_add(&bench->first, first / (bare + plain));
    samples_add(&bench->second, second / plain);
    samples_add(&bench->plain_ns, plain / records);
    samples_add(&bench->second_ns, second / records);
    samples_add(&bench->inflated, (double)count / (double)bench->info.span_count);
    recmap_dataset_close(cached);
    recmap_order_release(order);
}

static void prepare(struct bench *bench) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *packed = set_open(bench->folder, bench->set, false, NULL);
    must(recmap_dataset_get_span_info(&bench->info, packed, &error), &error);
    make_plain(bench, packed);
    recmap_dataset_close(packed);
    bench->plain = set_open(bench->folder, bench->plain_set, false, NULL);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: bench_stored_spans FOLDER SET [REPEATS]\n");
        return 2;
    }
    struct bench of = {.folder = argv[1], .set = argv[2]};
    int repeats = parse_repeats(argv[3], 5);
    snprintf(of.plain_set, sizeof of.plain_set, "%.100s-plain", of.set);
    snprintf(of.cache, sizeof of.cache, "%.2000s/%.100s-cache", of.folder, of.set);
    prepare(&of);
    for (int r = 0; r < repeats; r++) measure(&of);
    print_row(&of.plain_ns, "ns a record", NO_GOAL, "%s: a true shuffle of plain shards", of.set);
    print_row(&of.second_ns, "ns a record", NO_GOAL, "%s: with a cache, the second epoch", of.set);
    print_row(&of.second, "x plain shards", AT_MAX(2), "%s: with a cache, the second epoch",
              of.set);
    print_row(&of.first, "x inflating, writing, plain shards", AT_MAX(1.3),
              "%s: with a cache, the first epoch", of.set);
    print_row(&of.inflated, "times", AT_MAX(1.3), "%s: a span is inflated in the first epoch",
              of.set);
    recmap_dataset_close(of.plain);
    clear_cache(&of);
    return 0;
}
