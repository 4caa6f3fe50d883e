/* What ranks read: an index, or a concatenation of two, in an order. */
#ifndef RECMAP_TESTS_SIMULATION_PROGRAM_CORPUS_H
#define RECMAP_TESTS_SIMULATION_PROGRAM_CORPUS_H

#include "simulation/program/program.h"
#include "simulation/world/mixture.h"
#include "simulation/world/oracle.h"

struct corpus {
    recmap_dataset *dataset;
    const struct index_state *state;
    recmap_order *order;
    struct mixture mixture; /* that the order is, if it has sources */
    /* Of a concatenation. */
    recmap_dataset *indexes[2];
    const struct index_state *states[2];
    recmap_dataset
        *first_parts; /* the first two of three, which are a concatenation too; or NULL */
    struct index_state joined;
};

/* Opens the data set of the role. Returns false if that fails because a call failed. */
bool corpus_open(struct corpus *corpus, const struct actor *actor);

recmap_status corpus_create_order(struct corpus *corpus, const struct epochs *epochs,
                                  recmap_error *error);

/* Closes what was opened. */
void corpus_close(struct corpus *corpus);

#endif
