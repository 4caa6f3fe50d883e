/* Looks up a group of ids at once. The table of ids is read by ascending hash and the candidates by
 * ascending record number, so that memory is read from front to back. */
#ifndef RECMAP_DATASET_LOOKUP_ID_LOOKUP_H
#define RECMAP_DATASET_LOOKUP_ID_LOOKUP_H

#include "dataset/lookup/find.h"
#include "dataset/lookup/id_key.h"

/* The caller sets the first group of fields before each run, and zeroes the others once. */
struct id_lookup {
    recmap_dataset *dataset;     /* not a concatenation */
    uint64_t first_record;       /* records of a concatenation that precede the data set */
    recmap_position_fn position; /* or NULL: the position of a record is its number */
    void *position_context;
    const recmap_value *ids; /* type NONE: absent */
    /* One for each id. On input, -1 or a position that was found before; all -1 if first_record is
     * 0. */
    int64_t *positions;
    size_t count;

    /* A word of each id that is looked up. The lowest slot_bits are its slot, the index in `ids`.
     * The others are first the highest bits of its hash, then the number of a record. */
    uint64_t *items;
    uint64_t *scratch;
    unsigned slot_bits;
    struct id_key *keys; /* of each slot */
    size_t capacity;     /* of the arrays, which are kept from one run to the next */
    size_t item_count;
    size_t *part_counts; /* items that each part wrote */
    size_t part_count;
    unsigned thread_count;
    bool is_mapped;
};

/* How many ids can be looked up together at most. More would need more memory and hardly save time:
 * the table of ids and the shards are read once for each run. */
size_t id_lookup_limit(const recmap_dataset *dataset);

/* Sets positions[i] to the lowest position of a record whose id is ids[i], if there is one and it
 * is lower than the position found before. Errors: those of recmap_dataset_find, except NOT_FOUND;
 * CANCELLED. */
recmap_status id_lookup_run(struct id_lookup *lookup, recmap_error *error);
void id_lookup_deinit(struct id_lookup *lookup);

/* Returns true if no record of the data set is copied to be read. */
bool dataset_is_mapped(const recmap_dataset *dataset);

/* Returns how many of the `count` ascending record numbers to read in one group: few enough that
 * copies of the records fit in a few MiB, but at least one. */
size_t read_group_count(const recmap_dataset *dataset, bool is_mapped, const uint64_t *numbers,
                        size_t count);

#endif
