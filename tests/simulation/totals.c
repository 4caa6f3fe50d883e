#include "simulation/totals.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>

#include "simulation/world/report.h"

static void add_size(struct sizes *sizes, uint64_t size) {
    unsigned class = 0;
    while (class + 1 < SIZE_CLASSES && size >> (class + 1)) class ++;
    sizes->counts[class]++;
}

static void keep_longest(struct totals *totals, uint64_t seed) {
    if (report->point_count < totals->longest_points) return;
    totals->longest_seed = seed;
    totals->longest_points = report->point_count;
    totals->longest_ns = report->virtual_ns;
}

void totals_add(struct totals *totals, uint64_t seed) {
    keep_longest(totals, seed);
    totals->runs++;
    totals->processes += report->process_count;
    totals->epochs += report->epoch_count;
    totals->rank_epochs += report->rank_epoch_count;
    totals->records += report->record_count;
    totals->indexes += report->index_count;
    totals->points += report->point_count;
    totals->preemptions += report->preemption_count;
    totals->faults += report->fault_count;
    totals->with_processes += report->is_shared;
    totals->with_crash += report->crash_count > 0;
    totals->with_kill += report->kill_count > 0;
    totals->with_fault += report->fault_count > 0;
    add_size(&totals->actors, report->actor_count);
    add_size(&totals->data_records, report->data_record_count);
    add_size(&totals->data_bytes, report->data_byte_count);
    totals->virtual_s += (double)report->virtual_ns / 1e9;
}

static double seconds_of(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double cpu_seconds_of(int who) {
    struct rusage usage;
    getrusage(who, &usage);
    return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

static double share_of(uint64_t count, const struct totals *totals) {
    return totals->runs ? 100.0 * (double)count / (double)totals->runs : 0;
}

static void print_sizes(const char *what, const struct sizes *sizes, const struct totals *totals) {
    const char *separator = "";
    printf("runs by %s: ", what);
    for (unsigned i = 0; i < SIZE_CLASSES; i++) {
        if (!sizes->counts[i]) continue;
        printf("%sfrom %" PRIu64 " on %.1f %%", separator, (uint64_t)1 << i,
               share_of(sizes->counts[i], totals));
        separator = ", ";
    }
    printf("\n");
}

static void print_shares(const struct totals *totals) {
    printf(
        "%.1f %% with several processes, %.1f %% with a crash, %.1f %% with a kill, %.1f %% with "
        "failing calls\n",
        share_of(totals->with_processes, totals), share_of(totals->with_crash, totals),
        share_of(totals->with_kill, totals), share_of(totals->with_fault, totals));
}

void totals_print(const struct totals *totals, uint64_t first_seed, double seconds) {
    double cpu_s = cpu_seconds_of(RUSAGE_SELF) + cpu_seconds_of(RUSAGE_CHILDREN);
    printf("%" PRIu64 " runs from seed %" PRIu64 " on, in %.1f s of CPU time and %.1f s: ",
           totals->runs, first_seed, cpu_s, seconds);
    print_shares(totals);
    printf("%" PRIu64 " epochs (%.0f a CPU second; %" PRIu64 " if each rank counts), %" PRIu64
           " processes, %" PRIu64 " records compared, %" PRIu64 " indexes published, %" PRIu64
           " preemptions at %" PRIu64 " points, %" PRIu64
           " failed calls, %.2f hours of virtual time\n",
           totals->epochs, cpu_s > 0 ? (double)totals->epochs / cpu_s : 0, totals->rank_epochs,
           totals->processes, totals->records, totals->indexes, totals->preemptions, totals->points,
           totals->faults, totals->virtual_s / 3600);
    printf("the longest run is seed %" PRIu64 ": %" PRIu64 " points, %.2f hours of virtual time\n",
           totals->longest_seed, totals->longest_points, (double)totals->longest_ns / 3.6e12);
    print_sizes("processes at a time", &totals->actors, totals);
    print_sizes("records in the shards", &totals->data_records, totals);
    print_sizes("bytes of the shards", &totals->data_bytes, totals);
    fflush(stdout);
}
