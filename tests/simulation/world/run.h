/* One run: a world made from a seed, the processes that live in it, and what becomes of them. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_RUN_H
#define RECMAP_TESTS_SIMULATION_WORLD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "simulation/world/faults.h"
#include "simulation/world/schedule.h"

/* What shrinking takes away from the run of a seed. */
struct run_cuts {
    uint64_t preemption_limit;
    bool preemptions[PREEMPTIONS_MAX];
    bool faults[FAULTS_MAX];
    bool kills;
    bool lateness;
};

#define RUN_CUTS_INIT                                                                              \
    { UINT64_MAX, {false}, {false}, false, false }

/* Returns if all is well. Else the process ends, and the report says why. */
void run_seed(uint64_t seed, const struct run_cuts *cuts);

#endif
