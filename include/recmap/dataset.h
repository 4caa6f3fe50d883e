/* A data set: any record by number or by id, out of the shards where they lie. */
#ifndef RECMAP_DATASET_H
#define RECMAP_DATASET_H

#include <recmap/batch.h>
#include <recmap/parser.h>
#include <recmap/progress.h>
#include <recmap/record.h>
#include <recmap/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the bytes of shards are reached. All give equal results. */
typedef enum recmap_access {
    RECMAP_ACCESS_MAP = 0,  /* mmap: views into the page cache, no copy */
    RECMAP_ACCESS_READ = 1, /* pread: a copy a record; survives shards that are cut short, needs no
                               address space */
    RECMAP_ACCESS_DIRECT = 2, /* as READ; but a loader reads past the page cache, many records at
                                 once (io_uring, O_DIRECT), into memory of the batches: see
                                 loader.h */
} recmap_access;

/* What is checked before a record is handed out. A record's header is always checked. */
typedef enum recmap_check {
    RECMAP_CHECK_DATA = 0,   /* the CRC of its data too */
    RECMAP_CHECK_HEADER = 1, /* the header alone: its CRC, and that it fits the index */
} recmap_check;

/* What of the index is checked on opening. */
typedef enum recmap_index_check {
    RECMAP_INDEX_CHECK_LAZY = 0, /* size, seal and structure; every value by its own hash when it
                                    is first used. Cost: microseconds, the same at any size */
    RECMAP_INDEX_CHECK_FULL = 1, /* the hash of the whole file too, at several GB a second */
} recmap_index_check;

typedef struct recmap_dataset_options {
    uint32_t version; /* RECMAP_DATASET_OPTIONS_VERSION */
    recmap_access access;
    recmap_check check;
    recmap_index_check index_check;
    int index_in_memory;      /* not 0: the index is copied to memory, so that it too survives being
                                 cut short in place */
    int allow_absolute_paths; /* not 0: an index may name shards outside its own folder by absolute
                                 paths. Off by default: an index that came from elsewhere could
                                 name any file. Opening such an index is then INVALID. */
    int guard;                /* not 0: install the guard (recmap_guard_install) first */
    unsigned shard_limit;     /* most shards mapped (or open) at once; 0: a default that fits the
                                 limits of the process. Pinned shards can exceed it. */
    recmap_extract_fn extract; /* where the index was built with a callback: the same one, needed
                                  to find records by id */
    void *extract_context;
    uint64_t span_keep_size; /* most bytes kept of what compressed shards inflate to, by this data
                                set in this process, for all its threads; 0: 1 GiB. What threads are
                                reading from at the moment comes on top: a span or a few each. Any
                                value gives the same records. With less than the spans in use each
                                is inflated again for each record, or batch, that needs it. */
} recmap_dataset_options;

#define RECMAP_DATASET_OPTIONS_VERSION 2
#define RECMAP_DATASET_OPTIONS_INIT                                                                \
    {                                                                                              \
        RECMAP_DATASET_OPTIONS_VERSION, RECMAP_ACCESS_MAP, RECMAP_CHECK_DATA,                      \
            RECMAP_INDEX_CHECK_LAZY, 0, 0, 0, 0, NULL, NULL, 0                                     \
    }

/* Threads: every function but recmap_dataset_close may be called from many threads at once.
 * Fork: a child may use a data set that was opened before the fork, and so may the parent; each
 * closes its own. */
typedef struct recmap_dataset recmap_dataset;

/* Opens the index at `path`. No shard is touched. NULL options are the defaults.
 *
 * Errors: IO when the file cannot be opened or is no regular file; CORRUPT when it is no recmap
 * index or is damaged; UNSUPPORTED for a newer format version or another LMDB file format.
 * Cost: under 1 ms for few shards, at any number of records; the shard table is read whole. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_open(recmap_dataset **dataset,
                                                              const char *path,
                                                              const recmap_dataset_options *options,
                                                              recmap_error *error);

/* Ends the data set and every record and batch that came from it. NULL may be closed. */
RECMAP_API void recmap_dataset_close(recmap_dataset *dataset);

/* 128 bits that tell data sets apart: a hash over the record boundaries and data CRCs of all
 * shards, in order. Paths and times are no part of it. */
typedef struct recmap_fingerprint {
    uint8_t bytes[16];
} recmap_fingerprint;

typedef struct recmap_dataset_info {
    uint64_t record_count;
    uint64_t shard_count;
    uint64_t byte_count; /* of all shards */
    uint64_t index_size; /* bytes of the index file */
    uint64_t id_count;   /* records that have an id */
    uint64_t damage_count;
    uint64_t damaged_byte_count;
    size_t column_count;
    const char *id_name; /* the id feature's name, or NULL without ids */
    recmap_fingerprint fingerprint;
} recmap_dataset_info;

/* Never fails; valid until the data set is closed. */
RECMAP_API const recmap_dataset_info *recmap_dataset_get_info(const recmap_dataset *dataset);
RECMAP_API uint64_t recmap_dataset_count(const recmap_dataset *dataset);

/* One JSON document: records, shards, bytes, index_bytes, fingerprint, ids, columns, damage,
 * compressed. With `with_shards`, "shard_table" lists every shard. Errors: CORRUPT (the index),
 * NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_info_to_json(recmap_text *text,
                                                                      recmap_dataset *dataset,
                                                                      int with_shards,
                                                                      recmap_error *error);

typedef struct recmap_shard_info {
    const char *path;      /* as the index names it: relative to the index's folder, or absolute */
    uint64_t size;         /* bytes of the file */
    uint64_t first_record; /* number of its first record */
    uint64_t record_count;
    const char *framing;     /* "tfrecord" */
    const char *compression; /* "none", "gzip" or "zlib" */
    uint8_t hash[16];        /* XXH3-128 over its record boundaries and data CRCs */
} recmap_shard_info;

/* Errors: INVALID when `shard_index` is out of range. Strings live as long as the data set. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_get_shard(recmap_shard_info *info,
                                                                   const recmap_dataset *dataset,
                                                                   uint64_t shard_index,
                                                                   recmap_error *error);

/* Compressed shards are inflated in spans of a few MiB, from one seek point of the index to the
 * next, and spans are kept as long as there is room (options.span_keep_size), for all threads. A
 * span of more than 64 MiB, of a stream whose deflate blocks are that long, is inflated and kept in
 * pieces of 16 MiB.
 */
typedef struct recmap_span_statistics {
    uint64_t inflate_count; /* spans, or pieces, inflated since the data set was opened */
    uint64_t inflated_size; /* bytes that came out */
    uint64_t hit_count;     /* how often a span was at hand already */
    uint64_t evict_count;   /* spans that had to go */
    uint64_t held_size;     /* bytes kept now */
} recmap_span_statistics;

/* Never fails. Threads: any. */
RECMAP_API recmap_span_statistics recmap_dataset_get_span_statistics(const recmap_dataset *dataset);

/* The compressed shards of a data set, all zeros where there are none. Where the spans together are
 * larger than what is kept, many records in random order cost a span each. */
typedef struct recmap_span_info {
    uint64_t shard_count;   /* compressed ones */
    uint64_t byte_count;    /* of their files */
    uint64_t inflated_size; /* what they inflate to: all spans together */
    uint64_t point_count;
    uint64_t span_count;
    uint64_t largest_size; /* of a span, inflated */
    uint64_t keep_size;    /* most bytes of spans that are kept */
} recmap_span_info;

/* Errors: CORRUPT (the index), NO_MEMORY. Cost: reads all points. Threads: any. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_get_span_info(
    recmap_span_info *info, const recmap_dataset *dataset, recmap_error *error);

/* Bytes of a shard that are no record. */
typedef struct recmap_damage {
    uint64_t shard_index;
    uint64_t record;    /* the number of the record, where one is hurt; else RECMAP_NO_RECORD */
    uint64_t offset;    /* in the shard */
    uint64_t length;    /* bytes; 0 where the whole shard is meant (missing, stale) */
    const char *path;   /* of the shard */
    const char *reason; /* one line */
} recmap_damage;

/* Damage `damage_index` of those that the index lists (info.damage_count), in file order. Strings
 * live as long as the data set. Errors: INVALID out of range, CORRUPT (the index). */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_get_damage(recmap_damage *damage,
                                                                    recmap_dataset *dataset,
                                                                    uint64_t damage_index,
                                                                    recmap_error *error);

/* Where a record lies, out of the index alone; no shard is read. */
typedef struct recmap_location {
    uint64_t shard_index;
    uint64_t offset; /* of the record's frame in the shard */
    uint64_t size;   /* bytes of its payload */
} recmap_location;

/* `count` records from `first` on. Errors: INVALID out of range, CORRUPT (the index).
 * Cost: about 10 ns a record. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_locate(recmap_location *locations,
                                                                recmap_dataset *dataset,
                                                                uint64_t first, size_t count,
                                                                recmap_error *error);

/* The record `number`, 0 being the first. The record is valid until it is released or the data set
 * is closed; `record` is untouched after an error.
 *
 * Errors: INVALID out of range; IO when the shard cannot be opened or read; STALE when it is
 * another file than the one that was indexed (size, header, or changed time and changed content);
 * CORRUPT when a CRC does not hold.
 * Cost: one or two cache misses in the index, those of the record, and its CRC. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_get(recmap_record *record,
                                                             recmap_dataset *dataset,
                                                             uint64_t number, recmap_error *error);

/* A record that was found and not looked at yet. Read `data` and `size`; the rest is private. */
typedef struct recmap_peek {
    const uint8_t *data;
    size_t size;
    uint64_t number;
    uint64_t offset;
    uint32_t shard_index;
    const void *shard;
} recmap_peek;

/* recmap_dataset_get in two halves, for a caller who has something else to do while the record's
 * bytes come out of memory: recmap_dataset_peek says where they will be and asks the processor for
 * them, recmap_dataset_check looks at them. Between the two they must not be read: they may be
 * anything. Not 0 when it could; 0 when there is an error, or the shards are of a kind (copied,
 * pinned, compressed in another way) for which there is only recmap_dataset_get, which then tells.
 * The bytes live as long as the data set; there is nothing to release. Threads: as get. */
RECMAP_API int recmap_dataset_peek(recmap_peek *peek, recmap_dataset *dataset, uint64_t number);

/* Whether the record holds. Errors: as recmap_dataset_get. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_check(recmap_dataset *dataset,
                                                               const recmap_peek *peek,
                                                               recmap_error *error);

/* `count` records into `batch`, in the order of `numbers`, which may repeat and need no order. The
 * records are visited in file order and fetched ahead of use. The batch's former records end.
 * Errors: as recmap_dataset_get, for the first such record in file order; the batch is then empty.
 * Cost: several times less than as many calls of get. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_gather(recmap_batch *batch,
                                                                recmap_dataset *dataset,
                                                                const uint64_t *numbers,
                                                                size_t count, recmap_error *error);

/* Records [first, first + count), as gather. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_gather_range(recmap_batch *batch,
                                                                      recmap_dataset *dataset,
                                                                      uint64_t first, size_t count,
                                                                      recmap_error *error);

/* As recmap_dataset_gather, and parses the records into the columns of the batch
 * (recmap_batch_columns), whose views lead into its records.
 * Errors: also CORRUPT for a record that is no tf.Example (or SequenceExample) and FEATURE for one
 * whose features are not as asked, the first in the order of `numbers`, with shard, record and
 * byte; none with RECMAP_PARSE_COLLECT. The batch is then empty. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_parse(
    recmap_batch *batch, recmap_dataset *dataset, const recmap_parser *parser,
    const uint64_t *numbers, size_t count, recmap_parse_mode mode, recmap_error *error);

/* The number of the first record whose id is `id` (type BYTES or INT64).
 * Errors: NOT_FOUND, naming the id; INVALID when the index has no ids, or has them from a callback
 * and options.extract is NULL; else as recmap_dataset_get, since the id is compared in the record.
 * Cost: two or three cache misses in the index, then one record. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_find(uint64_t *number,
                                                              recmap_dataset *dataset,
                                                              const recmap_value *id,
                                                              recmap_error *error);

/* All records with this id, ascending: up to `capacity` numbers are written, `count` is their true
 * number (0 is no error). `numbers` may be NULL when `capacity` is 0. Errors: as
 * recmap_dataset_find, but for NOT_FOUND. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_find_all(uint64_t *numbers,
                                                                  size_t capacity, size_t *count,
                                                                  recmap_dataset *dataset,
                                                                  const recmap_value *id,
                                                                  recmap_error *error);

#define RECMAP_NO_ID_HASH UINT64_MAX

/* The 48-bit hash of the id of every record (docs/index-format.md), RECMAP_NO_ID_HASH where it has
 * none: `hashes` has room for record_count. For dealing records out by their ids, so that what
 * belongs together stays together. Errors: CORRUPT (the index). Cost: some 10 ns a record. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_read_id_hashes(uint64_t *hashes,
                                                                        recmap_dataset *dataset,
                                                                        recmap_error *error);

typedef struct recmap_column_info {
    const char *name; /* lives as long as the data set */
    recmap_type type;
    const char *default_value; /* or NULL */
} recmap_column_info;

/* Column `column_index` of info.column_count; the first is always "@length", the size in bytes of
 * each record's payload (int64). Errors: INVALID out of range. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_get_column(recmap_column_info *info,
                                                                    const recmap_dataset *dataset,
                                                                    size_t column_index,
                                                                    recmap_error *error);

/* The index of the column `name`. Errors: NOT_FOUND. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_find_column(size_t *column_index,
                                                                     const recmap_dataset *dataset,
                                                                     const char *name,
                                                                     recmap_error *error);

/* The column's values of records [first, first + count), as its type: int64, float, or views of
 * bytes that live as long as the data set. Errors: INVALID for another type or out of range;
 * CORRUPT (the index). Cost: a few ns a value. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_read_int64(int64_t *values,
                                                                    recmap_dataset *dataset,
                                                                    size_t column_index,
                                                                    uint64_t first, size_t count,
                                                                    recmap_error *error);
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_read_float(float *values,
                                                                    recmap_dataset *dataset,
                                                                    size_t column_index,
                                                                    uint64_t first, size_t count,
                                                                    recmap_error *error);
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_read_bytes(recmap_value *values,
                                                                    recmap_dataset *dataset,
                                                                    size_t column_index,
                                                                    uint64_t first, size_t count,
                                                                    recmap_error *error);

typedef struct recmap_verify_options {
    uint32_t version;            /* RECMAP_VERIFY_OPTIONS_VERSION */
    unsigned thread_count;       /* 0: one a core that this process may use */
    int index_only;              /* not 0: the shards are not read */
    recmap_progress_fn progress; /* or NULL */
    void *progress_context;
} recmap_verify_options;

#define RECMAP_VERIFY_OPTIONS_VERSION 1
#define RECMAP_VERIFY_OPTIONS_INIT                                                                 \
    { RECMAP_VERIFY_OPTIONS_VERSION, 0, 0, NULL, NULL }

/* What verify found beyond the damage that the index lists. */
typedef struct recmap_report recmap_report;

/* Checks every byte: the index against its seal, every record against its CRCs, every shard against
 * its hash. Damage in shards, and shards that are missing or stale, are findings: they go into the
 * report, which the caller destroys, and the status is OK. Damage to the index itself is an error.
 * Errors: CORRUPT (the index), NO_MEMORY, CANCELLED. Cost: one pass over all shards. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_dataset_verify(recmap_report **report, recmap_dataset *dataset,
                      const recmap_verify_options *options, recmap_error *error);
RECMAP_API void recmap_report_destroy(recmap_report *report);

RECMAP_API uint64_t recmap_report_record_count(const recmap_report *report); /* found good */
RECMAP_API size_t recmap_report_damage_count(const recmap_report *report);   /* new damage */
/* Damage `damage_index`, in file order; strings live as long as the report and its data set. */
RECMAP_API recmap_damage recmap_report_get_damage(const recmap_report *report, size_t damage_index);
/* Appends one JSON document: the good records, and each damage. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_report_to_json(recmap_text *text,
                                                                const recmap_report *report,
                                                                recmap_error *error);

/* The guard turns SIGBUS into an error. Reading a mapped file that was cut short raises SIGBUS; the
 * guard's handler, when the address lies in a map of recmap's, puts zeros there and marks the map,
 * so that the read fails its CRC and the error says that the file was cut. All other SIGBUS go on
 * to the handler that was there before. Signal handlers belong to the application: the library
 * installs this one only when asked. Installing it again does nothing.
 * A view that was handed out before the file was cut reads as zeros from then on.
 * Errors: IO when the handler cannot be installed. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_guard_install(recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
