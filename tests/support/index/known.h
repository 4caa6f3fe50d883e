/* A data set of which everything is known: random records in some shards, some with ids and
 * features to lift, some damage between them. */
#ifndef RECMAP_TESTS_SUPPORT_INDEX_KNOWN_H
#define RECMAP_TESTS_SUPPORT_INDEX_KNOWN_H

#include <recmap/recmap.h>

#include "support/buffer.h"

struct known_record {
    uint8_t *data;
    size_t size;
    size_t shard;
    uint64_t offset; /* of the frame in the shard */
    bool has_id, has_label, has_score, has_word, has_late;
    uint64_t id; /* its number; as an id it is an int64 or a text */
    int64_t label;
    float score;
    char word[16];
    int64_t late;
};

struct known_damage {
    size_t shard;
    uint64_t offset, length;
};

struct known {
    struct known_record *records;
    size_t count;
    struct known_damage *damages;
    size_t damage_count;
    struct buffer
        *shards; /* what records lie in; where a shard is compressed, its file holds less or more */
    uint64_t *file_sizes;
    size_t shard_count;
    bool has_text_ids;
    uint64_t id_limit; /* ids are below */
};

struct known_options {
    size_t shard_count;
    size_t record_count;
    size_t record_size; /* at most, beside the features */
    bool is_damaged;
    bool has_text_ids;
    bool is_compressed; /* some shards are, by GZIP or ZLIB */
};

/* Makes it and writes its shards under the names of shard_names. */
struct known known_generate(const struct known_options *options, struct rng *random);
void known_deinit(struct known *set);

/* The options with which it is indexed: ids of feature "id"; columns "label" (int64, default 5),
 * "score" (float, default -0.5), "word" (bytes, default "none"), "late" (int64 from some record on,
 * default 7), "never" (default 2.5). The values of "label" and the bytes of "word" are counted. */
recmap_index_options known_index_options(const struct known *set);
enum { KNOWN_COLUMNS = 5 };

/* The id of a record as a value; `text` is where a text is put. */
recmap_value known_id(const struct known *set, uint64_t id, char text[24]);

/* Asserts that the data set is this one: records one by one, in batches, in ranges; columns,
 * lengths, places, shards and damage. */
void known_assert_records(const struct known *set, recmap_dataset *dataset);
void known_assert_batches(const struct known *set, recmap_dataset *dataset, struct rng *random);
void known_assert_counts(const struct known *set, recmap_dataset *dataset);
void known_assert_columns(const struct known *set, recmap_dataset *dataset);
void known_assert_places(const struct known *set, recmap_dataset *dataset);
void known_assert_ids(const struct known *set, recmap_dataset *dataset);

#endif
