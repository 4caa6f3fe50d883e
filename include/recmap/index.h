/* Building an index: one pass over shard files, written to one sealed .rmx file. */
#ifndef RECMAP_INDEX_H
#define RECMAP_INDEX_H

#include <recmap/counts.h>
#include <recmap/progress.h>
#include <recmap/record.h>
#include <recmap/shards.h>
#include <recmap/storage.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How shards are compressed. */
typedef enum recmap_compression {
    RECMAP_COMPRESSION_AUTO = 0, /* by each file's first bytes, never by its name; ZLIB, which only
                                    two bytes identify, only if the framing is TFRecord */
    RECMAP_COMPRESSION_NONE = 1,
    RECMAP_COMPRESSION_GZIP = 2,
    RECMAP_COMPRESSION_ZLIB = 3,
} recmap_compression;

/* A column to lift from the records when the index is built: a feature with exactly one value. */
typedef struct recmap_lift {
    const char *name;          /* the feature's name; not "@length", which every index has */
    const char *default_value; /* for records without the feature: "-1", "0.5", "none"; or NULL */
    int is_nullable; /* not 0: without a default, a record without the feature has a null; 0: such a
                        record is an error, unless an index that was added before its shard
                        (recmap_index_builder_add_index) has nulls in this column or annotated it */
} recmap_lift;

typedef struct recmap_index_options {
    uint32_t version;      /* RECMAP_INDEX_OPTIONS_VERSION */
    unsigned thread_count; /* 0: one per core that this process may use; for remote shards, at least
                              four */
    recmap_on_bad_record on_bad_record; /* ERROR or SKIP */
    int guard; /* not 0: a shard that is truncated during the scan causes an error instead of
                  SIGBUS; installs a process-wide signal handler (recmap_guard_install of dataset.h)
                */
    const char *id_feature; /* a bytes or int64 feature of tf.Example, which records may lack, but
                               not all; NULL: no ids. In the framing csv a field of the header, of
                               which ids are texts; in the framing lines a member of JSON objects.
                               So are the names of `lifts` */
    const recmap_lift *lifts;
    size_t lift_count;
    recmap_lift_fn lift; /* for records that are not tf.Examples: returns the id and the lifted
                            columns instead; `id_feature` is then only the name of the id */
    void *lift_context;
    recmap_progress_fn progress; /* or NULL */
    void *progress_context;
    const char *framing; /* how records are stored in the shards: "tfrecord", "ofrecord", "lines",
                            "csv" with its options, "tar", "fixed:HEADER,RECORD,FOOTER", or the name
                            of a registered framing (framing.h); NULL or "auto": tfrecord */
    recmap_compression compression;
    const char
        *text_index_folder; /* NULL, or a folder with a text index for each shard (NAME.idx: `OFFSET
                        SIZE` per line, as written by DALI's tfrecord2idx), from which the records'
                        positions are read. Their headers are checked, but their data is not. */
    const recmap_counted_feature *counted_features;
    size_t counted_feature_count;
    recmap_storage *storage; /* how to reach shards that are named by URLs; NULL: the defaults */
    uint64_t memory_limit;   /* upper bound on the bytes of memory for what is inflated of one
                                compressed shard and for the list of its records and damage. At
                                least 1 MiB; 0: the default limits, which follow the size of the
                                shard (docs/reference/reliability.md) and can only be lowered. As
                                many shards as threads are scanned at once; the limit applies to
                                each. The index does not depend on it, but a shard over it is an
                                error */
    int reads_shards;        /* not 0: local shards are read, never mapped. Shards that cannot be
                                mapped are read anyway, with a warning (warning.h) */
    int inherits; /* not 0: when an index is appended to, its ids, lifted columns and counts
                     replace those given here, if they changed since the caller read them: another
                     process may have annotated it. A column is nullable only if it is so here */
    int is_part;  /* not 0: the index may be merged with others that have ids, so that all of its
                     records may lack the id; 0: an error if there are records */
    recmap_sets sets; /* ERROR: an index must not be joined with copies of its sets, such as
                         x.tfrecord with x.tfrecord.gz, or x@2 with x@4; ALL: it may. Shards that
                         are added without an index are not compared: see recmap_shards_add */
    const recmap_type *lift_types; /* of CSV and JSON lines: the type of each lifted column. NULL,
                                      or NONE for a column: the type that its values read like, of
                                      CSV INT64, FLOAT64 or BYTES */
} recmap_index_options;

#define RECMAP_INDEX_OPTIONS_VERSION 4
#define RECMAP_INDEX_OPTIONS_INIT                                                                  \
    {                                                                                              \
        RECMAP_INDEX_OPTIONS_VERSION, 0, RECMAP_ON_BAD_RECORD_ERROR, 0, NULL, NULL, 0, NULL, NULL, \
            NULL, NULL, NULL, RECMAP_COMPRESSION_AUTO, NULL, NULL, 0, NULL, 0, 0, 0, 0,            \
            RECMAP_SETS_ERROR, NULL                                                                \
    }

/* The sizes of notices in recmap_index_summary, with their terminating zero. */
#define RECMAP_REPEATED_SIZE 1024
#define RECMAP_NOTICE_SIZE 1024

typedef struct recmap_index_summary {
    uint64_t record_count; /* 0 with shards: all are empty, so warn: a download may have failed */
    uint64_t shard_count;  /* a shard that grew counts once */
    uint64_t byte_count;   /* of all shards */
    uint64_t id_count;     /* records that have an id */
    uint64_t damage_count; /* ranges of bytes that are not records */
    uint64_t damaged_byte_count;     /* bytes in these ranges */
    uint64_t empty_counted_features; /* bit i: no record has elements of counted feature i */
    uint64_t empty_lifted_features;  /* bit i: no record has a value of lifted feature i */
    uint64_t repeated_id_count; /* appended records whose id (compared by its 48-bit hash) exactly
                                   one record of the old index has */
    /* Of new shards of the framing tar: */
    uint64_t repeated_key_count; /* records whose key an earlier record of the same archive has: one
                                    sample in parts, if its files are not adjacent */
    uint64_t repeated_file_count;        /* records that have a file twice */
    char repeated[RECMAP_REPEATED_SIZE]; /* a notice that names archive, number, byte and key of the
                                            first such record, and says what to do; or "" */
    /* Of new shards that are not damaged: */
    uint64_t empty_shard_count; /* members of a set (NAME-00000-of-00004) and archives that have no
                                   records */
    uint64_t open_shard_count;  /* text files without a line feed at their end, and tar archives
                                   without zeros there: they may still be written */
    char empty_shard[RECMAP_NOTICE_SIZE]; /* notices that name the first of them and the number of
                                             others; or "" */
    char open_shard[RECMAP_NOTICE_SIZE];
    uint64_t reserved[16]; /* 0; room for later versions */
} recmap_index_summary;

/* Builds one index. A builder belongs to one thread at a time. It starts threads of its own.
 *
 * The index is written to a temporary file in its final folder. When recmap_index_builder_finish
 * succeeds, it is renamed and so appears complete; until then an older index of the same name stays
 * unchanged. The same shards give the same bytes, whatever the number of threads. A build that was
 * killed leaves a temporary file, which the next build of the same index removes. Relative paths
 * are resolved at each call: use absolute paths if the process changes its working directory in
 * between. At most 64 columns can be lifted, and their bytes values have at most 255 bytes. The
 * elements of at most 64 features can be counted. */
typedef struct recmap_index_builder recmap_index_builder;

/* Creates a builder for an index at `path`. Strings in `options` are copied. NULL options are the
 * defaults. Errors: INVALID for invalid options, for a path that ends in `.rmv`, the suffix of
 * selections, and for the path of an existing file that is not an index, unless it ends in `.rmx`;
 * IO for a read-only folder. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_index_builder_create(recmap_index_builder **builder, const char *path,
                            const recmap_index_options *options, recmap_error *error);

/* Appends a shard file to the queue. Nothing is read before finish. If an index that was added
 * already has the shard, only its records past the end of the index are added: they get the next
 * numbers, after all records of the index. If the shard changed otherwise, finishing is the error
 * STALE. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_index_builder_add_shard(
    recmap_index_builder *builder, const char *path, recmap_error *error);

/* Appends all shards of the index at `path` to the queue, as recorded there. Their records are not
 * read again, and are numbered after the preceding ones. To append to an index, add that index
 * itself first: its records keep their numbers. The call then waits while another append to that
 * index runs (recmap_progress.is_waiting). Merging parts in this way gives the same index, byte for
 * byte, as one build over all shards. Errors: MISMATCH if the parts differ in ids, lifted columns
 * or counted features; CANCELLED by the progress callback; else as recmap_dataset_open. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_index_builder_add_index(
    recmap_index_builder *builder, const char *path, recmap_error *error);

/* Scans the queued shards, seals and publishes the index. `summary` may be NULL.
 *
 * Errors: CORRUPT, naming shard, record and byte of the first damage; FEATURE if a record's id or
 * lifted feature is missing or has another type, or a counted feature does not consist of numbers
 * of its element type, or no record has the feature of ids; IO (ENOSPC: no space left); CANCELLED
 * by the progress callback; MISMATCH if an index that is being appended to was replaced meanwhile,
 * or a text index does not match its shard; UNSUPPORTED if a compressed shard takes more memory
 * than its limit. After an error nothing is published, the temporary file is removed, and the
 * builder can only be destroyed. There is one exception: if the folder cannot be synced, the
 * complete new index already has its name, but a power failure might undo the rename.
 *
 * Cost: one sequential pass over the shards on all threads. Memory does not grow with the number of
 * records. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_index_builder_finish(recmap_index_summary *summary,
                                                                      recmap_index_builder *builder,
                                                                      recmap_error *error);

/* Frees the builder and discards an unfinished index. NULL may be destroyed. */
RECMAP_API void recmap_index_builder_destroy(recmap_index_builder *builder);

#ifdef __cplusplus
}
#endif
#endif
