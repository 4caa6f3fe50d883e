/* What the shards hold: each record is a function of its shard and its place in it. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_MODEL_H
#define RECMAP_TESTS_SIMULATION_WORLD_MODEL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHARDS_MAX = 16, RECORD_SIZE_MAX = 160 << 10 };

#define NO_DAMAGE UINT_MAX

struct model_shard {
    char path[48];
    uint64_t seed;
    unsigned record_count;
    unsigned
        damaged; /* the record of the file that has a wrong byte, and no number; or NO_DAMAGE */
    unsigned pad_max; /* bytes that a record has beside its id and its number */
    bool is_compressed;
    uint8_t *file;
    size_t file_size;
};

/* The shards of this run. Large ones are the same in all runs. */
extern struct model_shard model_shards[SHARDS_MAX];
extern unsigned model_shard_count;

/* Makes the large shards, which takes long; once, before any run. */
void model_prepare(void);

/* Makes the shards of a run. */
void model_init(uint64_t seed, bool has_large);

/* Writes a record, a tf.Example, to `record`, which has RECORD_SIZE_MAX bytes. Returns its size. */
size_t model_record(uint8_t *record, unsigned shard, unsigned number);

/* The id of a record: text of at most 32 bytes. */
void model_id(char id[32], unsigned shard, unsigned number);

/* What column `column` says of a record. */
int64_t model_value(unsigned column, unsigned shard, unsigned number);

#endif
