/* A small data set that has everything an index can hold: shards "s00000" to "s00002" with damage
 * between their records, text ids, lifted columns of every type. */
#ifndef RECMAP_TESTS_SUPPORT_INDEX_SAMPLE_H
#define RECMAP_TESTS_SUPPORT_INDEX_SAMPLE_H

#include <recmap/recmap.h>

enum {
    SAMPLE_SHARDS = 3,
    SAMPLE_SHARD_RECORDS = 200,
    SAMPLE_RECORDS = SAMPLE_SHARDS * SAMPLE_SHARD_RECORDS,
    SAMPLE_DAMAGES = SAMPLE_SHARDS * 2,
    SAMPLE_DAMAGE_SIZE = 20,
    SAMPLE_COLUMNS = 4, /* "number" int64, "share" float, "word" bytes, "never" without a value */
};

/* Writes shards and index. */
void sample_build(const char *index_path);
recmap_index_options sample_options(void);

/* The id of a record, its text in `text`. */
recmap_value sample_id(char text[24], uint64_t number);

#endif
