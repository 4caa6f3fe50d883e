#include "index/tables/index.h"

#include <assert.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/search.h"
#include "base/os/thread.h"
#include "index/tables/index_file.h"

enum {
    PLACE_WORK = 16, /* for the interrupt, in bytes: what is decoded of a record */
    CHUNK_WORK = 16 << 10,
};

const struct manifest *index_manifest(const struct index_file *index) {
    return &index->manifest;
}

struct store *index_store(const struct index_file *index) {
    return index->store;
}

uint64_t index_file_count(const struct index_file *index) {
    uint64_t count = 0;
    for (size_t i = 0; i < index->manifest.shard_count; i++)
        count += index->shards[i].last_part == i;
    return count;
}

bool index_has_parts(const struct index_file *index) {
    return index_file_count(index) < index->manifest.shard_count;
}

const struct index_shard *index_shards(const struct index_file *index) {
    return index->shards;
}

const struct damage_entry *index_damages(const struct index_file *index) {
    return index->damages;
}

/* A value of a table whose hash was verified. */
static recmap_status get_value(const struct store_value **value, const struct index_file *index,
                               enum store_table table, size_t i, recmap_error *error) {
    size_t count;
    recmap_status status = store_check(index->store, table, i, error);
    if (status == RECMAP_OK) *value = &store_values(index->store, table, &count)[i];
    return status;
}

/* The number of records in a chunk of 2^shift; the last chunk may have fewer. */
static size_t records_in_chunk(const struct index_file *index, size_t chunk_index, unsigned shift) {
    uint64_t left = index->manifest.record_count - ((uint64_t)chunk_index << shift);
    return (size_t)min_u64(left, (uint64_t)1 << shift);
}

/* Stores a chunk for all threads. Two threads may open the same chunk at the same time; the first
 * one to take the lock stores its result, and both results are equal. */
static void publish(_Atomic bool *is_open, void *place, const void *chunk, size_t size) {
    process_lock();
    if (!*is_open) {
        memcpy(place, chunk, size);
        atomic_store_explicit(is_open, true, memory_order_release);
    }
    process_unlock();
}

static recmap_status open_offsets(struct index_file *index, size_t chunk_index,
                                  recmap_error *error) {
    const struct store_value *value;
    RETURN_IF_FAILED(get_value(&value, index, STORE_OFFSETS, chunk_index, error));
    struct lazy_offsets *lazy = &index->offsets[chunk_index];
    struct offsets_chunk chunk;
    if (!offsets_open(&chunk, value->data, value->size,
                      records_in_chunk(index, chunk_index, OFFSETS_CHUNK_SHIFT)))
        return index_fail(index, error, "a chunk of offsets is malformed");
    publish(&lazy->is_open, &lazy->chunk, &chunk, sizeof chunk);
    return RECMAP_OK;
}

/* The chunk of offsets that contains record `number`. */
static inline recmap_status get_chunk(const struct offsets_chunk **chunk, struct index_file *index,
                                      uint64_t number, recmap_error *error) {
    size_t chunk_index = (size_t)(number >> OFFSETS_CHUNK_SHIFT);
    struct lazy_offsets *lazy = &index->offsets[chunk_index];
    if (__builtin_expect(!atomic_load_explicit(&lazy->is_open, memory_order_acquire), 0))
        RETURN_IF_FAILED(open_offsets(index, chunk_index, error));
    *chunk = &lazy->chunk;
    return RECMAP_OK;
}

static inline size_t in_chunk(uint64_t number) {
    return (size_t)number & (OFFSETS_CHUNK_RECORDS - 1);
}

/* The shard that contains record `number`. The block's hint is nearly always right or one too low,
 * so a few steps from there come before the binary search. The hint is unverified: false if it is
 * wrong. */
static inline bool find_shard(size_t *shard, const struct index_file *index,
                              const struct offsets_chunk *chunk, uint64_t number) {
    size_t low = offsets_shard_hint(chunk, in_chunk(number));
    size_t high = (size_t)index->manifest.shard_count;
    const uint64_t *first = index->first_records;
    if (low >= high || first[low] > number) return false;
    for (int steps = 0; steps < 4; steps++, low++)
        if (number < first[low + 1]) {
            *shard = low;
            return true;
        }
    *shard = low + search_below(first + low, sizeof *first, high - low, number + 1) - 1;
    return true;
}

/* The first damage at or after `offset` of the shard, or `limit` if it has none before that. A
 * frame that begins at `offset` ends there at the latest. */
static uint64_t first_damage_from(const struct index_file *index, size_t shard_index,
                                  uint64_t offset, uint64_t limit) {
    const struct index_shard *shard = &index->shards[shard_index];
    const struct damage_entry *damages = index->damages + shard->first_damage;
    size_t count = (size_t)shard->entry.damage_count;
    size_t first = search_below(&damages->offset, sizeof *damages, count, offset);
    return first < count ? min_u64(damages[first].offset, limit) : limit;
}

/* The offsets of record `number` and of what follows it: the next record of the shard, or the
 * shard's tail. Usually both records are in the same block and are read together. */
static inline recmap_status get_offsets(uint64_t *offset, uint64_t *next, struct index_file *index,
                                        const struct offsets_chunk *chunk, size_t shard,
                                        uint64_t number, recmap_error *error) {
    bool is_last = number + 1 == index->first_records[shard + 1];
    if (__builtin_expect(!is_last && !offsets_ends_block(in_chunk(number)), 1)) {
        offsets_pair_at(offset, next, chunk, in_chunk(number));
        return RECMAP_OK;
    }
    *offset = offsets_at(chunk, in_chunk(number));
    *next = index->bases[shard + 1] - index->shards[shard].entry.tail_size;
    if (is_last) return RECMAP_OK;
    recmap_status status = get_chunk(&chunk, index, number + 1, error);
    if (status == RECMAP_OK) *next = offsets_at(chunk, in_chunk(number + 1));
    return status;
}

/* A frame ends where the next one begins, or where damage begins. Offsets come from packed bits
 * that may be forged or written to at any time, so they are checked here against the bounds of the
 * shard, and the file's integrity after they were read. */
recmap_status index_locate(struct index_place *place, struct index_file *index, uint64_t number,
                           recmap_error *error) {
    assert(number < index->manifest.record_count);
    uint64_t offset, next;
    const struct offsets_chunk *chunk;
    size_t shard;
    RETURN_IF_FAILED(get_chunk(&chunk, index, number, error));
    if (!find_shard(&shard, index, chunk, number))
        return index_fail(index, error, "a chunk of offsets names a wrong shard");
    uint64_t base = index->bases[shard], end = index->bases[shard + 1];
    RETURN_IF_FAILED(get_offsets(&offset, &next, index, chunk, shard, number, error));
    if (!store_intact(index->store)) return store_fail_cut(index->store, error);
    if (offset < base || next <= offset || next > end)
        return index_fail(index, error, "an offset lies outside its shard");
    uint64_t limit = next - base;
    if (index->shards[shard].entry.damage_count)
        limit = first_damage_from(index, shard, offset - base, limit);
    *place = (struct index_place){(uint32_t)shard, offset - base, limit - (offset - base)};
    return RECMAP_OK;
}

/* The chunk that contains the record, or NULL if it was not opened yet. */
static const struct offsets_chunk *chunk_if_open(const struct index_file *index, uint64_t number) {
    const struct lazy_offsets *lazy = &index->offsets[number >> OFFSETS_CHUNK_SHIFT];
    return atomic_load_explicit(&lazy->is_open, memory_order_acquire) ? &lazy->chunk : NULL;
}

bool index_guess(uint32_t *shard_index, uint64_t *offset, const struct index_file *index,
                 uint64_t number) {
    /* An estimate serves to prefetch the page's address. One cache line of the page table covers
     * eight pages, 32 KiB, so that an error of half as much is harmless. */
    enum { ERROR_MAX = 16384 };
    const struct offsets_chunk *chunk = chunk_if_open(index, number);
    if (!chunk) return false;
    uint64_t error, guess = offsets_guess(&error, chunk, in_chunk(number));
    uint32_t shard = offsets_shard_hint(chunk, in_chunk(number));
    if (error > ERROR_MAX || shard >= index->manifest.shard_count || guess < index->bases[shard] ||
        guess >= index->bases[shard + 1])
        return false;
    *shard_index = shard;
    *offset = guess - index->bases[shard];
    return true;
}

void index_prefetch(const struct index_file *index, uint64_t number) {
    const struct offsets_chunk *chunk = chunk_if_open(index, number);
    if (chunk) offsets_prefetch(chunk, in_chunk(number));
}

void index_prefetch_bits(const struct index_file *index, uint64_t number) {
    const struct offsets_chunk *chunk = chunk_if_open(index, number);
    if (chunk) offsets_prefetch_bits(chunk, in_chunk(number));
}

uint64_t index_pairs_in_chunk(const struct index_file *index, size_t chunk) {
    uint64_t left = index->manifest.id_count - (uint64_t)chunk * IDS_CHUNK_PAIRS;
    return left < IDS_CHUNK_PAIRS ? left : IDS_CHUNK_PAIRS;
}

size_t index_id_chunk_count(const struct index_file *index) {
    return index->id_chunk_count;
}

recmap_status index_id_chunk(struct ids_chunk *chunk, struct index_file *index, size_t chunk_index,
                             recmap_error *error) {
    const struct store_value *value;
    RETURN_IF_FAILED(get_value(&value, index, STORE_IDS, chunk_index, error));
    *chunk = (struct ids_chunk){value->data, (size_t)index_pairs_in_chunk(index, chunk_index),
                                index->id_number_size};
    return RECMAP_OK;
}

struct fence_search {
    const uint8_t *fences;
    uint64_t hash;
};

static bool is_fence_below(const void *context, size_t i) {
    const struct fence_search *search = context;
    return load64(search->fences + 8 * i) < search->hash;
}

/* The first chunk that may contain the hash. Fences are the first hashes of the chunks. Equal
 * hashes may start in the chunk before the first fence that is not below the hash. */
static recmap_status first_chunk(size_t *chunk, struct index_file *index, uint64_t hash,
                                 recmap_error *error) {
    const struct store_value *fences;
    RETURN_IF_FAILED(get_value(&fences, index, STORE_IDS, index->id_chunk_count, error));
    struct fence_search search = {fences->data, hash};
    size_t below = search_first(is_fence_below, &search, index->id_chunk_count);
    *chunk = below ? below - 1 : 0;
    return RECMAP_OK;
}

/* Moves to the first pair of a chunk. The chunk is kept, so that its hash is looked at once. */
static recmap_status enter_chunk(struct index_candidates *candidates, size_t chunk,
                                 recmap_error *error) {
    struct ids_chunk *pairs = &candidates->pairs;
    candidates->chunk = chunk;
    candidates->next = 0;
    RETURN_IF_FAILED(index_id_chunk(pairs, candidates->index, chunk, error));
    candidates->first_hash = ids_at(pairs, 0).hash;
    candidates->last_hash = ids_at(pairs, pairs->pair_count - 1).hash;
    candidates->density = ids_density(pairs);
    return RECMAP_OK;
}

recmap_status index_candidates_init(struct index_candidates *candidates, struct index_file *index,
                                    uint64_t hash, recmap_error *error) {
    size_t chunk;
    *candidates = (struct index_candidates){.index = index, .hash = hash};
    if (!index->id_chunk_count) return RECMAP_OK;
    RETURN_IF_FAILED(first_chunk(&chunk, index, hash, error));
    RETURN_IF_FAILED(enter_chunk(candidates, chunk, error));
    candidates->next = ids_lower_bound(&candidates->pairs, hash);
    return RECMAP_OK;
}

/* Estimates the index of the first pair with the hash: the pairs after the current one have the
 * average density. The error is about the square root of the distance. Does not read the pairs, so
 * that the searches for consecutive hashes need not wait for one another. */
static size_t guess_next(const struct index_candidates *candidates, uint64_t hash) {
    size_t left = candidates->pairs.pair_count - candidates->next;
    if (hash <= candidates->hash) return candidates->next;
    double distance = (double)(int64_t)(hash - candidates->hash) * candidates->density;
    return candidates->next + (distance < (double)left ? (size_t)distance : left);
}

/* Returns true if the first pair with the hash, or what follows where it would be, is in the chunk.
 * A chunk that begins with the hash does not count: the chunk before it may end with that hash. */
static bool is_in_chunk(const struct index_candidates *candidates, uint64_t hash) {
    return candidates->pairs.pair_count && candidates->first_hash < hash &&
           hash <= candidates->last_hash;
}

recmap_status index_candidates_move(struct index_candidates *candidates, uint64_t hash,
                                    uint64_t range, recmap_error *error) {
    if (is_in_chunk(candidates, hash)) {
        candidates->next =
            ids_lower_bound_near(&candidates->pairs, guess_next(candidates, hash), hash);
        candidates->hash = hash;
    } else {
        RETURN_IF_FAILED(index_candidates_init(candidates, candidates->index, hash, error));
    }
    candidates->range = range;
    return RECMAP_OK;
}

/* Pairs with the hashes may continue in the next chunk. Numbers are unverified until they are
 * checked here. */
recmap_status index_candidates_next(struct index_candidates *candidates, uint64_t *number,
                                    bool *is_found, recmap_error *error) {
    struct index_file *index = candidates->index;
    *is_found = false;
    while (candidates->next == candidates->pairs.pair_count) {
        if (candidates->chunk + 1 >= index->id_chunk_count)
            return store_intact(index->store) ? RECMAP_OK : store_fail_cut(index->store, error);
        RETURN_IF_FAILED(enter_chunk(candidates, candidates->chunk + 1, error));
    }
    struct id_pair pair = ids_at(&candidates->pairs, candidates->next);
    if (!store_intact(index->store)) return store_fail_cut(index->store, error);
    if (pair.hash - candidates->hash > candidates->range) return RECMAP_OK;
    if (pair.number >= index->manifest.record_count)
        return index_fail(index, error, "an id names a record that is not there");
    candidates->next++;
    *number = pair.number;
    *is_found = true;
    return RECMAP_OK;
}

/* Returns true if the chunk agrees with what the manifest says of the column. It has the column's
 * type, or NONE if all values are null or the default. */
static bool chunk_fits(const struct column_chunk *chunk, const struct manifest_column *column) {
    if (chunk->null_count > column->null_count) return false;
    if (chunk->type != RECMAP_TYPE_NONE) return chunk->type == column->type;
    return chunk->null_count || column->default_value;
}

/* Verifies and opens a chunk of a column. */
static recmap_status open_column(struct index_file *index, size_t value_index, size_t chunk_index,
                                 size_t column, recmap_error *error) {
    const struct store_value *value;
    RETURN_IF_FAILED(get_value(&value, index, STORE_COLUMNS, value_index, error));
    struct column_chunk chunk;
    if (!column_open(&chunk, value->data, value->size,
                     records_in_chunk(index, chunk_index, COLUMN_CHUNK_SHIFT)) ||
        !chunk_fits(&chunk, &index->manifest.columns[column]) ||
        column_format_version(value->data, value->size) > index->manifest.format_version)
        return index_fail(index, error, "a chunk of a column is malformed");
    struct lazy_column *lazy = &index->columns[value_index];
    publish(&lazy->is_open, &lazy->chunk, &chunk, sizeof chunk);
    return RECMAP_OK;
}

recmap_status index_column_chunk(struct column_chunk *chunk, struct index_file *index,
                                 size_t column, size_t chunk_index, recmap_error *error) {
    size_t value_index = chunk_index * index->manifest.column_count + column;
    struct lazy_column *lazy = &index->columns[value_index];
    if (!atomic_load_explicit(&lazy->is_open, memory_order_acquire))
        RETURN_IF_FAILED(open_column(index, value_index, chunk_index, column, error));
    if (!store_intact(index->store)) return store_fail_cut(index->store, error);
    *chunk = lazy->chunk;
    return RECMAP_OK;
}

recmap_value index_column_default(const struct index_file *index, size_t column) {
    return index->defaults[column];
}

/* Verifies and opens a chunk of counts. */
static recmap_status open_counts(struct index_file *index, size_t value_index, size_t chunk_index,
                                 recmap_error *error) {
    const struct store_value *value;
    RETURN_IF_FAILED(get_value(&value, index, STORE_COUNTS, value_index, error));
    struct count_chunk chunk;
    if (!count_chunk_open(&chunk, value->data, value->size,
                          records_in_chunk(index, chunk_index, COUNT_CHUNK_SHIFT)))
        return index_fail(index, error, "a chunk of element counts is malformed");
    struct lazy_counts *lazy = &index->counts[value_index];
    publish(&lazy->is_open, &lazy->chunk, &chunk, sizeof chunk);
    return RECMAP_OK;
}

recmap_status index_count_chunk(struct count_chunk *chunk, struct index_file *index, size_t feature,
                                size_t chunk_index, recmap_error *error) {
    size_t value_index = chunk_index * index->manifest.counted_feature_count + feature;
    struct lazy_counts *lazy = &index->counts[value_index];
    if (!atomic_load_explicit(&lazy->is_open, memory_order_acquire))
        RETURN_IF_FAILED(open_counts(index, value_index, chunk_index, error));
    if (!store_intact(index->store)) return store_fail_cut(index->store, error);
    *chunk = lazy->chunk;
    return RECMAP_OK;
}

recmap_status index_read_counts(uint64_t *counts, struct index_file *index, size_t feature,
                                uint64_t first, size_t count, recmap_error *error) {
    for (size_t done = 0; done < count;) {
        struct count_chunk chunk;
        uint64_t record = first + done;
        RETURN_IF_FAILED(index_count_chunk(&chunk, index, feature,
                                           (size_t)(record >> COUNT_CHUNK_SHIFT), error));
        size_t in_first = (size_t)record & (COUNT_CHUNK_RECORDS - 1);
        size_t here = (size_t)min_u64(chunk.record_count - in_first, count - done);
        for (size_t i = 0; i < here; i++) {
            counts[done + i] = count_chunk_at(&chunk, in_first + i);
            if (counts[done + i] > RECMAP_COUNTS_MAX)
                return index_fail(index, error, "an element count is above 2^62");
        }
        done += here;
    }
    return store_intact(index->store) ? RECMAP_OK : store_fail_cut(index->store, error);
}

/* Reads all element counts of all features. */
static recmap_status check_counts(struct index_file *index, recmap_error *error) {
    uint64_t counts[COUNT_BLOCK_RECORDS], record_count = index->manifest.record_count;
    for (size_t feature = 0; feature < index->manifest.counted_feature_count; feature++)
        for (uint64_t first = 0; first < record_count; first += COUNT_BLOCK_RECORDS) {
            size_t here = (size_t)min_u64(record_count - first, COUNT_BLOCK_RECORDS);
            RETURN_IF_FAILED(index_read_counts(counts, index, feature, first, here, error));
            RETURN_IF_FAILED(interrupt_check(thread_interrupt(), here * PLACE_WORK, error));
        }
    return RECMAP_OK;
}

/* Decodes the values of one shard's points, which index_open has counted. */
static recmap_status decode_points(struct point_list *points, struct index_file *index,
                                   const struct index_shard *shard, recmap_error *error) {
    const struct shard_entry *entry = &shard->entry;
    size_t count;
    const struct store_value *values = store_values(index->store, STORE_POINTS, &count);
    size_t value_count =
        entry->compression == COMPRESSION_NONE ? 0 : points_value_count(entry->point_count);
    for (size_t i = 0; i < value_count; i++) {
        size_t value = shard->first_points + i;
        uint64_t due = min_u64(entry->point_count - points->count, POINTS_PER_VALUE);
        RETURN_IF_FAILED(store_check(index->store, STORE_POINTS, value, error));
        enum points_verdict verdict = points_decode(points, values[value].data, values[value].size,
                                                    (size_t)due, entry->file_size, entry->size);
        if (verdict == POINTS_NO_MEMORY) return fail_memory(error);
        if (verdict == POINTS_BAD)
            return index_fail(index, error, "the points of a compressed shard are malformed");
    }
    if (value_count && !points_divide_checks(points, entry->size))
        return index_fail(index, error, "the checks of a compressed shard are incomplete");
    return store_intact(index->store) ? RECMAP_OK : store_fail_cut(index->store, error);
}

recmap_status index_points(struct point_list *points, struct index_file *index, size_t shard_index,
                           recmap_error *error) {
    struct point_list list = {0};
    recmap_status status = decode_points(&list, index, &index->shards[shard_index], error);
    if (status == RECMAP_OK) *points = list;
    else points_deinit(&list);
    return status;
}

/* Checks the hashes of all values. */
static recmap_status check_values(struct index_file *index, recmap_error *error) {
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        size_t count;
        const struct store_value *values =
            store_values(index->store, (enum store_table)table, &count);
        for (size_t i = 0; i < count; i++) {
            RETURN_IF_FAILED(store_check(index->store, (enum store_table)table, i, error));
            RETURN_IF_FAILED(interrupt_check(thread_interrupt(), values[i].size, error));
        }
    }
    return RECMAP_OK;
}

static recmap_status check_places(struct index_file *index, recmap_error *error) {
    struct interrupt *interrupt = thread_interrupt();
    struct index_place place;
    for (uint64_t number = 0; number < index->manifest.record_count; number++) {
        RETURN_IF_FAILED(index_locate(&place, index, number, error));
        RETURN_IF_FAILED(interrupt_check(interrupt, PLACE_WORK, error));
    }
    return RECMAP_OK;
}

static recmap_status check_points(struct index_file *index, recmap_error *error) {
    for (size_t shard = 0; shard < index->manifest.shard_count; shard++) {
        struct point_list points = {0};
        RETURN_IF_FAILED(index_points(&points, index, shard, error));
        uint64_t work = points.count * INFLATE_WINDOW_MAX + PLACE_WORK;
        points_deinit(&points);
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), work, error));
    }
    return RECMAP_OK;
}

static recmap_status check_column(struct index_file *index, size_t column, recmap_error *error) {
    uint64_t null_count = 0;
    for (size_t chunk = 0; chunk < index->column_chunk_count; chunk++) {
        struct column_chunk opened = {.type = RECMAP_TYPE_NONE};
        RETURN_IF_FAILED(index_column_chunk(&opened, index, column, chunk, error));
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), CHUNK_WORK, error));
        null_count += opened.null_count;
    }
    if (null_count == index->manifest.columns[column].null_count) return RECMAP_OK;
    return index_fail(index, error, "the chunks of a column have another number of nulls");
}

static recmap_status check_columns(struct index_file *index, recmap_error *error) {
    for (size_t c = 0; c < index->manifest.column_count; c++)
        RETURN_IF_FAILED(check_column(index, c, error));
    return RECMAP_OK;
}

/* Opens every value in the way readers do: first the hashes, then what is decoded from the values.
 * Asks the thread's interrupt. */
recmap_status index_check_all(struct index_file *index, recmap_error *error) {
    recmap_status (*const checks[])(struct index_file *, recmap_error *) = {
        check_values, check_places, check_points, check_columns, check_counts};
    RETURN_IF_FAILED(store_check_all(index->store, error));
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        RETURN_IF_FAILED(checks[i](index, error));
    return RECMAP_OK;
}
