/* An index, opened for reading: places of records, candidates for an id, values of lifted columns,
 * the list of damage. Everything read from the file is checked before it is used, and places lie
 * within the shards as they were indexed. The data set checks if a shard has changed
 * since. */
#ifndef RECMAP_INDEX_TABLES_INDEX_H
#define RECMAP_INDEX_TABLES_INDEX_H

#include "format/framing/framing.h"
#include "index/store/store.h"
#include "index/tables/count_chunk.h"
#include "index/tables/ids.h"
#include "index/tables/lifted.h"
#include "index/tables/manifest.h"
#include "index/tables/points.h"

struct index_file;

/* Opens the index at `path`; `options` may be NULL. Errors: those of store_open; CORRUPT if tables
 * of the index contradict each other; UNSUPPORTED for an unknown format version or framing. */
recmap_status index_open(struct index_file **index, const char *path,
                         const struct store_options *options, recmap_error *error);
void index_close(struct index_file *index);

/* The same of an open file, which `path` names. Takes the descriptor, even on failure. */
recmap_status index_open_file(struct index_file **index, int fd, const char *path,
                              const struct store_options *options, recmap_error *error);

/* INVALID if the path is a URL, for callers that replace the index or refer to it by its path. */
recmap_status index_check_local(const char *path, recmap_error *error);

/* The error CORRUPT with advice. `what` says what is wrong with the index. */
recmap_status index_fail(const struct index_file *index, recmap_error *error, const char *what);

const struct manifest *index_manifest(const struct index_file *index);
struct store *index_store(const struct index_file *index);

/* A shard as it was indexed. */
struct index_shard {
    uint64_t base;         /* its offset in the concatenation of all shards */
    uint64_t first_record; /* number of its first record */
    uint64_t first_damage; /* its first entry in the list of damage */
    const struct framing *framing;
    size_t first_points; /* the first of its values in the table of seek points */
    uint32_t last_part; /* the index of the shard that is the last part of its file; often itself */
    struct shard_entry entry;
};

const struct index_shard *index_shards(const struct index_file *index);

/* The number of files: shards of which a file has several are the parts in which it grew. */
uint64_t index_file_count(const struct index_file *index);

/* Returns true if a file has several parts, which needs format version 3. */
bool index_has_parts(const struct index_file *index);

/* Sets `folder` to the absolute folder from which relative names of shards start, without symbolic
 * links: the folder of the index. If the index was opened by a link, it is the link's folder if
 * that has the shards, as in the cache of a hub; otherwise `is_elsewhere` is set, and it is the
 * folder of the file that the link leads to. The caller frees the folder. Errors: IO, NO_MEMORY. */
recmap_status index_find_folder(char **folder, bool *is_elsewhere, const struct index_file *index,
                                recmap_error *error);

/* Sets `path` to where the index is that has these shards beside it: where it was opened, or what
 * the link leads to if the shards are there. The caller frees the path. */
recmap_status index_follow_link(char **path, const struct index_file *index, recmap_error *error);

/* The place of a record. */
struct index_place {
    uint32_t shard_index;
    uint64_t offset; /* of the frame in the shard */
    uint64_t frame_size;
};

/* The place of record `number`, which is below the manifest's record_count. Any thread may call it.
 * Errors: CORRUPT naming the index. */
recmap_status index_locate(struct index_place *place, struct index_file *index, uint64_t number,
                           recmap_error *error);

/* An estimate of the place of record `number`, for prefetching: it costs one cache line and may be
 * wrong. False if the estimate would need more work or be too rough. */
bool index_guess(uint32_t *shard_index, uint64_t *offset, const struct index_file *index,
                 uint64_t number);

/* Prefetch what index_locate reads: the first cache line, and, after it has arrived, the second. */
void index_prefetch(const struct index_file *index, uint64_t number);
void index_prefetch_bits(const struct index_file *index, uint64_t number);

/* Iterates over the records whose ids have a certain hash, by ascending number. */
struct index_candidates {
    struct index_file *index;
    uint64_t hash;
    uint64_t range; /* hashes from `hash` to `hash + range` are searched for */
    size_t chunk;
    struct ids_chunk pairs;         /* of the chunk; empty if the index has no chunks */
    uint64_t first_hash, last_hash; /* of the chunk */
    double density;                 /* pairs for each hash in the chunk */
    size_t next;                    /* the index of a pair */
};

/* Errors: CORRUPT naming the index. */
recmap_status index_candidates_init(struct index_candidates *candidates, struct index_file *index,
                                    uint64_t hash, recmap_error *error);

/* Starts again with other hashes, from `hash` to `hash + range`; records of the same hash follow
 * one another. It costs a few nanoseconds if hashes ascend in small steps. */
recmap_status index_candidates_move(struct index_candidates *candidates, uint64_t hash,
                                    uint64_t range, recmap_error *error);

/* The next record whose id has the hash. After the last one `is_found` is false. */
recmap_status index_candidates_next(struct index_candidates *candidates, uint64_t *number,
                                    bool *is_found, recmap_error *error);

/* All id pairs in order, chunk by chunk, for packing them into another index. */
size_t index_id_chunk_count(const struct index_file *index);
recmap_status index_id_chunk(struct ids_chunk *chunk, struct index_file *index, size_t chunk_index,
                             recmap_error *error);

/* The chunk of a lifted column that holds record `chunk_index << COLUMN_CHUNK_SHIFT`. */
recmap_status index_column_chunk(struct column_chunk *chunk, struct index_file *index,
                                 size_t column, size_t chunk_index, recmap_error *error);

/* The default of a lifted column as a value of its type; type NONE if it has no default. */
recmap_value index_column_default(const struct index_file *index, size_t column);

/* The chunk of a counted feature that holds record `chunk_index << COUNT_CHUNK_SHIFT`. Its counts
 * are unverified. */
recmap_status index_count_chunk(struct count_chunk *chunk, struct index_file *index, size_t feature,
                                size_t chunk_index, recmap_error *error);

/* counts[i] is the count of record first + i, which is below the manifest's record_count. Errors:
 * CORRUPT naming the index, also for a count above RECMAP_COUNTS_MAX. */
recmap_status index_read_counts(uint64_t *counts, struct index_file *index, size_t feature,
                                uint64_t first, size_t count, recmap_error *error);

/* The list of damage, in file order. It has the manifest's damage_count entries. */
const struct damage_entry *index_damages(const struct index_file *index);

/* The seek points of a compressed shard, to be released with points_deinit. Their windows are valid
 * while the index is open. Errors: CORRUPT naming the index. */
recmap_status index_points(struct point_list *points, struct index_file *index, size_t shard_index,
                           recmap_error *error);

/* Verifies all hashes, and decodes every value and every record's place. Errors: CORRUPT. */
recmap_status index_check_all(struct index_file *index, recmap_error *error);

#endif
