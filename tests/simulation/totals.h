/* Sums over the reports of many runs. */
#ifndef RECMAP_TESTS_SIMULATION_TOTALS_H
#define RECMAP_TESTS_SIMULATION_TOTALS_H

#include <stdint.h>

enum { SIZE_CLASSES = 48 };

/* How many runs have a size from 2^i to 2^(i+1) - 1. */
struct sizes {
    uint64_t counts[SIZE_CLASSES];
};

struct totals {
    uint64_t runs, processes, epochs, rank_epochs, records, indexes, points, preemptions, faults;
    uint64_t with_processes, with_crash, with_kill, with_fault;
    struct sizes actors, data_records, data_bytes;
    double virtual_s;
    uint64_t longest_seed, longest_points, longest_ns; /* the run that had the most points */
};

/* Adds the report of the last run. */
void totals_add(struct totals *totals, uint64_t seed);

/* Prints the totals, and flushes the output. `seconds` is how long the runs took. */
void totals_print(const struct totals *totals, uint64_t first_seed, double seconds);

#endif
