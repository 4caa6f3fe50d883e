/* Epochs of a loader with warm="off", "auto" and "on": how long do they take when the files are not
 * in memory, beside reading all bytes once in order as `cat` does? And does warming slow down what
 * it cannot help: an epoch in file order, records that are large enough for a disk, or files that
 * are in memory?
 *
 * Makes sets of its own (512 MiB each, or so many MiB). The ways take turns, and before each of
 * them the files are dropped from the page cache or read into it. Comparisons have 4 to 32 rounds
 * for each repeat, by the clock and in CPU time. If nothing waits for the disk, CPU time counts.
 *
 * usage: bench_warm FOLDER [REPEATS [MIB]] */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <recmap/recmap.h>

#include "cold_set.h"
#include "measure.h"
#include "set.h"

enum { SMALL_FRAME = 256, BATCH_BYTES = 64 << 10, LOOK_STEP = 8, MODES = RECMAP_WARM_AUTO + 1 };

/* A round of a comparison takes a quarter as long as a repeat. */
enum { ROUNDS_PER_REPEAT = 8 };

static const char *const mode_names[MODES] = {"off", "on", "auto"};

/* An epoch to measure. */
struct epoch {
    const char *folder, *set;
    uint64_t frame_size;
    bool is_shuffled, is_cold;
    uint64_t part; /* one record in so many is read */
};

/* How long it took, in seconds. */
struct times {
    double whole, cpu;
    double begun, complete; /* when warming was seen to begin and to be complete, or 0 */
};

static double seconds_since(uint64_t start) {
    return (double)(now_ns() - start) / 1e9;
}

static void look(struct times *times, recmap_loader *loader, uint64_t start) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader_statistics statistics;
    must(recmap_loader_get_statistics(&statistics, loader, &error), &error);
    bool has_begun = statistics.warm_read_size + statistics.warm_present_size > 0;
    if (!times->begun && has_begun) times->begun = seconds_since(start);
    if (!times->complete && has_begun && statistics.warm_state == RECMAP_WARM_STATE_COMPLETE)
        times->complete = seconds_since(start);
}

/* Also reads on until warming is complete, which may be later than the last batch. */
static void iterate(struct times *times, recmap_dataset *dataset, recmap_order *order,
                    const struct epoch *epoch, recmap_warm mode) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    recmap_loader *loader;
    recmap_batch *batch = NULL;
    options.batch_size = BATCH_BYTES / epoch->frame_size + 1;
    options.warm = mode;
    uint64_t count = recmap_order_count(order) / epoch->part, cpu = process_cpu_ns();
    uint64_t start = now_ns();
    must(recmap_loader_create(&loader, dataset, order, &options, &error), &error);
    for (uint64_t i = 0; i < count; i += options.batch_size) {
        must(recmap_loader_next(&batch, loader, &error), &error);
        if (i / options.batch_size % LOOK_STEP == 0) look(times, loader, start);
    }
    times->whole = seconds_since(start);
    times->cpu = (double)(process_cpu_ns() - cpu) / 1e9;
    look(times, loader, start);
    recmap_batch_destroy(batch);
    recmap_loader_destroy(loader);
}

static struct times measure_epoch(const struct epoch *epoch, recmap_warm mode, uint64_t seed) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct times times = {0, 0, 0, 0};
    recmap_order *order;
    if (epoch->is_cold) cold_set_drop(epoch->folder, epoch->set);
    else cold_set_read(epoch->folder, epoch->set);
    recmap_dataset *dataset = set_open(epoch->folder, epoch->set, false, NULL);
    uint64_t count = recmap_dataset_count(dataset);
    must(epoch->is_shuffled ? recmap_order_shuffled(&order, count, seed, &error)
                            : recmap_order_sequential(&order, count, &error),
         &error);
    iterate(&times, dataset, order, epoch, mode);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    return times;
}

/* How long `cat` takes. */
static double measure_read(const struct epoch *epoch) {
    cold_set_drop(epoch->folder, epoch->set);
    uint64_t start = now_ns();
    cold_set_read(epoch->folder, epoch->set);
    return seconds_since(start);
}

/* ---- A cold epoch in random order, beside reading once. */

struct cold_rows {
    struct samples read, in_memory, whole[MODES], over_read[MODES], over_both[MODES];
    struct samples begun, complete[MODES];
};

static void add_mode(struct cold_rows *rows, recmap_warm mode, const struct times *times,
                     double read, double in_memory) {
    samples_add(&rows->whole[mode], times->whole);
    samples_add(&rows->over_read[mode], times->whole / read);
    samples_add(&rows->over_both[mode], times->whole / (read + in_memory));
    if (times->complete > 0) samples_add(&rows->complete[mode], times->complete / read);
    if (mode == RECMAP_WARM_AUTO && times->begun > 0) samples_add(&rows->begun, times->begun);
}

static void print_cold(const struct cold_rows *rows, const char *name) {
    print_row(&rows->read, "s", NO_GOAL, "%s: reading the files once", name);
    print_row(&rows->in_memory, "s", NO_GOAL, "%s: in memory", name);
    for (int mode = 0; mode < MODES; mode++)
        print_row(&rows->whole[mode], "s", NO_GOAL, "%s: %s", name, mode_names[mode]);
    for (int mode = 0; mode < MODES; mode++)
        print_row(&rows->over_read[mode], "x read", NO_GOAL, "%s: %s", name, mode_names[mode]);
    for (int mode = 0; mode < MODES; mode++)
        print_row(&rows->over_both[mode], "x (read + in memory)",
                  mode == RECMAP_WARM_ON ? AT_MAX(1.2) : NO_GOAL, "%s: %s", name, mode_names[mode]);
    print_row(&rows->begun, "s", NO_GOAL, "%s: auto begins after", name);
    for (int mode = RECMAP_WARM_ON; mode < MODES; mode++)
        print_row(&rows->complete[mode], "x read", mode == RECMAP_WARM_ON ? AT_MAX(1.2) : NO_GOAL,
                  "%s: %s, all is in memory", name, mode_names[mode]);
}

/* A device and cores that others use vary in speed, so each mode is compared with reads right
 * before and right after it. */
static void measure_cold(const char *name, const struct epoch *epoch, int repeats) {
    struct cold_rows rows = {.begun = {.count = 0}};
    struct epoch warm = *epoch;
    warm.is_cold = false;
    for (int r = 0; r < repeats; r++) {
        double in_memory = measure_epoch(&warm, RECMAP_WARM_OFF, (uint64_t)r).whole;
        double before = measure_read(epoch);
        samples_add(&rows.in_memory, in_memory);
        for (int mode = 0; mode < MODES; mode++) {
            struct times times = measure_epoch(epoch, (recmap_warm)mode, (uint64_t)r);
            double after = measure_read(epoch);
            samples_add(&rows.read, after);
            add_mode(&rows, (recmap_warm)mode, &times, (before + after) / 2, in_memory);
            before = after;
        }
    }
    print_cold(&rows, name);
}

/* ---- What warming cannot help. A difference of a hundredth is smaller than what a device varies
 * by, so there are many pairs of short epochs: the modes begin in turns, each is compared with the
 * epoch of "off" in the same round. The median is known to about the distance of the quartiles
 * divided by the root of the number of rounds. */

struct comparison {
    struct samples wall[MODES], cpu[MODES]; /* as multiples of "off" */
};

static void compare_once(struct comparison *comparison, const struct epoch *epoch, int round) {
    struct times times[MODES];
    for (int i = 0; i < MODES; i++) {
        int mode = (round + i) % MODES;
        times[mode] = measure_epoch(epoch, (recmap_warm)mode, (uint64_t)round);
    }
    for (int mode = RECMAP_WARM_ON; mode < MODES; mode++) {
        samples_add(&comparison->wall[mode], times[mode].whole / times[RECMAP_WARM_OFF].whole);
        samples_add(&comparison->cpu[mode], times[mode].cpu / times[RECMAP_WARM_OFF].cpu);
    }
}

/* Of cold files, the clock counts, otherwise CPU time. */
static void compare(const char *name, const struct epoch *epoch, int rounds) {
    const struct goal wanted[MODES] = {NO_GOAL, AT_MAX(1.1), AT_MAX(1.02)};
    struct comparison comparison = {.wall = {{.count = 0}}};
    for (int round = 0; round < rounds && round < SAMPLES_MAX; round++)
        compare_once(&comparison, epoch, round);
    for (int mode = RECMAP_WARM_ON; mode < MODES; mode++) {
        bool counts_cpu = !epoch->is_cold && mode == RECMAP_WARM_AUTO;
        print_quartiles(&comparison.wall[mode], "x off", epoch->is_cold ? wanted[mode] : NO_GOAL,
                        "%s: %s, quartiles", name, mode_names[mode]);
        print_quartiles(&comparison.cpu[mode], "x off, CPU time",
                        counts_cpu ? wanted[mode] : NO_GOAL, "%s: %s, quartiles", name,
                        mode_names[mode]);
    }
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [REPEATS [MIB]]\n", argv[0]);
        return 2;
    }
    int repeats = parse_repeats(argv[2], 3), rounds = repeats * ROUNDS_PER_REPEAT;
    uint64_t size = (argc > 3 ? strtoull(argv[3], NULL, 10) : 512) << 20;
    struct epoch small = {argv[1], "warm-256", SMALL_FRAME, true, true, 1};
    struct epoch large = {argv[1], "warm-100k", COLD_FRAME_MAX, true, true, 1};
    cold_set_make(argv[1], small.set, size, small.frame_size);
    cold_set_make(argv[1], large.set, size, large.frame_size);
    measure_cold("records of 256 bytes, shuffled", &small, repeats);
    struct epoch tenth = small, in_order = small, in_memory = small, shuffled = large;
    tenth.part = 10;
    in_order.part = in_memory.part = shuffled.part = 4;
    in_order.is_shuffled = in_memory.is_cold = false;
    compare("a tenth of the records of 256 bytes, shuffled", &tenth, rounds / 2);
    compare("a quarter of the records of 256 bytes, in order", &in_order, rounds);
    compare("a quarter of the records of 100 KB, shuffled", &shuffled, rounds);
    compare("a quarter of the records of 256 bytes, shuffled, in memory", &in_memory, 4 * rounds);
    return 0;
}
