/* How long does opening an index take, and is it the same for few records and for many?
 *
 * What is timed is the opening alone: no shard is touched by it. The same with every byte of the
 * index hashed is timed apart. usage: bench_open FOLDER [REPEATS] */
#include <stdio.h>
#include <stdlib.h>

#include "base/os/file.h"
#include "measure.h"
#include "set.h"

/* With fewer bytes than this, the time to hash them is lost in the time to open the file. */
enum { HASHED_MIN = 500000 };

static double open_once(const char *path, recmap_index_check check, uint64_t *size) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.index_check = check;
    recmap_dataset *dataset;
    uint64_t start = now_ns();
    must(recmap_dataset_open(&dataset, path, &options, &error), &error);
    uint64_t took = now_ns() - start;
    *size = recmap_dataset_get_info(dataset)->index_size;
    recmap_dataset_close(dataset);
    return (double)took;
}

static void measure(const char *folder, const char *set, int repeats) {
    struct samples times = {.count = 0}, speeds = {.count = 0}, full = {.count = 0};
    char path[SET_PATH_SIZE];
    recmap_dataset *dataset = set_open(folder, set, false, NULL); /* builds it first */
    unsigned long long records = recmap_dataset_count(dataset);
    recmap_dataset_close(dataset);
    set_index_path(path, folder, set, "");
    uint64_t size = 0;
    for (int r = 0; r <= repeats; r++) {
        double lazy = open_once(path, RECMAP_INDEX_CHECK_LAZY, &size);
        double hashed = open_once(path, RECMAP_INDEX_CHECK_FULL, &size);
        if (r == 0) continue;
        samples_add(&times, lazy / 1e6);
        samples_add(&full, hashed / 1e6);
        samples_add(&speeds, (double)size / (hashed - lazy));
    }
    print_row(&times, "ms", AT_MAX(1), "open: %llu records", records);
    print_row(&full, "ms", NO_GOAL, "open: %llu records, whole file hashed", records);
    if (size >= HASHED_MIN)
        print_row(&speeds, "GB/s", NO_GOAL, "open: %llu records, hashing", records);
}

int main(int argc, char **argv) {
    static const char *const sets[] = {"few", "small", "empty"};
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [REPEATS]\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char path[SET_PATH_SIZE];
        struct file_stat stat;
        snprintf(path, sizeof path, "%s/%s", argv[1], sets[i]);
        if (file_stat_path(&stat, path)) measure(argv[1], sets[i], parse_repeats(argv[2], 25));
    }
    return 0;
}
