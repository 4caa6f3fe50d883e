/* What an index says of itself and of its shards: the protobuf messages of the file, as plain
 * structs to the rest of the code. Pure: bytes to structs and back. */
#ifndef RECMAP_INDEX_MANIFEST_H
#define RECMAP_INDEX_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/record.h>

#include "format/compression.h"
#include "index/identity.h"

enum {
    INDEX_FORMAT_VERSION = 1,
    SHARDS_PER_TABLE = 4096,
    DAMAGES_PER_TABLE = 4096,
    REASON_MAX = 160,
};

struct manifest_column {
    char *name;
    char *default_value; /* or NULL */
    recmap_type type;
    uint64_t first_value; /* number of the first record that has it; 0 where none does */
};

struct manifest {
    uint32_t format_version;
    uint64_t record_count;
    uint64_t shard_count;
    uint64_t byte_count;
    uint64_t id_count;
    uint64_t damage_count;
    uint64_t damaged_byte_count;
    uint8_t fingerprint[16];
    char *id_name; /* NULL: no ids */
    bool extracted_by_caller;
    bool skips_damage;
    struct manifest_column *columns;
    size_t column_count;
};

struct shard_entry {
    char *path;
    uint64_t file_size;
    uint64_t size; /* of the bytes that records lie in */
    compression compression;
    int64_t mtime_ns;
    uint64_t record_count;
    uint64_t damage_count;
    uint64_t point_count; /* where inflating can begin, beside its beginning */
    char *framing;
    uint64_t tail_size; /* bytes at the end that belong to no record */
    struct shard_identity identity;
};

struct damage_entry {
    uint64_t shard;
    uint64_t offset;
    uint64_t length;
    char *reason;
};

/* Encoders: malloc'ed bytes, or NULL when memory is out. */
uint8_t *manifest_encode(size_t *size, const struct manifest *manifest);
uint8_t *shards_encode(size_t *size, const struct shard_entry *shards, size_t count);
uint8_t *damages_encode(size_t *size, const struct damage_entry *damages, size_t count);

typedef enum decode_verdict { DECODE_OK, DECODE_BAD, DECODE_NO_MEMORY } decode_verdict;

/* Decoders: strings are malloc'ed. The tables append to arrays that hold `count` entries and have
 * room for `capacity`; more than that is bad. */
decode_verdict manifest_decode(struct manifest *manifest, const uint8_t *data, size_t size);
decode_verdict shards_decode(struct shard_entry *shards, size_t *count, size_t capacity,
                             const uint8_t *data, size_t size);
decode_verdict damages_decode(struct damage_entry *damages, size_t *count, size_t capacity,
                              const uint8_t *data, size_t size);

void manifest_free(struct manifest *manifest);
void shard_entry_free(struct shard_entry *shard);

#endif
