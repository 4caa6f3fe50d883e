/* Data sets to be mutated: small shards of every framing, plain and compressed, with ids, lifted
 * columns, element counts, damage, and seek points close to each other. */
#ifndef RECMAP_TESTS_SUPPORT_INDEX_MUTATION_SAMPLES_H
#define RECMAP_TESTS_SUPPORT_INDEX_MUTATION_SAMPLES_H

#include <recmap/recmap.h>

#include "format/deflate/compression.h"
#include "support/buffer.h"

enum {
    SAMPLE_FRAMINGS = 6,
    SAMPLE_COMPRESSIONS = 3,
    SAMPLE_KINDS = SAMPLE_FRAMINGS * SAMPLE_COMPRESSIONS,
    SAMPLE_SETS = SAMPLE_KINDS + 1, /* the last has a shard of each kind */
    SAMPLE_FILES = 3,               /* shards of a set */
    SAMPLE_FILE_RECORDS = 15,
    SAMPLE_COUNTED = 2,
    SAMPLE_LIFTS = 4,
};

/* The columns of all sets: two with defaults, and two with nulls, of which one has few texts. */
extern const recmap_lift samples_lifts[SAMPLE_LIFTS];

/* The features that all sets count. Their counts are made up: most records are not tf.Examples. */
extern const recmap_counted_feature samples_counted[SAMPLE_COUNTED];

/* A shard's file, and what it inflates to. */
struct sample_file {
    char name[16];
    size_t kind;
    struct buffer bytes;
    struct buffer content;
};

/* Writes the shards and the indexes of all sets into the current folder. */
void samples_write(void);
void samples_deinit(void);

/* "set00.rmx" and so on; `name` has room for 16 bytes. */
const char *samples_index_name(char *name, size_t set);

/* Writes a mutated index of some set to `path`; the seed repeats it. */
void samples_mutate(const char *path, uint64_t seed);

/* The file of that name, or NULL. */
const struct sample_file *samples_find(const char *name);

const char *samples_framing(size_t kind);

/* Gives the id and the columns of a record of any set. */
recmap_status samples_extract(const recmap_record *record, recmap_value *id, recmap_value *columns,
                              size_t column_count, char *message, size_t message_capacity,
                              void *context);

#endif
