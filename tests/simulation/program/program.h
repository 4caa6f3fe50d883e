/* The program that simulated processes run: it plays roles with the public API, and compares all
 * that the library says with the model. It is one shared object with the library and LMDB. */
#ifndef RECMAP_TESTS_SIMULATION_PROGRAM_PROGRAM_H
#define RECMAP_TESTS_SIMULATION_PROGRAM_PROGRAM_H

#include <recmap/recmap.h>

#include "simulation/program/role.h"
#include "simulation/world/random.h"

/* Where the world starts a process. */
void program_main(const struct role *role);

/* Makes the thread-local variables exist. */
void program_touch_tls(void);

/* A process: its role, and the random choices of its main thread. */
struct actor {
    const struct role *role;
    struct random_stream choices;
    bool has_stopped; /* it told the running call to stop */
};

/* Compares the record with the model; `number` is its number in the data set. */
struct index_state;
void check_record(const struct index_state *state, const recmap_record *record, uint64_t number);

void actor_change_index(struct actor *actor); /* BUILD, MERGE, APPEND, ANNOTATE, WRITE */
void actor_read(struct actor *actor);         /* READ, CHECK */
void actor_set_sequence(struct actor *actor); /* SEQUENCE */
void actor_load(struct actor *actor);         /* LOAD */

/* Saves a selection of the data set, and reads it back. */
void actor_select(struct actor *actor, recmap_dataset *dataset, const struct index_state *state);

void actor_read_orders(struct actor *actor); /* ORDERS */

/* A storage whose objects are those of the simulated store, or NULL without memory. */
recmap_storage *actor_create_storage(void);

/* A call of the library failed, which ends the run if no call of the process had failed. */
void actor_fail(const struct actor *actor, const char *what, recmap_status status,
                const recmap_error *error);

/* Opens the index of the role. Returns NULL if that fails because a call failed. */
recmap_dataset *actor_open(const struct actor *actor, const struct index_state **state);

/* The same of any index. */
recmap_dataset *actor_open_index(const struct actor *actor, const char *path,
                                 const struct index_state **state);

#endif
