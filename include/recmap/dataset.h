/* A data set: random access to records by number or by id. The records stay in their shards. */
#ifndef RECMAP_DATASET_H
#define RECMAP_DATASET_H

#include <recmap/batch.h>
#include <recmap/counts.h>
#include <recmap/parser.h>
#include <recmap/progress.h>
#include <recmap/record.h>
#include <recmap/storage.h>
#include <recmap/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the bytes of shards are read. All modes give the same results. */
typedef enum recmap_access {
    RECMAP_ACCESS_MAP = 0, /* mmap: views into the page cache, no copy */
    /* pread: one copy per record; survives truncated shards, needs no address space */
    RECMAP_ACCESS_READ = 1,
    /* as READ, except that a loader bypasses the page cache and reads many records at once
       (io_uring, O_DIRECT) into memory of the batches: see loader.h */
    RECMAP_ACCESS_DIRECT = 2,
    /* DIRECT if the shards together are larger than the memory of the machine (or of the control
       group that limits this process) and direct reads are possible; otherwise MAP. Decided when
       the data set is opened: see recmap_dataset_info.access */
    RECMAP_ACCESS_AUTO = 3,
} recmap_access;

/* What is checked before a record is returned. A record's header is always checked. */
typedef enum recmap_check {
    RECMAP_CHECK_DATA = 0,   /* also the CRC of its data */
    RECMAP_CHECK_HEADER = 1, /* only the header: its CRC, and that it matches the index */
} recmap_check;

/* What is checked when the index is opened. */
typedef enum recmap_index_check {
    RECMAP_INDEX_CHECK_LAZY = 0, /* size, seal and structure; each value by its own hash when it is
                                    first used. Cost: microseconds, independent of the size */
    RECMAP_INDEX_CHECK_FULL = 1, /* also the hash of the whole file, at several GB per second */
} recmap_index_check;

typedef struct recmap_dataset_options {
    uint32_t version; /* RECMAP_DATASET_OPTIONS_VERSION */
    recmap_access access;
    recmap_check check;
    recmap_index_check index_check;
    int index_in_memory; /* not 0: copy the index to memory, so that truncating its file in place
                            has no effect */
    int allow_absolute_paths; /* not 0: accept an index that names shards outside its own folder by
                                 absolute paths. Off by default, because an index from elsewhere
                                 could name any file. Without it, such an index is INVALID, and so
                                 is a shard that is a symbolic link, unless the user, root or the
                                 owner of the file made it */
    int guard;                /* not 0: install the guard (recmap_guard_install) first */
    unsigned
        shard_limit; /* upper bound on the shards that are mapped (or open) at once; 0: a default
                        that fits the limits of the process. Pinned shards can exceed it */
    recmap_lift_fn lift; /* if the index was built with a callback: the same callback, needed
                                 to find records by id */
    void *lift_context;
    const char *shards; /* a folder, or the URL of one, to read the shards from, or NULL. Without
                           it, relative names are in the index's folder. With it, relative names are
                           in this folder, and so are absolute names, without the path that all of
                           them have in common. If no shard is found so, all are looked up by the
                           last parts of their names, unless two are equal. Allows absolute names
                           without allow_absolute_paths. No shard is read from elsewhere: if
                           absolute names have no folder in common, or the rest of a name could
                           leave this folder, the index is INVALID */
    uint64_t span_keep_size; /* upper bound on the inflated bytes of compressed shards that this
                                data set keeps in this process, for all its threads; 0: 1 GiB. The
                                spans that threads are reading at the moment, one or a few per
                                thread, are not counted. The records are the same for any value. If
                                the spans in use do not fit, each is inflated again for every record
                                or batch that needs it */
    int allow_urls; /* not 0: accept an index that names shards by URLs. Off by default, because an
                       index from elsewhere could name any server. Without it, such an index is
                       INVALID, unless `shards` is set, or the index is a URL itself and these
                       URLs are in its folder */
    recmap_storage *storage; /* how to reach remote stores; NULL: the defaults */
    const char *cache;       /* a folder on the local disk that keeps what is read from remote
                                stores, and what compressed shards inflate to, also local ones; or
                                NULL. Created if only its last part is missing. Several processes
                                of one user may share it */
    uint64_t cache_size; /* upper bound on the bytes in the cache; 0: until a tenth of the disk is
                            left */
    int allow_missing_shards; /* not 0: open the index even if no shard is found, for example to
                                 describe it. Without it, an index that was copied away from its
                                 shards is an error */
} recmap_dataset_options;

#define RECMAP_DATASET_OPTIONS_VERSION 5
#define RECMAP_DATASET_OPTIONS_INIT                                                                \
    {                                                                                              \
        RECMAP_DATASET_OPTIONS_VERSION, RECMAP_ACCESS_MAP, RECMAP_CHECK_DATA,                      \
            RECMAP_INDEX_CHECK_LAZY, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, 0          \
    }

/* Threads: all functions except recmap_dataset_close may be called from many threads at once. Fork:
 * the parent and the child may both use a data set that was opened before the fork; each closes its
 * own. */
typedef struct recmap_dataset recmap_dataset;

/* Opens the index at `path`. Shards are opened when they are first read; here only the first is
 * looked for, and up to 15 more if it is missing. Shards in remote stores are not looked for. (With
 * RECMAP_ACCESS_AUTO, one shard is opened if the data are larger than memory.) NULL options are the
 * defaults. The caller closes the data set.
 *
 * `path` may be the URL of an index in a remote store. It is copied to an unnamed temporary file,
 * through options.cache if there is one, and checked completely; relative names of shards start at
 * its folder.
 *
 * Errors: IO if the file cannot be opened or is not a regular file, or if none of these shards
 * exists, unless options.allow_missing_shards is set; CORRUPT if it is not a recmap
 * index or is damaged; INVALID if it names shards by absolute paths without
 * options.allow_absolute_paths or options.shards, or names that options.shards cannot confine, or
 * if options.cache is empty; UNSUPPORTED for a newer format version or another LMDB file format.
 *
 * Cost: under 1 ms for few shards, whatever the number of records; the shard table is read
 * completely. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_open(recmap_dataset **dataset,
                                                              const char *path,
                                                              const recmap_dataset_options *options,
                                                              recmap_error *error);

/* Closes the data set. This invalidates every record and batch that came from it. NULL may be
 * closed. */
RECMAP_API void recmap_dataset_close(recmap_dataset *dataset);

/* Concatenates data sets without merging their indexes: the records of parts[1] follow the records
 * of parts[0], and so on, and so do the shards. Everything that takes a data set takes the result.
 * The parts are borrowed: close the result first. They may be concatenations, and may repeat.
 *
 * Lifted columns are those that all parts have with the same type; a part without values of a
 * column has any type. recmap_dataset_find returns the first record with an id in the first part
 * that has one, and recmap_dataset_find_all the records of all parts. All parts must have ids for
 * that, which may come from features of different names; the concatenation then has no `id_name`,
 * and cannot be joined by id or searched for repeated ids. Records are read and checked as each
 * part was opened; if parts differ, the stricter check applies to all. The fingerprint is the first
 * part's, hashed with each further part's in turn (XXH3-128 of both).
 *
 * Errors: INVALID without parts, or with more than 2^62 records together; NO_MEMORY. Cost: 100
 * bytes per shard, and a binary search among the parts for each record that is read. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_concat(recmap_dataset **dataset,
                                                                recmap_dataset *const *parts,
                                                                size_t count, recmap_error *error);

/* 128 bits that identify the contents of a data set: a hash over the record boundaries and data
 * CRCs of all shards, in order. Paths and times do not affect it. */
typedef struct recmap_fingerprint {
    uint8_t bytes[16];
} recmap_fingerprint;

typedef struct recmap_dataset_info {
    uint64_t record_count;
    uint64_t shard_count; /* for recmap_dataset_get_shard: a shard that grew has several entries */
    uint64_t file_count;  /* shards, however often they grew */
    uint64_t byte_count;  /* of all shards */
    uint64_t index_size;  /* bytes of the index file */
    uint64_t id_count;    /* records that have an id */
    uint64_t damage_count;
    uint64_t damaged_byte_count;
    size_t lifted_column_count; /* including "@length" */
    size_t counted_feature_count;
    const char *id_name; /* the id feature's name; NULL without ids */
    recmap_fingerprint fingerprint;
    recmap_access access; /* how shards are read; the choice if options.access was AUTO */
} recmap_dataset_info;

/* Never fails; valid until the data set is closed. */
RECMAP_API const recmap_dataset_info *recmap_dataset_get_info(const recmap_dataset *dataset);
RECMAP_API uint64_t recmap_dataset_count(const recmap_dataset *dataset);

/* The number of different ids: exact for up to 131,072 records with an id, otherwise estimated from
 * as many of them; for a concatenation, the sum of its parts. 0 without ids. Errors: CORRUPT naming
 * the index. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_count_distinct_ids(
    uint64_t *distinct_count, recmap_dataset *dataset, recmap_error *error);

/* Returns 1 if ids repeat so often that they are more likely to be labels, so that a warning is
 * due: at least 100 records have an id, and on average at least 10 have the same. Otherwise 0. */
RECMAP_API int recmap_ids_repeat(uint64_t id_count, uint64_t distinct_count);

/* Returns 1 if the data set begins with the records of the data set that had this fingerprint and
 * number of records, with the same numbers: it is the same, or has grown since. Otherwise 0. */
RECMAP_API int recmap_dataset_begins_with(const recmap_dataset *dataset,
                                          const recmap_fingerprint *fingerprint,
                                          uint64_t record_count);

/* Appends one JSON document: records, shards, bytes, index_bytes, fingerprint, ids, columns,
 * counts, damage, compressed. If `with_shards` is not 0, "shard_table" lists every shard. Bytes
 * of paths that are not UTF-8 are escaped as lone surrogates, U+DC80 to U+DCFF, as in Python's
 * os.fsdecode. Errors: CORRUPT (the index), NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_info_to_json(recmap_text *text,
                                                                      recmap_dataset *dataset,
                                                                      int with_shards,
                                                                      recmap_error *error);

typedef struct recmap_shard_info {
    const char *path;      /* as in the index: relative to the index's folder, or absolute */
    uint64_t size;         /* bytes of the file, or of this part of it */
    uint64_t first_byte;   /* 0, unless this is a part that was added when the file had grown */
    uint64_t first_record; /* number of its first record */
    uint64_t record_count;
    const char *framing;     /* "tfrecord" */
    const char *compression; /* "none", "gzip" or "zlib" */
    uint8_t hash[16];        /* XXH3-128 over its record boundaries and data CRCs */
    uint64_t reserved[4];    /* 0; room for later versions */
} recmap_shard_info;

/* Errors: INVALID if `shard_index` is out of range. Strings live as long as the data set. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_get_shard(recmap_shard_info *info,
                                                                   const recmap_dataset *dataset,
                                                                   uint64_t shard_index,
                                                                   recmap_error *error);

/* Where the data set reads a shard: the path of its file, or its URL without credentials. A
 * relative name in the index is continued from the index's folder, or from options.shards. The path
 * is relative to the working directory if the caller's path of the index was, unless that is a
 * symbolic link to a folder with other shards. Writes at most `capacity` bytes including the NUL.
 * Errors: INVALID if `shard_index` is out of range or the path does not fit. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_shard_path(char *path, size_t capacity,
                                                                    const recmap_dataset *dataset,
                                                                    uint64_t shard_index,
                                                                    recmap_error *error);

/* Shards that are not in a data set although the names of its other shards say that they exist:
 * train-00000-of-00004.tfrecord is one of 4, which count from 0, or from 1 if there is a
 * train-00004-of-00004.tfrecord and no train-00000-of-00004.tfrecord. Shards with larger numbers
 * are surplus: of another run, perhaps. */
typedef struct recmap_missing_shards {
    uint64_t count;
    char first[1024]; /* the name of the first one, shortened to fit; empty if there is none */
    uint64_t surplus_count;
    char surplus[1024]; /* the same */
} recmap_missing_shards;

/* Looks at the names in the index only, at no file. One of many shards is often indexed by itself
 * for a trial: before you warn of the others, make sure that it was not named on purpose. Errors:
 * NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_find_missing_shards(
    recmap_missing_shards *missing, const recmap_dataset *dataset, recmap_error *error);

/* Compressed shards are inflated in spans of a few MiB, from one seek point of the index to the
 * next. All threads share the spans, which are kept as long as there is room
 * (options.span_keep_size). A span of more than 64 MiB, in a stream with very long deflate blocks,
 * is inflated and kept in pieces of 16 MiB. */
typedef struct recmap_span_statistics {
    uint64_t inflate_count; /* spans or pieces inflated since the data set was opened */
    uint64_t inflated_size; /* inflated bytes */
    uint64_t hit_count;     /* how often a span was already inflated */
    uint64_t evict_count;   /* spans removed to make room */
    uint64_t held_size;     /* bytes kept now */
    uint64_t reserved[4];   /* 0; room for later versions */
} recmap_span_statistics;

/* Never fails. Threads: any. */
RECMAP_API recmap_span_statistics recmap_dataset_span_statistics(const recmap_dataset *dataset);

/* Reads of remote and compressed shards since the data set was opened, with a cache
 * (options.cache). */
typedef struct recmap_cache_statistics {
    uint64_t hit_count;   /* reads that the cache answered */
    uint64_t miss_count;  /* reads for which an object was requested, or a span was inflated */
    uint64_t reserved[6]; /* 0; room for later versions */
} recmap_cache_statistics;

/* All zeros without a cache. Never fails. Threads: any. */
RECMAP_API recmap_cache_statistics recmap_dataset_cache_statistics(const recmap_dataset *dataset);

/* What the storage of the shards has requested. If several data sets share a storage, these are the
 * figures of all of them. Concatenated data sets with storages of their own are added, and have the
 * largest gap. All zeros if no shard is in a remote store. Of a client (recmap_client), only
 * requests and bytes are counted. Never fails. Threads: any. */
RECMAP_API recmap_storage_statistics
recmap_dataset_storage_statistics(const recmap_dataset *dataset);

/* The compressed shards of a data set; all zeros if there are none. If the spans together are
 * larger than `keep_size`, random access to many records inflates about one span per record. */
typedef struct recmap_span_info {
    uint64_t shard_count;   /* number of compressed shards */
    uint64_t byte_count;    /* bytes of their files */
    uint64_t inflated_size; /* bytes of all spans together */
    uint64_t point_count;
    uint64_t span_count;
    uint64_t largest_size; /* inflated bytes of the largest span */
    uint64_t keep_size;    /* upper bound on the bytes of spans that are kept */
    uint64_t reserved[4];  /* 0; room for later versions */
} recmap_span_info;

/* Errors: CORRUPT (the index), NO_MEMORY. Cost: reads all seek points. Threads: any. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_get_span_info(
    recmap_span_info *info, const recmap_dataset *dataset, recmap_error *error);

/* Bytes of a shard that are not a record. */
typedef struct recmap_damage {
    uint64_t shard_index;
    uint64_t record; /* number of the record that is damaged, if known; else RECMAP_NO_RECORD */
    uint64_t offset; /* in the shard */
    uint64_t size;   /* bytes; 0 if the whole shard is meant (missing, stale) */
    /* The shard. In a report: the file's path, or the object's URL without credentials and query.
     * Otherwise the name in the index. */
    const char *path;
    const char *reason;   /* one line */
    uint64_t reserved[4]; /* 0; room for later versions */
} recmap_damage;

/* Damage `damage_index` of the index's list (info.damage_count), in file order. Strings live as
 * long as the data set. Errors: INVALID if out of range. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_get_damage(recmap_damage *damage,
                                                                    recmap_dataset *dataset,
                                                                    uint64_t damage_index,
                                                                    recmap_error *error);

/* The location of a record, from the index alone; no shard is read. */
typedef struct recmap_location {
    uint64_t shard_index;
    uint64_t offset; /* of the record's frame in the shard */
    uint64_t size;   /* bytes of its payload */
} recmap_location;

/* The locations of `count` records from `first` on. Errors: INVALID if out of range, CORRUPT (the
 * index). Cost: about 10 ns per record. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_locate(recmap_location *locations,
                                                                recmap_dataset *dataset,
                                                                uint64_t first, size_t count,
                                                                recmap_error *error);

/* The sizes of records: of all, or of a million in runs from all parts. */
typedef struct recmap_record_sizes {
    uint64_t count;    /* how many were read */
    uint64_t *sizes;   /* bytes of payloads, ascending */
    uint64_t smallest; /* position in `numbers` of the first record of the smallest size, */
    uint64_t largest;  /* and of the largest */
    double sum;
} recmap_record_sizes;

/* Reads the sizes of `count` records, given by their numbers, from the index alone. `numbers` may
 * be NULL for records 0 to count - 1. The caller calls recmap_record_sizes_deinit. Errors: INVALID
 * if out of range; CORRUPT (the index); NO_MEMORY; CANCELLED. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_read_sizes(recmap_record_sizes *sizes,
                                                                    recmap_dataset *dataset,
                                                                    const uint64_t *numbers,
                                                                    uint64_t count,
                                                                    recmap_error *error);
RECMAP_API void recmap_record_sizes_deinit(recmap_record_sizes *sizes);

/* Returns record `number`; the first is 0. The record is valid until it is released or the data set
 * is closed. After an error `record` is unchanged.
 *
 * Errors: INVALID if out of range; IO if the shard cannot be opened or read; STALE if it is not the
 * file that was indexed (another size or header, or another modification time and other content);
 * CORRUPT if a CRC does not match.
 *
 * Cost: one or two cache misses in the index, the cache misses of the record, and its CRC. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_get(recmap_record *record,
                                                             recmap_dataset *dataset,
                                                             uint64_t number, recmap_error *error);

/* A record that was located but not checked yet. Read `data` and `size`; the other members are
 * private. */
typedef struct recmap_peek {
    const uint8_t *data;
    size_t size;
    uint64_t number;
    uint64_t offset;
    uint32_t shard_index;
    const void *shard;
    uint64_t reserved[2]; /* private */
} recmap_peek;

/* Splits recmap_dataset_get in two, for callers that have other work to do while the record's bytes
 * are fetched from memory. recmap_dataset_peek locates the bytes and prefetches them into the CPU's
 * caches; recmap_dataset_check verifies them. Do not read them in between: their content is
 * unverified.
 *
 * Returns a value other than 0 on success. Returns 0 on an error, or if the shards are of a kind
 * that only recmap_dataset_get can read (copied, pinned, compressed); call recmap_dataset_get,
 * which reports the error. The bytes live as long as the data set, and nothing must be released.
 * Threads: any. */
RECMAP_API int recmap_dataset_peek(recmap_peek *peek, recmap_dataset *dataset, uint64_t number);

/* Verifies the record. Errors: as recmap_dataset_get. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_check(recmap_dataset *dataset,
                                                               const recmap_peek *peek,
                                                               recmap_error *error);

/* Fills `batch` with `count` records in the order of `numbers`, which may repeat and may be in any
 * order. The records are read in file order and prefetched. The batch's previous records are
 * released. recmap_batch_set_threads (batch.h) lets several threads read and parse them.
 *
 * Errors: as recmap_dataset_get, for the first such record in file order; the batch is then empty.
 * Cost: several times less than the same number of calls of recmap_dataset_get. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_gather(recmap_batch *batch,
                                                                recmap_dataset *dataset,
                                                                const uint64_t *numbers,
                                                                size_t count, recmap_error *error);

/* Records [first, first + count), as recmap_dataset_gather. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_read(recmap_batch *batch,
                                                              recmap_dataset *dataset,
                                                              uint64_t first, size_t count,
                                                              recmap_error *error);

/* As recmap_dataset_gather, and also parses the records into the columns of the batch
 * (recmap_batch_columns), whose views point into its records.
 *
 * Errors: also CORRUPT for a record that is not a tf.Example (or SequenceExample), and FEATURE for
 * one whose features are not as specified: the first in the order of `numbers`, with shard, record
 * and byte. With RECMAP_PARSE_COLLECT these are not errors, and neither is a damaged record: its
 * row is a failure (recmap_columns_failure), and in the batch it has no bytes. After an error
 * the batch is empty. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_parse(
    recmap_batch *batch, recmap_dataset *dataset, const recmap_parser *parser,
    const uint64_t *numbers, size_t count, recmap_parse_mode mode, recmap_error *error);

/* The number of the first record whose id is `id` (type BYTES or INT64).
 *
 * Errors: NOT_FOUND, naming the id; INVALID if the index has no ids, or has them from a callback
 * and options.lift is NULL; else as recmap_dataset_get, because the id is compared in the
 * record. Cost: two or three cache misses in the index, then one record. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_find(uint64_t *number,
                                                              recmap_dataset *dataset,
                                                              const recmap_value *id,
                                                              recmap_error *error);

/* All records with this id, in ascending order. Writes up to `capacity` numbers, and sets `count`
 * to the number of such records, which may be larger, or 0. `numbers` may be NULL if `capacity` is
 * 0. Errors: as recmap_dataset_find, except NOT_FOUND. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_find_all(uint64_t *numbers,
                                                                  size_t capacity, size_t *count,
                                                                  recmap_dataset *dataset,
                                                                  const recmap_value *id,
                                                                  recmap_error *error);

/* The position of a record in a selection of records; negative if it is not selected. It is called
 * on several threads at the same time. */
typedef int64_t (*recmap_position_fn)(uint64_t number, void *context);

/* Finds many ids: positions[i] is the lowest position of a record whose id is ids[i], or -1 if
 * there is none. `position` gives the positions of records; NULL: their numbers.
 *
 * Errors: as recmap_dataset_find, except NOT_FOUND; `positions` is then undefined. Cost: several
 * times less than as many calls of recmap_dataset_find, because the ids are sorted and their
 * records read in file order, on all cores; 32 bytes of memory an id, for at most a million ids at
 * a time. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_find_many(
    int64_t *positions, recmap_dataset *dataset, const recmap_value *ids, size_t count,
    recmap_position_fn position, void *context, recmap_error *error);

/* As recmap_dataset_find_many, with the ids of the records `numbers` of `source`; -1 also for a
 * record without id. The records of `source` are read in file order, whatever the order of
 * `numbers`. Memory: 72 bytes and the bytes of the id for each of half a million records at a time,
 * and, unless `numbers` ascends, 8 to 16 bytes for each of 67 million at a time. Errors: also as
 * recmap_dataset_gather for `source`, and INVALID if `source` has no ids. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_match(
    int64_t *positions, recmap_dataset *dataset, recmap_dataset *source, const uint64_t *numbers,
    size_t count, recmap_position_fn position, void *context, recmap_error *error);

#define RECMAP_NO_ID_HASH UINT64_MAX

/* The 48-bit hash of the id of every record (docs/formats/index-format.md), RECMAP_NO_ID_HASH for a
 * record without id. `hashes` has room for record_count values. Use it to partition records by id,
 * so that records with the same id stay together. Errors: CORRUPT (the index). Cost: about 10 ns
 * per record. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_read_id_hashes(uint64_t *hashes,
                                                                        recmap_dataset *dataset,
                                                                        recmap_error *error);

typedef struct recmap_lifted_column {
    const char *name; /* lives as long as the data set */
    recmap_type type;
    const char *default_value; /* or NULL */
    int is_annotated;     /* its values were added to the index and did not come from the records;
                             unknown, so 0, of columns that were added before 0.2.0 */
    uint64_t null_count;  /* records whose value is null */
    uint64_t reserved[4]; /* 0; room for later versions */
} recmap_lifted_column;

/* Lifted column `column_index` of info.lifted_column_count. The first is always "@length", the size
 * in bytes of each record's payload (int64). Errors: INVALID if out of range. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_dataset_get_lifted_column(recmap_lifted_column *info, const recmap_dataset *dataset,
                                 size_t column_index, recmap_error *error);

/* The index of the lifted column `name`. Errors: NO_COLUMN. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_find_lifted_column(
    size_t *column_index, const recmap_dataset *dataset, const char *name, recmap_error *error);

/* The values of a lifted column for records [first, first + count), in the column's type: int64,
 * float, float64, or views of bytes that live as long as the data set. A column of floats can also
 * be read as float64. A null is 0, or of bytes a value of type NONE. If all values are null, the
 * column may have type NONE, and is read as any type.
 * Errors: INVALID for another type or if out of range; CORRUPT (the index). Cost: a few ns per
 * value. */
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
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_read_float64(double *values,
                                                                      recmap_dataset *dataset,
                                                                      size_t column_index,
                                                                      uint64_t first, size_t count,
                                                                      recmap_error *error);
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_read_bytes(recmap_value *values,
                                                                    recmap_dataset *dataset,
                                                                    size_t column_index,
                                                                    uint64_t first, size_t count,
                                                                    recmap_error *error);

/* Sets nulls[i] to 1 if the value of record first + i is null, else to 0. Errors: INVALID if out of
 * range; CORRUPT (the index). Cost: about a ns per value. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_read_nulls(uint8_t *nulls,
                                                                    recmap_dataset *dataset,
                                                                    size_t column_index,
                                                                    uint64_t first, size_t count,
                                                                    recmap_error *error);

/* Counted feature `feature_index` of info.counted_feature_count; its name lives as long as the data
 * set. Errors: INVALID if out of range. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_dataset_get_counted_feature(recmap_counted_feature *feature, const recmap_dataset *dataset,
                                   size_t feature_index, recmap_error *error);

/* The element counts of a counted feature, for row orders (rows.h). They are copied, packed, and do
 * not need the data set afterwards. Errors: NO_COLUMN if the index does not count the feature;
 * CORRUPT (the index); NO_MEMORY. Cost: about 10 ns per record. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_read_counts(recmap_counts **counts,
                                                                     recmap_dataset *dataset,
                                                                     const char *name,
                                                                     recmap_error *error);

typedef struct recmap_verify_options {
    uint32_t version;            /* RECMAP_VERIFY_OPTIONS_VERSION */
    unsigned thread_count;       /* 0: one per core that this process may use; for remote shards, at
                                    least four */
    int index_only;              /* not 0: do not read the shards */
    recmap_progress_fn progress; /* or NULL */
    void *progress_context;
    uint64_t memory_limit; /* as recmap_index_options.memory_limit, for each compressed shard; and
                              as many bytes for the damage in the report */
} recmap_verify_options;

#define RECMAP_VERIFY_OPTIONS_VERSION 2
#define RECMAP_VERIFY_OPTIONS_INIT                                                                 \
    { RECMAP_VERIFY_OPTIONS_VERSION, 0, 0, NULL, NULL, 0 }

/* What recmap_dataset_verify found beyond the damage that the index lists. */
typedef struct recmap_report recmap_report;

/* Checks every byte: the index against its seal, every record against its CRCs, every shard against
 * its hash. Damaged, missing and stale shards are findings: the status is OK, and the report, which
 * the caller destroys, lists them. Damage to the index itself is an error.
 *
 * A remote shard is missing only if the store says so. If the store cannot be reached, refuses
 * access, or sends unusable replies, nothing is known about the shard, and that is an error.
 *
 * Errors: CORRUPT (the index); IO (a store; file descriptors or disk space ran out); INVALID
 * (credentials that are missing or cannot be used); NO_MEMORY; CANCELLED; UNSUPPORTED if more
 * memory is needed than memory_limit. Cost: one pass over all shards. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_dataset_verify(recmap_report **report, recmap_dataset *dataset,
                      const recmap_verify_options *options, recmap_error *error);
RECMAP_API void recmap_report_destroy(recmap_report *report);

/* Good records; 0 with index_only, which reads none. If a shard of more than 32 records without
 * checksums changed, none of its records counts as good. */
RECMAP_API uint64_t recmap_report_record_count(const recmap_report *report);
RECMAP_API size_t recmap_report_damage_count(const recmap_report *report); /* new damage */
/* How many of these only say that a shard has grown: its indexed records are good. */
RECMAP_API size_t recmap_report_grown_count(const recmap_report *report);
/* Damage `damage_index`, in file order. Strings live as long as the report and its data set. */
RECMAP_API recmap_damage recmap_report_damage(const recmap_report *report, size_t damage_index);
/* Appends one JSON document: the number of records, the number of good records (null with
 * index_only), and each damage, with paths as in recmap_dataset_info_to_json. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_report_to_json(recmap_text *text,
                                                                const recmap_report *report,
                                                                recmap_error *error);

/* Installs the guard, which turns SIGBUS into an error.
 *
 * Reading a mapped file that was truncated raises SIGBUS. If the address is in a mapping of recmap,
 * the guard's handler replaces the page with zeros and marks the mapping, so that the record fails
 * its CRC and the error says that the file was truncated. Every other SIGBUS is passed to the
 * previous handler. Signal handlers belong to the application, so the library installs this one
 * only on request. Installing it again does nothing.
 *
 * A view that was returned before the file was truncated reads as zeros from then on. Errors: IO if
 * the handler cannot be installed. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_guard_install(recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
