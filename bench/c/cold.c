/* Shuffled records of data that is not in memory: what share of the device's speed does the loader
 * reach, by what fio makes of the same files at its best queue depth? And what does a bare loop
 * over the mapped files?
 *
 * Makes sets of its own (2 GB each) whose frames begin at multiples of their size, so that fio asks
 * for the same. Before each measurement the files are dropped from the page cache. Of the small
 * records an eighth of the epoch is read, so that few lie in a page that another one brought in; of
 * the large ones all of it, so that both take about a second.
 *
 * fio asks for the same bytes, past the page cache. It reads them into the same few pages again and
 * again and does not look at them; the loader checks every CRC and hands its batches out.
 *
 * usage: bench_cold FOLDER [REPEATS] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/recmap.h>

#include "cold_set.h"
#include "measure.h"
#include "set.h"

enum { BATCH = 64 };

#define SET_SIZE ((uint64_t)2 << 30)

enum cold_way {
    COLD_LOADER,
    COLD_LOADER_DIRECT, /* past the page cache */
    COLD_LOADER_READ,   /* pread */
    COLD_LOADER_ALONE,  /* on one thread */
    COLD_LOADER_OFF,
    COLD_BARE,
    COLD_WAYS
};

static const char *const way_names[COLD_WAYS] = {"loader",
                                                 "loader, direct",
                                                 "loader, pread",
                                                 "loader, one thread",
                                                 "loader without readahead",
                                                 "bare loop over the maps"};

static void iterate_loader(recmap_dataset *dataset, recmap_order *order, enum cold_way variant,
                           uint64_t count) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = BATCH;
    if (variant == COLD_LOADER_OFF) options.readahead = RECMAP_READAHEAD_OFF;
    if (variant == COLD_LOADER_ALONE) options.thread_count = 1;
    recmap_loader *loader;
    recmap_batch *batch = NULL;
    must(recmap_loader_create(&loader, dataset, order, &options, &error), &error);
    for (uint64_t i = 0; i < count; i += BATCH)
        must(recmap_loader_next(&batch, loader, &error), &error);
    recmap_batch_destroy(batch);
    recmap_loader_destroy(loader);
}

static void iterate_bare(recmap_dataset *dataset, recmap_order *order, uint64_t count) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number;
        recmap_record record;
        must(recmap_order_at(&number, order, 0, &i, 1, &error), &error);
        must(recmap_dataset_get(&record, dataset, number, &error), &error);
        recmap_record_release(&record);
    }
}

/* Records a second, in thousands. */
static double time_way(const char *folder, const char *set, enum cold_way variant, uint64_t part,
                       uint64_t seed) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    if (variant == COLD_LOADER_DIRECT) options.access = RECMAP_ACCESS_DIRECT;
    if (variant == COLD_LOADER_READ) options.access = RECMAP_ACCESS_READ;
    recmap_dataset *dataset = set_open(folder, set, false, &options);
    recmap_order *order;
    uint64_t records = recmap_dataset_count(dataset), count = records / part / BATCH * BATCH;
    if (variant >= COLD_LOADER_OFF) count = count / 8 / BATCH * BATCH; /* they take long */
    must(recmap_order_shuffled(&order, records, seed, &error), &error);
    cold_set_drop(folder, set);
    uint64_t start = now_ns();
    if (variant == COLD_BARE) iterate_bare(dataset, order, count);
    else iterate_loader(dataset, order, variant, count);
    double rate = (double)count * 1e6 / (double)(now_ns() - start);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    return rate;
}

/* What fio reads, in thousands of blocks a second; 0 where there is no fio. */
static double time_fio(const char *folder, const char *set, uint64_t block, unsigned depth,
                       unsigned jobs) {
    char command[8192], path[SET_PATH_SIZE], line[4096];
    int at = snprintf(command, sizeof command,
                      "fio --name=read --rw=randread --bs=%llu --direct=1 --ioengine=libaio "
                      "--iodepth=%u --numjobs=%u --group_reporting --time_based --runtime=1 "
                      "--norandommap --randrepeat=0 --output-format=terse --terse-version=3 "
                      "--readonly --filename=",
                      (unsigned long long)block, depth, jobs);
    for (unsigned i = 0; i < COLD_SHARDS && (size_t)at < sizeof command; i++) {
        set_shard_path(path, folder, set, i, COLD_SHARDS);
        at += snprintf(command + at, sizeof command - (size_t)at, "%s%s", i ? ":" : "", path);
    }
    FILE *fio = popen(command, "r");
    double rate = 0;
    while (fio && fgets(line, sizeof line, fio)) {
        const char *field = line;
        for (int i = 0; field && i < 7; i++)
            field = strchr(field, ';') ? strchr(field, ';') + 1 : NULL;
        if (line[0] == '3' && field) rate = strtod(field, NULL) / 1e3;
    }
    if (fio) pclose(fio);
    return rate;
}

/* A way in which fio reads. */
struct fio_setting {
    uint64_t block;
    unsigned depth, jobs;
};

static struct fio_setting best_of_fio(const char *folder, const char *set, uint64_t block) {
    static const unsigned depths[] = {8, 16, 32, 64, 128};
    struct fio_setting found = {block, depths[0], 1};
    double best = 0;
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
        for (unsigned jobs = 1; jobs <= 2; jobs++) {
            double rate = time_fio(folder, set, block, depths[i], jobs);
            if (rate <= best) continue;
            best = rate;
            found = (struct fio_setting){block, depths[i], jobs};
        }
    return found;
}

/* A device shared with other users varies in speed, so each method is compared with fio's rate
 * right before and right after it. */
static void measure(const char *folder, const char *set, uint64_t frame_size, uint64_t part,
                    int repeats) {
    struct samples fio = {.count = 0}, rates[COLD_WAYS] = {{.count = 0}},
                   ratios[COLD_WAYS] = {{.count = 0}}, over_bare = fio;
    cold_set_make(folder, set, SET_SIZE, frame_size);
    struct fio_setting best = best_of_fio(folder, set, frame_size);
    for (int r = 0; r < repeats; r++) {
        double rate[COLD_WAYS], before = time_fio(folder, set, best.block, best.depth, best.jobs);
        for (int way = 0; way < COLD_WAYS; way++) {
            rate[way] = time_way(folder, set, (enum cold_way)way, part, (uint64_t)r);
            double after = time_fio(folder, set, best.block, best.depth, best.jobs);
            samples_add(&rates[way], rate[way]);
            if (after > 0) samples_add(&fio, after);
            if (after > 0) samples_add(&ratios[way], rate[way] * 2 / (before + after));
            before = after;
        }
        samples_add(&over_bare, rate[COLD_LOADER] / rate[COLD_BARE]);
    }
    print_row(&fio, "thousand/s", NO_GOAL, "%s: fio randread, depth %u, %u jobs", set, best.depth,
              best.jobs);
    for (int way = 0; way < COLD_WAYS; way++)
        print_row(&rates[way], "thousand records/s", NO_GOAL, "%s: %s", set, way_names[way]);
    for (int way = 0; way < COLD_WAYS; way++)
        print_row(&ratios[way], "x fio", way > COLD_LOADER_DIRECT ? NO_GOAL : AT_MIN(0.95),
                  "%s: %s", set, way_names[way]);
    print_row(&over_bare, "x bare loop", AT_MIN(2), "%s: loader", set);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [REPEATS]\n", argv[0]);
        return 2;
    }
    int repeats = parse_repeats(argv[2], 3);
    measure(argv[1], "cold-2k", 2048, 8, repeats);
    measure(argv[1], "cold-100k", COLD_FRAME_MAX, 1, repeats);
    return 0;
}
