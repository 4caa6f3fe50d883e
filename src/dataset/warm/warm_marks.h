/* Which parts of the shards are to be warmed. The shards (compressed ones as what they inflate to)
 * are divided into units of 4 KiB, or of more if the data set is so large that the marks would take
 * much memory. A unit is marked once: what was taken is not marked again. */
#ifndef RECMAP_DATASET_WARM_WARM_MARKS_H
#define RECMAP_DATASET_WARM_WARM_MARKS_H

#include "dataset/open/dataset.h"

/* Bytes [begin, end) of a shard, or of what it inflates to. */
struct warm_range {
    uint32_t shard_index;
    uint64_t begin, end;
};

/* A longer range is divided, so that there is something to do for several threads. */
enum { WARM_RANGE_MAX = 8 << 20 };

struct warm_marks {
    const recmap_dataset *dataset;
    uint64_t unit;
    uint64_t *first_units; /* of each shard, and the end of the last one */
    uint64_t unit_count;
    uint64_t *done;         /* a bit for each unit that was marked, or lies between such units */
    uint64_t *marked;       /* a bit for each unit that is to be taken */
    uint64_t marked_count;  /* units */
    uint64_t stretch_count; /* sequences of marked units, about */
    uint64_t next;          /* the unit from which the next range is searched */
};

/* Errors: NO_MEMORY. Must be deinitialised even then. */
recmap_status warm_marks_init(struct warm_marks *marks, const recmap_dataset *dataset,
                              recmap_error *error);
void warm_marks_deinit(struct warm_marks *marks);

/* Marks the units of a record. */
void warm_marks_add(struct warm_marks *marks, const struct index_place *place);

/* Takes the next range of marked units, in the sequence of the shards. What lies between two marked
 * units is in the range too if it is short, because another read would cost more. Returns false if
 * nothing is marked. */
bool warm_marks_take(struct warm_range *range, struct warm_marks *marks);

/* Bytes of marked units, altogether and on average of those that follow each other. */
uint64_t warm_marks_size(const struct warm_marks *marks);
uint64_t warm_marks_stretch_size(const struct warm_marks *marks);

#endif
