/* How much memory does building an index take beside the page cache, and reading it at random?
 *
 * A thread reads the process's anonymous memory (RssAnon) every two milliseconds.
 * usage: bench_memory FOLDER SET [ID_FEATURE] */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure.h"
#include "random.h"
#include "set.h"

enum { SAMPLE_NS = 2 * 1000 * 1000, READS = 1 << 20, GATHERED = 256 };

struct memory_watch {
    pthread_t thread;
    atomic_bool is_stopped;
    double peak; /* MiB */
};

static double anonymous_memory(void) {
    char line[256];
    double kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    if (!status) return 0;
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, "RssAnon:", 8)) kib = strtod(line + 8, NULL);
    fclose(status);
    return kib / 1024;
}

static void *run_watch(void *context) {
    struct memory_watch *watch = context;
    struct timespec pause = {0, SAMPLE_NS};
    while (!watch->is_stopped) {
        double now = anonymous_memory();
        if (now > watch->peak) watch->peak = now;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void watch_start(struct memory_watch *watch) {
    *watch = (struct memory_watch){.peak = 0};
    if (pthread_create(&watch->thread, NULL, run_watch, watch)) must_have(NULL);
}

static void print_peak(struct memory_watch *watch, const char *title, const char *set) {
    struct samples peak = {.count = 0};
    watch->is_stopped = true;
    pthread_join(watch->thread, NULL);
    samples_add(&peak, watch->peak);
    print_row(&peak, "MiB", AT_MAX(256), "%s: memory while %s", set, title);
}

static void build(const char *folder, const char *set, const char *path, const char *id) {
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    recmap_index_summary summary;
    struct samples rate = {.count = 0};
    struct memory_watch watch;
    options.id_feature = id;
    watch_start(&watch);
    uint64_t took = set_build(&summary, folder, set, path, &options);
    print_peak(&watch, id ? "building, with ids" : "building", set);
    samples_add(&rate, (double)summary.record_count / (double)took * 1e3);
    print_row(&rate, "M records/s", NO_GOAL, "%s: building, all cores, by the clock", set);
}

static void gather_at_random(recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch;
    must(recmap_batch_create(&batch, &error), &error);
    uint64_t numbers[GATHERED], seed = 1, count = recmap_dataset_count(dataset);
    for (int i = 0; i < READS; i += GATHERED) {
        for (int k = 0; k < GATHERED; k++) numbers[k] = random_below(&seed, count);
        must(recmap_dataset_gather(batch, dataset, numbers, GATHERED, &error), &error);
    }
    recmap_batch_destroy(batch);
}

static void get_at_random(recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t seed = 1, count = recmap_dataset_count(dataset);
    for (int i = 0; i < READS; i++) {
        recmap_record record;
        must(recmap_dataset_get(&record, dataset, random_below(&seed, count), &error), &error);
        recmap_record_release(&record);
    }
}

static void read_at_random(const char *set, const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct samples get = {.count = 0}, gather = {.count = 0};
    struct memory_watch watch;
    watch_start(&watch);
    recmap_dataset *dataset;
    must(recmap_dataset_open(&dataset, path, NULL, &error), &error);
    get_at_random(dataset); /* maps the pages */
    uint64_t start = thread_cpu_ns();
    get_at_random(dataset);
    uint64_t middle = thread_cpu_ns();
    gather_at_random(dataset);
    samples_add(&get, (double)(middle - start) / READS);
    samples_add(&gather, (double)(thread_cpu_ns() - middle) / READS);
    print_row(&get, "ns a record", NO_GOAL, "%s: get", set);
    print_row(&gather, "ns a record", NO_GOAL, "%s: gather of 256", set);
    print_peak(&watch, "reading at random", set);
    recmap_dataset_close(dataset);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s FOLDER SET [ID_FEATURE]\n", argv[0]);
        return 2;
    }
    char path[SET_PATH_SIZE];
    set_index_path(path, argv[1], argv[2], argc > 3 ? "-ids" : "");
    build(argv[1], argv[2], path, argc > 3 ? argv[3] : NULL);
    read_at_random(argv[2], path);
    return 0;
}
