/* What a mixture promises: of the first t draws of a run, each source has its share of t, rounded
 * up or down; and it draws each of its records once before it draws any of them again. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_MIXTURE_H
#define RECMAP_TESTS_SIMULATION_WORLD_MIXTURE_H

#include <stdbool.h>
#include <stdint.h>

enum { MIXTURE_SOURCES_MAX = 3 };

struct mixture {
    unsigned source_count;
    uint64_t sizes[MIXTURE_SOURCES_MAX];   /* records of each source; none is empty */
    uint64_t weights[MIXTURE_SOURCES_MAX]; /* not 0 */
    bool stops_last;                       /* else before any source would start again */
};

/* Ends the run if the draws of an epoch break these rules. Epochs are checked from 0 on, in their
 * order: each source continues where it was. */
void mixture_check_epoch(const struct mixture *mixture, uint64_t epoch, const uint64_t *numbers,
                         uint64_t count);

#endif
