/* Building an index: one pass over shard files into one sealed .rmx file. */
#ifndef RECMAP_INDEX_H
#define RECMAP_INDEX_H

#include <recmap/progress.h>
#include <recmap/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to do about bytes that are no record. */
typedef enum recmap_on_corrupt {
    RECMAP_ON_CORRUPT_RAISE = 0, /* fail, naming the first damage */
    RECMAP_ON_CORRUPT_SKIP = 1,  /* number the good records, list what lies between */
} recmap_on_corrupt;

/* How shards are compressed. */
typedef enum recmap_compression {
    RECMAP_COMPRESSION_AUTO = 0, /* by each file's first bytes, never by its name; ZLIB, which two
                                    bytes tell, only where records are TFRecord */
    RECMAP_COMPRESSION_NONE = 1,
    RECMAP_COMPRESSION_GZIP = 2,
    RECMAP_COMPRESSION_ZLIB = 3,
} recmap_compression;

/* A column to lift out of the records at index time: a feature with exactly one value. */
typedef struct recmap_lift {
    const char *name;          /* the feature's name; not "@length", which every index has */
    const char *default_value; /* for records without the feature: "-1", "0.5", "none"; or NULL:
                                  such a record is an error */
} recmap_lift;

typedef struct recmap_index_options {
    uint32_t version;      /* RECMAP_INDEX_OPTIONS_VERSION */
    unsigned thread_count; /* 0: one a core that this process may use */
    recmap_on_corrupt on_corrupt;
    int guard;              /* not 0: a shard that is cut short while it is scanned is an error, not
                               SIGBUS; installs a process-wide signal handler
                               (recmap_guard_install of dataset.h) */
    const char *id_feature; /* a bytes or int64 feature of tf.Example, or NULL: no ids */
    const recmap_lift *lifts;
    size_t lift_count;
    recmap_extract_fn extract; /* for records that are no tf.Example: gives the id and the lifted
                                  columns instead; `id_feature` then only names the id */
    void *extract_context;
    recmap_progress_fn progress; /* or NULL */
    void *progress_context;
    const char *framing; /* how records lie in the shards: "tfrecord", "ofrecord", "lines",
                            "tar", "fixed:HEADER,RECORD,FOOTER", or the name of one that was
                            registered (framing.h); NULL or "auto": tfrecord */
    recmap_compression compression;
    const char *idx_folder; /* or NULL: a folder with a text index for each shard (NAME.idx: `OFFSET
                               SIZE` a line, as DALI's tfrecord2idx writes), by which its records
                               are found. Their headers are checked, but not their data. */
} recmap_index_options;

#define RECMAP_INDEX_OPTIONS_VERSION 1
#define RECMAP_INDEX_OPTIONS_INIT                                                                  \
    {                                                                                              \
        RECMAP_INDEX_OPTIONS_VERSION, 0, RECMAP_ON_CORRUPT_RAISE, 0, NULL, NULL, 0, NULL, NULL,    \
            NULL, NULL, NULL, RECMAP_COMPRESSION_AUTO, NULL                                        \
    }

typedef struct recmap_index_summary {
    uint64_t record_count;
    uint64_t shard_count;
    uint64_t byte_count;         /* of all shards */
    uint64_t id_count;           /* records that have an id */
    uint64_t damage_count;       /* stretches of bytes that are no record */
    uint64_t damaged_byte_count; /* their bytes */
} recmap_index_summary;

/* Builds one index. A builder belongs to one thread at a time; it starts threads of its own.
 *
 * The index is written to a temporary file beside its final place and appears there whole, by
 * renaming, when recmap_index_builder_finish succeeds; until then an index that was there before
 * stays as it is. Whatever the threads, the same shards give the same bytes. A build that was
 * killed leaves a temporary file, which the next build of the same index removes. Relative paths
 * mean the folder that is current at each call: a process that changes it in between gives absolute
 * ones. At most 64 columns can be lifted, bytes of at most 255. */
typedef struct recmap_index_builder recmap_index_builder;

/* Starts an index that will be published at `path`. Strings in `options` are copied; NULL options
 * are the defaults. Errors: INVALID for impossible options, IO for a folder that is read-only. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_index_builder_create(recmap_index_builder **builder, const char *path,
                            const recmap_index_options *options, recmap_error *error);

/* Queues a shard file behind those there are. Nothing is read before finish. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_index_builder_add_shard(
    recmap_index_builder *builder, const char *path, recmap_error *error);

/* Queues all shards of the index at `path` as it has them: their records are not read again, and
 * their numbers follow the records before. With the index's own path as the first thing added this
 * appends: what is there keeps its numbers. Parts merged so give the index that one build over all
 * shards gives, byte for byte.
 * Errors: MISMATCH when the parts differ in ids or columns; else as recmap_dataset_open. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_index_builder_add_index(
    recmap_index_builder *builder, const char *path, recmap_error *error);

/* Scans what was queued, seals and publishes the index. `summary` may be NULL.
 *
 * Errors: CORRUPT naming shard, record and byte of the first damage; FEATURE when a record's id or
 * lifted feature is not as asked; IO (ENOSPC: no space); CANCELLED by the progress callback;
 * MISMATCH when an index that is being appended to was replaced meanwhile, or a text index is not
 * that of its shard. After an error nothing was published, the temporary file is gone, and the
 * builder can only be destroyed. One error comes later: when the folder cannot be synced, the whole
 * new index has its name already, but might lose it with the power.
 * Cost: one sequential pass over the shards on all threads; memory does not grow with the number
 * of records. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_index_builder_finish(recmap_index_summary *summary,
                                                                      recmap_index_builder *builder,
                                                                      recmap_error *error);

/* Frees the builder; an unfinished index vanishes. NULL may be destroyed. */
RECMAP_API void recmap_index_builder_destroy(recmap_index_builder *builder);

#ifdef __cplusplus
}
#endif
#endif
