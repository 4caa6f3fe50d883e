/* The messages of an index: its manifest, its shards, its list of damage. They are protobuf in the
 * file and plain structs in the rest of the code. Pure: bytes to structs and back. */
#ifndef RECMAP_INDEX_TABLES_MANIFEST_H
#define RECMAP_INDEX_TABLES_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/feature.h>

#include "format/deflate/compression.h"
#include "index/tables/identity.h"

enum {
    INDEX_FORMAT_VERSION = 4, /* the newest that is read; written only if it is needed */
    INDEX_FORMAT_NULLS = 2,   /* the first version in which a chunk of a column may have flags, */
    INDEX_FORMAT_PARTS = 3,   /* a file may have several parts, */
    INDEX_FORMAT_FLOAT64 = 4, /* a column may be of type float64 */
    SHARDS_PER_TABLE = 4096,
    DAMAGES_PER_TABLE = 4096,
    REASON_MAX = 160,
};

struct manifest_column {
    char *name;
    char *default_value; /* or NULL */
    recmap_type type;
    uint64_t first_value; /* number of the first record that has a value; 0 if none has */
    bool is_annotated;    /* values did not come from the records */
    uint64_t null_count;  /* records whose value is null */
};

struct manifest_counted {
    char *name;
    recmap_element element; /* NONE: values are counted */
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
    char *id_name;            /* NULL: no ids */
    bool extracted_by_caller; /* ids and columns were read by a callback */
    bool skips_damage;        /* indexed with RECMAP_ON_BAD_RECORD_SKIP */
    struct manifest_column *columns;
    size_t column_count;
    struct manifest_counted *counted_features;
    size_t counted_feature_count;
    char *header; /* the first row of CSV files, with a NUL after it; NULL: there is none */
    size_t header_size;
};

/* The first column whose values did not come from the records, or NULL. */
const struct manifest_column *manifest_find_annotated(const struct manifest *manifest);

struct shard_entry {
    char *path;
    uint64_t file_size;
    uint64_t size;  /* of the bytes that contain the records: of the file, or after inflating */
    uint64_t start; /* where the records of a part begin that was added to a file later; else 0 */
    enum compression compression;
    int64_t mtime_ns;
    char *etag; /* of an object in a remote store; "" for a file */
    uint64_t record_count;
    uint64_t damage_count;
    uint64_t point_count; /* seek points; the start of the shard is not one */
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

/* Encoders. The result is allocated with malloc; NULL if memory is out. */
uint8_t *manifest_encode(size_t *size, const struct manifest *manifest);
uint8_t *shards_encode(size_t *size, const struct shard_entry *shards, size_t count);
uint8_t *damages_encode(size_t *size, const struct damage_entry *damages, size_t count);

enum decode_verdict { DECODE_OK, DECODE_BAD, DECODE_NO_MEMORY };

/* Decoders. Strings are allocated with malloc. shards_decode and damages_decode append to arrays
 * that have `count` entries, and increase `count`; the result is BAD if `capacity` does not
 * suffice. After an error, the caller must still release the entries up to `count`. */
enum decode_verdict manifest_decode(struct manifest *manifest, const uint8_t *data, size_t size);
enum decode_verdict shards_decode(struct shard_entry *shards, size_t *count, size_t capacity,
                                  const uint8_t *data, size_t size);
enum decode_verdict damages_decode(struct damage_entry *damages, size_t *count, size_t capacity,
                                   const uint8_t *data, size_t size);

void manifest_deinit(struct manifest *manifest);
void shard_entry_deinit(struct shard_entry *entry);

#endif
