/* An index, opened for reading: where each record lies, candidates for an id, values of columns,
 * the list of damage. Everything out of the file is checked before it is used, and places are
 * bounded by the sizes of the shards; whether a shard still is what was indexed is for the data set
 * to see. */
#ifndef RECMAP_INDEX_INDEX_H
#define RECMAP_INDEX_INDEX_H

#include "format/framing.h"
#include "index/ids.h"
#include "index/lifted.h"
#include "index/manifest.h"
#include "index/points.h"
#include "store/store.h"

struct index_file;

recmap_status index_open(struct index_file **index, const char *path,
                         const struct store_options *options, recmap_error *error);
void index_close(struct index_file *index);

const struct manifest *index_manifest(const struct index_file *index);
struct store *index_store(const struct index_file *index);

/* A shard as the index knows it. */
struct index_shard {
    uint64_t base;         /* in the concatenation of all shards */
    uint64_t first_record; /* number of its first record */
    uint64_t first_damage; /* in the list of damage */
    const struct framing *framing;
    size_t first_points; /* value of its points */
    struct shard_entry entry;
};

const struct index_shard *index_shards(const struct index_file *index);

/* Where a record lies. */
struct index_place {
    uint32_t shard_index;
    uint64_t offset;     /* of the frame in the shard */
    uint64_t frame_size; /* of the frame */
};

/* The place of record `number`, which is below the manifest's record_count. Threads: any.
 * Errors: CORRUPT naming the index. */
recmap_status index_locate(struct index_place *place, struct index_file *index, uint64_t number,
                           recmap_error *error);

/* About where record `number` lies, out of one cache line: for hints, as it may be wrong. False
 * where it is not known so soon or so well. */
bool index_guess(uint32_t *shard_index, uint64_t *offset, const struct index_file *index,
                 uint64_t number);

/* Ask the processor to fetch what index_locate will read first, and, once that is there, next. */
void index_prefetch(const struct index_file *index, uint64_t number);
void index_prefetch_bits(const struct index_file *index, uint64_t number);

/* Pairs with the hash of an id, by ascending number. */
struct index_candidates {
    struct index_file *index;
    uint64_t hash;
    size_t chunk;
    size_t next; /* pair in the chunk */
};

/* Errors: CORRUPT naming the index. */
recmap_status index_candidates_begin(struct index_candidates *candidates, struct index_file *index,
                                     uint64_t hash, recmap_error *error);

/* The next record whose id may be the one; `found` is false behind the last. */
recmap_status index_candidates_next(struct index_candidates *candidates, uint64_t *number,
                                    bool *is_found, recmap_error *error);

/* All id pairs in order, for who packs them again: chunk by chunk. */
size_t index_id_chunk_count(const struct index_file *index);
recmap_status index_id_chunk(struct ids_chunk *chunk, struct index_file *index, size_t chunk_index,
                             recmap_error *error);

/* The chunk of a lifted column that holds record `chunk_index << COLUMN_CHUNK_SHIFT`. */
recmap_status index_column_chunk(struct column_chunk *chunk, struct index_file *index,
                                 size_t column, size_t chunk_index, recmap_error *error);

/* The default of a lifted column as a value of its type; NONE when it has none. */
recmap_value index_column_default(const struct index_file *index, size_t column);

/* The list of damage, in file order: manifest's damage_count entries. */
const struct damage_entry *index_damages(const struct index_file *index);

/* The points of a compressed shard, to be freed by points_free; their windows live as long as the
 * index. Errors: CORRUPT naming the index. */
recmap_status index_points(struct point_list *points, struct index_file *index, size_t shard_index,
                           recmap_error *error);

/* Checks every value, and every record's place, against what the file says of itself.
 * Errors: CORRUPT. */
recmap_status index_check_all(struct index_file *index, recmap_error *error);

#endif
