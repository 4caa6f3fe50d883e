/* The model of what the library promises: which indexes were published with what contents, which of
 * them were acknowledged, and which records each batch of an epoch has. The program asks it and
 * tells it what the library said. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_ORACLE_H
#define RECMAP_TESTS_SIMULATION_WORLD_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulation/program/role.h"

struct process;
struct inode;
struct mixture;

enum { COLUMNS_MAX = 8, INDEX_SHARDS_MAX = 64, CHECKPOINT_SIZE = 4096 };

/* What an index holds. */
struct index_state {
    uint8_t shards[INDEX_SHARDS_MAX];
    unsigned shard_count;
    uint64_t record_count;
    bool has_column[COLUMNS_MAX];
    uint64_t column_records[COLUMNS_MAX]; /* those that it had when it was annotated */
};

/* What a call of the library is about to do to an index. */
struct change {
    enum role_kind kind;
    const char *index; /* path */
    uint8_t shards[ROLE_SHARDS_MAX];
    unsigned shard_count;
    unsigned column;
};

void oracle_init(void);

/* ---- Indexes. */

void oracle_begin(struct process *process, const struct change *change);
/* The call has returned. Ends the run if it may not return that. */
void oracle_end(struct process *process, int status, const char *message);

/* What the index holds that the process opened last. NULL: it opened none that was published. */
const struct index_state *oracle_opened(const struct process *process);

/* Sets shard and number in the shard of a record. Returns false if it is out of range. */
bool oracle_locate(unsigned *shard, unsigned *number, const struct index_state *state,
                   uint64_t record);

/* The process saw a failure of the library. Ends the run unless a call of it had failed. */
void oracle_failure(const struct process *process, const char *what, int status,
                    const char *message);

/* The name of index number `i` of those that are published now, in any order, or NULL. */
const char *oracle_index(size_t i);

/* All processes are gone after a crash: looks at what is left on the disk. */
void oracle_after_crash(void);

/* Nothing runs any more: looks for files that are left over, temporary ones and locks. If some
 * processes were killed, only for those whose names begin with `start`. */
void oracle_check_folder(const char *start);

/* ---- Epochs. */

/* The records of an epoch in their order. Ends the run if the order may not have these. Epochs are
 * set from 0 on; `mixture` is the order's, if it has sources. */
void oracle_set_sequence(const struct epochs *epochs, const struct mixture *mixture, uint64_t epoch,
                         const uint64_t *numbers, uint64_t count);

/* Where a rank is: the steps that it took since it started at a position of an epoch. */
struct place {
    uint64_t epoch, start, step;
};

/* The number of steps of the epoch from the place's start on. */
uint64_t oracle_step_count(const struct epochs *epochs, const struct place *place);

/* The numbers of a rank's batch; returns how many. */
size_t oracle_batch(uint64_t *numbers, const struct epochs *epochs, const struct place *place,
                    uint32_t rank);

/* The position of a place, as a state says it. */
void oracle_position(uint64_t *epoch, uint64_t *position, const struct epochs *epochs,
                     const struct place *place);

/* The last state that a run saved; returns its size, 0 if there is none. */
size_t oracle_load_checkpoint(char *text, struct place *place);
void oracle_save_checkpoint(const char *text, size_t size, const struct place *place);

#endif
