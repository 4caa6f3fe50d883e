/* How fast are all records examined, against verifying them; how fast could they be, if they were
 * only read and checked to be tf.Examples; and how fast are the names and the index examined,
 * against listing the folder?
 *
 * usage: bench_doctor FOLDER [REPEATS] */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include <recmap/doctor.h>
#include <recmap/example.h>

#include "base/os/file.h"
#include "measure.h"
#include "set.h"

/* Time on the clock, and on cores. */
struct spent {
    uint64_t wall, cpu;
};

static struct spent begin(void) {
    return (struct spent){now_ns(), process_cpu_ns()};
}

static struct spent end(struct spent start) {
    return (struct spent){now_ns() - start.wall, process_cpu_ns() - start.cpu};
}

static struct spent verify(recmap_dataset *dataset) {
    recmap_report *report;
    recmap_error error = RECMAP_ERROR_INIT;
    struct spent start = begin();
    must(recmap_dataset_verify(&report, dataset, NULL, &error), &error);
    struct spent took = end(start);
    recmap_report_destroy(report);
    return took;
}

static struct spent examine(recmap_dataset *dataset, int index_only) {
    recmap_diagnosis *diagnosis;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_doctor_options options = RECMAP_DOCTOR_OPTIONS_INIT;
    options.index_only = index_only;
    size_t count = (size_t)recmap_dataset_count(dataset);
    struct spent start = begin();
    must(recmap_dataset_examine(&diagnosis, dataset, NULL, count, &options, &error), &error);
    struct spent took = end(start);
    recmap_diagnosis_destroy(diagnosis);
    return took;
}

/* Reads all records and checks each to be a tf.Example: what every examination has to do. */
static struct spent check(recmap_dataset *dataset) {
    enum { GROUP = 1024 };
    recmap_batch *batch;
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t count = recmap_dataset_count(dataset);
    must(recmap_batch_create(&batch, &error), &error);
    struct spent start = begin();
    for (uint64_t first = 0; first < count; first += GROUP) {
        size_t size = count - first < GROUP ? (size_t)(count - first) : GROUP;
        must(recmap_dataset_read(batch, dataset, first, size, &error), &error);
        const recmap_record *records = recmap_batch_records(batch);
        for (size_t i = 0; i < size; i++)
            must(recmap_example_check(records[i].data, records[i].size, &error), &error);
    }
    struct spent took = end(start);
    recmap_batch_destroy(batch);
    return took;
}

/* Lists the folder of the set as programs do: all names, and the size of each file. */
static struct spent list(const char *folder, const char *set) {
    char path[SET_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, set);
    struct spent start = begin();
    DIR *entries = must_have(opendir(path));
    for (struct dirent *entry; (entry = readdir(entries));) {
        struct stat file;
        (void)!fstatat(dirfd(entries), entry->d_name, &file, 0);
    }
    closedir(entries);
    return end(start);
}

static void measure(const char *folder, const char *set, int repeats) {
    struct samples wall = {.count = 0}, cpu = {.count = 0}, names = {.count = 0};
    struct samples bound = {.count = 0};
    recmap_dataset *dataset = set_open(folder, set, false, NULL);
    for (int r = 0; r <= repeats; r++) {
        struct spent verified = verify(dataset), examined = examine(dataset, 0);
        struct spent checked = check(dataset);
        struct spent listed = list(folder, set), indexed = examine(dataset, 1);
        if (r == 0) continue; /* warms the page cache */
        samples_add(&wall, (double)verified.wall / (double)examined.wall);
        samples_add(&cpu, (double)verified.cpu / (double)examined.cpu);
        samples_add(&bound, (double)verified.cpu / (double)checked.cpu);
        samples_add(&names, (double)indexed.wall / (double)listed.wall);
    }
    recmap_dataset_close(dataset);
    print_row(&wall, "x verify", AT_MIN(0.5), "doctor %s: speed by the clock", set);
    print_row(&cpu, "x verify", NO_GOAL, "doctor %s: speed by time on cores", set);
    print_row(&bound, "x verify", NO_GOAL, "doctor %s: only reading and checking records", set);
    print_row(&names, "x listing", NO_GOAL, "doctor %s: time without reading records", set);
}

int main(int argc, char **argv) {
    static const char *const sets[] = {"small", "medium", "large"};
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [REPEATS]\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char path[SET_PATH_SIZE];
        struct file_stat stat;
        snprintf(path, sizeof path, "%s/%s", argv[1], sets[i]);
        if (file_stat_path(&stat, path)) measure(argv[1], sets[i], parse_repeats(argv[2], 5));
    }
    return 0;
}
