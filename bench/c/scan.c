/* How fast is an index built, with every CRC checked, against CRC-32C alone over the same bytes?
 *
 * Both map the shards each time and end with nothing mapped; the build also writes, syncs and
 * publishes the index. Rates are compared by time on cores, over all threads, and by the clock,
 * which others that use the machine disturb. usage: bench_scan FOLDER [REPEATS] */
#include <stdio.h>
#include <stdlib.h>

#include "base/os/thread.h"
#include "measure.h"
#include "set.h"
#include "yardstick.h"

struct scan_case {
    const char *folder, *set, *label;
    unsigned thread_count;
    const char *id, *lift;
    struct goal ratio, rate;
};

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

static struct spent build(recmap_index_summary *summary, const struct scan_case *one) {
    char path[SET_PATH_SIZE];
    set_index_path(path, one->folder, one->set, "-scan");
    recmap_lift lift = {one->lift, NULL, 0};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.thread_count = one->thread_count;
    options.id_feature = one->id;
    options.lifts = &lift;
    options.lift_count = one->lift != NULL;
    struct spent begun = begin();
    set_build(summary, one->folder, one->set, path, &options);
    struct spent took = end(begun);
    remove(path);
    return took;
}

static void print_case(const struct scan_case *one, const struct samples *cpu,
                       const struct samples *wall, const struct samples *rates) {
    char label[128];
    snprintf(label, sizeof label, "index %s%s, %u thread%s", one->set, one->label,
             one->thread_count, one->thread_count == 1 ? "" : "s");
    print_row(rates, "M/s and core", one->rate, "%s: records", label);
    if (one->id) return;
    print_row(cpu, "x CRC alone", one->ratio, "%s: rate by time on cores", label);
    print_row(wall, "x CRC alone", NO_GOAL, "%s: rate by the clock", label);
}

static void measure(const struct scan_case *one, int repeats) {
    struct samples wall = {.count = 0}, cpu = {.count = 0}, rates = {.count = 0};
    recmap_index_summary summary;
    for (int r = 0; r <= repeats; r++) {
        struct spent begun = begin();
        crc_all_bytes(one->folder, one->set, one->thread_count);
        struct spent bare = end(begun), took = build(&summary, one);
        if (r == 0) continue; /* warms the page cache */
        samples_add(&cpu, (double)bare.cpu / (double)took.cpu);
        samples_add(&wall, (double)bare.wall / (double)took.wall);
        samples_add(&rates, (double)summary.record_count / (double)took.cpu * 1e3);
    }
    print_case(one, &cpu, &wall, &rates);
}

/* What frames cost when nothing is kept of them: a bound for every scan of this set. */
static void measure_frames(const char *folder, const char *set, int repeats) {
    struct samples rates = {.count = 0};
    for (int r = 0; r <= repeats; r++) {
        struct spent begun = begin();
        uint64_t count = crc_all_frames(folder, set);
        if (r) samples_add(&rates, (double)count / (double)end(begun).cpu * 1e3);
    }
    print_row(&rates, "M/s and core", NO_GOAL, "bare loop over the frames of %s, both CRCs", set);
}

/* Measures each set with one thread and with all cores. A bare loop over the frames follows for
 * comparison. */
int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [REPEATS]\n", argv[0]);
        return 2;
    }
    const char *folder = argv[1];
    int repeats = parse_repeats(argv[2], 7);
    unsigned threads[] = {1, core_count()};
    for (int i = 0; i < (threads[1] > 1 ? 2 : 1); i++) {
        unsigned count = threads[i];
        const struct scan_case cases[] = {
            {folder, "large", "", count, NULL, NULL, AT_MIN(0.8), NO_GOAL},
            {folder, "medium", "", count, NULL, NULL, NO_GOAL, NO_GOAL},
            {folder, "small", "", count, NULL, NULL, NO_GOAL, AT_MIN(4)},
            {folder, "small", " --id", count, "id", NULL, NO_GOAL, NO_GOAL},
            {folder, "small", " --id --lift", count, "id", "label", NO_GOAL, NO_GOAL},
        };
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) measure(&cases[c], repeats);
    }
    measure_frames(folder, "small", repeats);
    return 0;
}
