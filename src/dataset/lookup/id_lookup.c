#include "dataset/lookup/id_lookup.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/radix.h"
#include "base/memory/memory.h"
#include "dataset/lookup/run_parts.h"

enum {
    READ_RECORDS = 256,
    READ_BYTES = 4 << 20,
    SORTED_HASH_BITS = 22, /* enough to sort a million hashes almost completely */
    ID_WORK = 64,          /* counted for an interrupt, in bytes */
    SLOT_BITS_MAX = 20,
    WORD_BITS = 64,
    PREFETCH_AHEAD = 32,
};

/* ---- Items. */

/* So many that a slot and a record number fit into a word. */
static unsigned slot_bits_of(const recmap_dataset *dataset) {
    uint64_t count = dataset->info.record_count;
    unsigned bits = WORD_BITS - bit_length(count ? count - 1 : 0);
    return bits < SLOT_BITS_MAX ? bits : SLOT_BITS_MAX;
}

size_t id_lookup_limit(const recmap_dataset *dataset) {
    return (size_t)1 << slot_bits_of(dataset);
}

static uint64_t slot_mask(const struct id_lookup *lookup) {
    return ((uint64_t)1 << lookup->slot_bits) - 1;
}

static size_t slot_of(const struct id_lookup *lookup, uint64_t item) {
    return (size_t)(item & slot_mask(lookup));
}

static uint64_t number_of(const struct id_lookup *lookup, uint64_t item) {
    return item >> lookup->slot_bits;
}

static uint64_t item_of_number(const struct id_lookup *lookup, uint64_t number, size_t slot) {
    return number << lookup->slot_bits | slot;
}

/* The lowest bits of the hash are left out if the slot needs their place. */
static uint64_t item_of_hash(const struct id_lookup *lookup, uint64_t hash, size_t slot) {
    return ((hash << (WORD_BITS - IDS_HASH_BITS)) & ~slot_mask(lookup)) | slot;
}

/* The lowest hash that the id of an item can have. */
static uint64_t lowest_hash_of(const struct id_lookup *lookup, uint64_t item) {
    return (item & ~slot_mask(lookup)) >> (WORD_BITS - IDS_HASH_BITS);
}

/* How much higher the hash can be. */
static uint64_t hash_range(const struct id_lookup *lookup) {
    return slot_mask(lookup) >> (WORD_BITS - IDS_HASH_BITS);
}

static int64_t position_of(const struct id_lookup *lookup, uint64_t number) {
    uint64_t whole = lookup->first_record + number;
    return lookup->position ? lookup->position(whole, lookup->position_context) : (int64_t)whole;
}

static bool is_lower(int64_t position, int64_t other) {
    return position >= 0 && (other < 0 || position < other);
}

/* ---- Searching the table of ids. */

/* Without a position function, a record that was found in an earlier part of a concatenation has
 * the lowest position. */
static bool is_needed(const struct id_lookup *lookup, size_t i) {
    return lookup->ids[i].type != RECMAP_TYPE_NONE &&
           (lookup->position || lookup->positions[i] < 0);
}

/* Writes the item and the key of each id of this part that still needs a lookup. */
static recmap_status hash_part(void *context, size_t part, struct interrupt *interrupt,
                               recmap_error *error) {
    const struct id_lookup *lookup = context;
    size_t begin = parts_begin(part, lookup->part_count, lookup->count);
    size_t end = parts_begin(part + 1, lookup->part_count, lookup->count);
    uint64_t *item = lookup->items + begin;
    for (size_t i = begin; i < end; i++) {
        if (!is_needed(lookup, i)) continue;
        *item++ = item_of_hash(lookup, id_hash(&lookup->ids[i]), i);
        lookup->keys[i] = id_key_of(&lookup->ids[i]);
    }
    lookup->part_counts[part] = (size_t)(item - lookup->items) - begin;
    return interrupt_check(interrupt, (end - begin) * ID_WORK, error);
}

/* Closes the gaps between the items: each part wrote its own at the start of its range. */
static void join_parts(struct id_lookup *lookup) {
    size_t count = 0;
    for (size_t part = 0; part < lookup->part_count; part++) {
        size_t begin = parts_begin(part, lookup->part_count, lookup->item_count);
        memmove(lookup->items + count, lookup->items + begin,
                lookup->part_counts[part] * sizeof *lookup->items);
        count += lookup->part_counts[part];
    }
    lookup->item_count = count;
}

static void sort_items(struct id_lookup *lookup, unsigned first_bit, unsigned end_bit) {
    uint64_t *items = lookup->items;
    lookup->items =
        radix_sort_words(items, lookup->scratch, lookup->item_count, first_bit, end_bit);
    if (lookup->items != items) lookup->scratch = items;
}

/* Chooses the candidate of the lowest position. `position` is -1 if there is none. Ids whose hashes
 * differ in their lowest bits are also candidates; comparing the ids finds out. */
static recmap_status choose_candidate(int64_t *position, uint64_t *number,
                                      const struct id_lookup *lookup,
                                      struct index_candidates *candidates, recmap_error *error) {
    *position = -1;
    for (;;) {
        uint64_t candidate;
        bool is_found;
        RETURN_IF_FAILED(index_candidates_next(candidates, &candidate, &is_found, error));
        if (!is_found) return RECMAP_OK;
        int64_t found = position_of(lookup, candidate);
        if (is_lower(found, *position)) *position = found, *number = candidate;
        if (!lookup->position) return RECMAP_OK; /* candidates with one hash ascend */
    }
}

/* Returns true if an id has no lower position yet. While first_record is 0, no earlier records were
 * searched and all positions are -1; they are not read then, because each would be a cache miss. */
static bool is_improvement(const struct id_lookup *lookup, int64_t position, size_t slot) {
    return lookup->first_record ? is_lower(position, lookup->positions[slot]) : position >= 0;
}

/* Replaces a part of the hashes by the candidates that have them. */
static recmap_status search_part(void *context, size_t part, struct interrupt *interrupt,
                                 recmap_error *error) {
    const struct id_lookup *lookup = context;
    size_t begin = parts_begin(part, lookup->part_count, lookup->item_count);
    size_t end = parts_begin(part + 1, lookup->part_count, lookup->item_count);
    uint64_t *found = lookup->scratch + begin, range = hash_range(lookup);
    struct index_candidates candidates;
    RETURN_IF_FAILED(index_candidates_init(&candidates, lookup->dataset->index, 0, error));
    for (size_t i = begin; i < end; i++) {
        int64_t position;
        uint64_t item = lookup->items[i], number = 0, hash = lowest_hash_of(lookup, item);
        size_t slot = slot_of(lookup, item);
        RETURN_IF_FAILED(index_candidates_move(&candidates, hash, range, error));
        RETURN_IF_FAILED(choose_candidate(&position, &number, lookup, &candidates, error));
        if (is_improvement(lookup, position, slot)) *found++ = item_of_number(lookup, number, slot);
        RETURN_IF_FAILED(interrupt_check(interrupt, ID_WORK, error));
    }
    lookup->part_counts[part] = (size_t)(found - lookup->scratch) - begin;
    return RECMAP_OK;
}

/* ---- Comparing the ids of the candidates. */

bool dataset_is_mapped(const recmap_dataset *dataset) {
    if (dataset->access != RECMAP_ACCESS_MAP || dataset->is_remote) return false;
    for (uint64_t i = 0; i < dataset->info.shard_count; i++)
        if (dataset->shard_table[i].entry.compression != COMPRESSION_NONE) return false;
    return true;
}

size_t read_group_count(const recmap_dataset *dataset, bool is_mapped, const uint64_t *numbers,
                        size_t count) {
    uint64_t size = 0;
    if (is_mapped) return count;
    for (size_t i = 0; i < count; i++) {
        struct index_place place = {.frame_size = 0};
        /* Reading the record will fail, too, and say why. */
        if (numbers[i] >= dataset->info.record_count ||
            dataset_find_place(&place, dataset, numbers[i], NULL) != RECMAP_OK)
            return i + 1;
        size += place.frame_size;
        if (size > READ_BYTES) return i ? i : 1;
    }
    return count;
}

/* A candidate does not have the id: the others with its hash are compared one by one. */
static recmap_status compare_others(const struct id_lookup *lookup, size_t slot,
                                    recmap_error *error) {
    const recmap_value *id = &lookup->ids[slot];
    struct index_candidates candidates;
    RETURN_IF_FAILED(
        index_candidates_init(&candidates, lookup->dataset->index, id_hash(id), error));
    for (;;) {
        uint64_t number;
        bool is_found, matches = false;
        RETURN_IF_FAILED(index_candidates_next(&candidates, &number, &is_found, error));
        if (!is_found) return RECMAP_OK;
        int64_t position = position_of(lookup, number);
        if (!is_lower(position, lookup->positions[slot])) continue;
        RETURN_IF_FAILED(dataset_has_id(&matches, lookup->dataset, number, id, error));
        if (matches) lookup->positions[slot] = position;
    }
}

/* A part of the candidates whose records are read together. */
struct candidate_run {
    const uint64_t *items;
    size_t count;
    uint64_t numbers[READ_RECORDS]; /* of the records, each once */
    size_t number_count;
};

/* Takes candidates from `items` on, and prefetches the keys that they are compared with. */
static void take_candidates(struct candidate_run *run, const struct id_lookup *lookup,
                            const uint64_t *items, size_t count) {
    size_t taken_count = 0;
    run->items = items;
    run->number_count = 0;
    for (; taken_count < count; taken_count++) {
        uint64_t number = number_of(lookup, items[taken_count]);
        if (!taken_count || number != run->numbers[run->number_count - 1]) {
            if (run->number_count == READ_RECORDS) break;
            run->numbers[run->number_count++] = number;
        }
        __builtin_prefetch(&lookup->keys[slot_of(lookup, items[taken_count])]);
    }
    size_t kept_count =
        read_group_count(lookup->dataset, lookup->is_mapped, run->numbers, run->number_count);
    if (kept_count < run->number_count)
        while (number_of(lookup, items[taken_count - 1]) >= run->numbers[kept_count]) taken_count--;
    run->number_count = kept_count;
    run->count = taken_count;
}

/* Prefetches the bytes of long ids. */
static void prefetch_ids(const struct candidate_run *run, const struct id_lookup *lookup) {
    for (size_t i = 0; i < run->count; i++) {
        const struct id_key *key = &lookup->keys[slot_of(lookup, run->items[i])];
        if (id_key_kind(key) == ID_KEY_LONG) __builtin_prefetch(id_key_data(key));
    }
}

/* The key of a record's id, whose bytes are in the record or in `room`; the key of a missing id if
 * it has none. */
static recmap_status read_key(struct id_key *key, struct id_room *room,
                              const recmap_dataset *dataset, const recmap_record *record,
                              uint64_t number, recmap_error *error) {
    recmap_value id;
    RETURN_IF_FAILED(dataset_read_id(&id, room, dataset, record, number, error));
    *key = id.type == RECMAP_TYPE_NONE ? ID_KEY_NONE : id_key_of(&id);
    return RECMAP_OK;
}

/* Appends the candidates that have their ids to `found`. */
static recmap_status compare_run(uint64_t **found, const struct candidate_run *run,
                                 const struct id_lookup *lookup, const recmap_record *records,
                                 struct interrupt *interrupt, recmap_error *error) {
    struct id_key key = ID_KEY_NONE;
    struct id_room room;
    for (size_t i = 0, next = 0; i < run->count; i++) {
        uint64_t number = number_of(lookup, run->items[i]);
        size_t slot = slot_of(lookup, run->items[i]);
        if (!next || number != run->numbers[next - 1])
            RETURN_IF_FAILED(
                read_key(&key, &room, lookup->dataset, &records[next++], number, error));
        if (id_key_equals(&key, &lookup->keys[slot])) *(*found)++ = run->items[i];
        else RETURN_IF_FAILED(compare_others(lookup, slot, error));
        RETURN_IF_FAILED(interrupt_check(interrupt, ID_WORK, error));
    }
    return RECMAP_OK;
}

static recmap_status verify_run(uint64_t **found, recmap_batch *batch,
                                const struct candidate_run *run, const struct id_lookup *lookup,
                                struct interrupt *interrupt, recmap_error *error) {
    RETURN_IF_FAILED(
        recmap_dataset_gather(batch, lookup->dataset, run->numbers, run->number_count, error));
    prefetch_ids(run, lookup);
    return compare_run(found, run, lookup, recmap_batch_records(batch), interrupt, error);
}

static recmap_status verify_part(void *context, size_t part, struct interrupt *interrupt,
                                 recmap_error *error) {
    const struct id_lookup *lookup = context;
    size_t next = parts_begin(part, lookup->part_count, lookup->item_count);
    size_t end = parts_begin(part + 1, lookup->part_count, lookup->item_count);
    uint64_t *begin = lookup->scratch + next, *found = begin;
    struct candidate_run run;
    recmap_batch *batch;
    RETURN_IF_FAILED(recmap_batch_create(&batch, error));
    recmap_batch_set_interrupt(batch, interrupt->function, interrupt->context);
    recmap_status status = RECMAP_OK;
    for (; status == RECMAP_OK && next < end; next += run.count) {
        take_candidates(&run, lookup, lookup->items + next, end - next);
        status = verify_run(&found, batch, &run, lookup, interrupt, error);
    }
    recmap_batch_destroy(batch);
    lookup->part_counts[part] = (size_t)(found - begin);
    return status;
}

/* Writes the positions of the candidates of a part that have their ids. A loop of its own: stores
 * in random order, which miss the caches, would delay the work of comparing. */
static recmap_status write_part(void *context, size_t part, struct interrupt *interrupt,
                                recmap_error *error) {
    const struct id_lookup *lookup = context;
    const uint64_t *found = lookup->scratch +
                            parts_begin(part, lookup->part_count, lookup->item_count);
    size_t count = lookup->part_counts[part];
    for (size_t i = 0; i < count; i++) {
        if (i + PREFETCH_AHEAD < count)
            __builtin_prefetch(&lookup->positions[slot_of(lookup, found[i + PREFETCH_AHEAD])], 1);
        lookup->positions[slot_of(lookup, found[i])] =
            position_of(lookup, number_of(lookup, found[i]));
    }
    return interrupt_check(interrupt, count * ID_WORK, error);
}

/* ---- All phases. */

static void swap_items(struct id_lookup *lookup) {
    uint64_t *items = lookup->items;
    lookup->items = lookup->scratch;
    lookup->scratch = items;
}

static recmap_status run_phases(struct id_lookup *lookup, recmap_error *error) {
    size_t parts = lookup->part_count;
    unsigned threads = lookup->thread_count;
    lookup->item_count = lookup->count;
    RETURN_IF_FAILED(run_parts(hash_part, lookup, parts, threads, error));
    join_parts(lookup);
    sort_items(lookup, WORD_BITS - SORTED_HASH_BITS, WORD_BITS);
    RETURN_IF_FAILED(run_parts(search_part, lookup, parts, threads, error));
    swap_items(lookup);
    join_parts(lookup);
    sort_items(lookup, lookup->slot_bits,
               lookup->slot_bits + bit_length(lookup->dataset->info.record_count - 1));
    RETURN_IF_FAILED(run_parts(verify_part, lookup, parts, threads, error));
    return run_parts(write_part, lookup, parts, threads, error);
}

/* The arrays are read and written in random order, for which huge pages save most of the time. The
 * system clears memory before it gives it to a process, so that is done once for all runs. */
static recmap_status reserve_items(struct id_lookup *lookup, recmap_error *error) {
    if (lookup->count <= lookup->capacity) return RECMAP_OK;
    id_lookup_deinit(lookup);
    lookup->items = (void *)pages_allocate(lookup->count * sizeof *lookup->items);
    lookup->scratch = (void *)pages_allocate(lookup->count * sizeof *lookup->scratch);
    lookup->keys = (void *)pages_allocate(lookup->count * sizeof *lookup->keys);
    if (!lookup->items || !lookup->scratch || !lookup->keys) return fail_memory(error);
    lookup->capacity = lookup->count;
    return RECMAP_OK;
}

recmap_status id_lookup_run(struct id_lookup *lookup, recmap_error *error) {
    if (!lookup->count || !lookup->dataset->info.record_count) return RECMAP_OK;
    assert(lookup->count <= id_lookup_limit(lookup->dataset));
    lookup->slot_bits = slot_bits_of(lookup->dataset);
    lookup->thread_count = parts_thread_count(lookup->count);
    lookup->part_count = parts_count(lookup->thread_count, lookup->count);
    /* Few ids are not worth a look at every shard. */
    lookup->is_mapped = lookup->count >= READ_RECORDS && dataset_is_mapped(lookup->dataset);
    RETURN_IF_FAILED(reserve_items(lookup, error));
    lookup->part_counts = malloc(lookup->part_count * sizeof *lookup->part_counts);
    recmap_status status = lookup->part_counts ? run_phases(lookup, error) : fail_memory(error);
    free(lookup->part_counts);
    return status;
}

void id_lookup_deinit(struct id_lookup *lookup) {
    free(lookup->items);
    free(lookup->scratch);
    free(lookup->keys);
    lookup->items = lookup->scratch = NULL;
    lookup->keys = NULL;
    lookup->capacity = 0;
}
