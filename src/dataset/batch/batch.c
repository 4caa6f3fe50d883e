#include "dataset/batch/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/bytes.h"
#include "base/core/error.h"
#include "parse/columns/columns.h"
#include "parse/columns/draws.h"
#include "parse/image/draw.h"

enum { BYTES_KEPT_MAX = 32 << 20 };

recmap_status recmap_batch_create(recmap_batch **batch, recmap_error *error) {
    recmap_batch *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->thread_count = 1;
    fresh->step = RECMAP_NO_STEP;
    *batch = fresh;
    return RECMAP_OK;
}

/* Keeps at most `kept_max` bytes that records were read into, and as many in all parts together. */
static void clear(recmap_batch *batch, size_t kept_max) {
    for (size_t i = 0; i < batch->pin_count; i++) shard_cache_unpin(batch->pins[i]);
    for (size_t i = 0; i < batch->part_count; i++)
        clear(batch->parts[i], kept_max / batch->part_count);
    record_memory_clear(&batch->bytes, kept_max);
    batch->count = batch->pin_count = 0;
    batch->is_parsed = batch->has_rows = false;
    batch->has_place = false;
    batch->step = RECMAP_NO_STEP;
    if (batch->columns) columns_clear_allocated(batch->columns);
}

void recmap_batch_clear(recmap_batch *batch) {
    clear(batch, BYTES_KEPT_MAX);
}

void recmap_batch_set_interrupt(recmap_batch *batch, recmap_interrupt_fn function, void *context) {
    batch->interrupt =
        (struct interrupt){.function = function, .context = context, .work_left = INTERRUPT_WORK};
}

void recmap_batch_destroy(recmap_batch *batch) {
    if (!batch) return;
    recmap_columns_destroy(batch->columns);
    batch->columns = NULL; /* recmap_batch_clear looks at it */
    recmap_columns_destroy(batch->whole);
    recmap_pieces_deinit(&batch->pieces);
    free(batch->piece_records);
    recmap_batch_clear(batch);
    free(batch->records);
    free(batch->pins);
    record_memory_deinit(&batch->bytes);
    free(batch->requests);
    free(batch->sorted);
    free(batch->places);
    free(batch->shards);
    free(batch->reads);
    for (size_t i = 0; i < batch->part_count; i++) recmap_batch_destroy(batch->parts[i]);
    free(batch->parts);
    free(batch->part_columns);
    free(batch->positions);
    free(batch->draw_numbers);
    free(batch->memory);
    free(batch);
}

void recmap_batch_set_threads(recmap_batch *batch, unsigned thread_count) {
    batch->thread_count = thread_count;
}

const recmap_record *recmap_batch_records(const recmap_batch *batch) {
    return batch->records;
}

size_t recmap_batch_count(const recmap_batch *batch) {
    return batch->count;
}

recmap_columns *recmap_batch_columns(const recmap_batch *batch) {
    return batch->is_parsed ? batch->columns : NULL;
}

void recmap_batch_set_draws(recmap_batch *batch, const recmap_draws *draws) {
    batch->has_draws = draws;
    if (draws) batch->draws = *draws;
}

const recmap_draws *batch_draws(const recmap_batch *batch) {
    return batch->has_draws ? &batch->place : NULL;
}

/* An array without values is not NULL either, so that it is known. */
static uint64_t *reserve(uint64_t **array, size_t *capacity, size_t count) {
    return array_reserve(array, capacity, count ? count : 1, sizeof **array) ? *array : NULL;
}

uint64_t *batch_reserve_positions(recmap_batch *batch, size_t count) {
    return reserve(&batch->positions, &batch->positions_capacity, count);
}

uint64_t *batch_reserve_draw_numbers(recmap_batch *batch, size_t count) {
    return reserve(&batch->draw_numbers, &batch->draw_numbers_capacity, count);
}

static bool copy(uint64_t *own, const uint64_t *values, size_t count) {
    if (own && count) memcpy(own, values, count * sizeof *values);
    return own;
}

recmap_status batch_take_draws(recmap_batch *batch, const recmap_draws *draws, size_t count,
                               recmap_error *error) {
    const uint64_t *positions = draws->positions, *numbers = draws->numbers;
    recmap_status status = RECMAP_OK;
    if (draws->repeats && !positions)
        status = fail(error, RECMAP_INVALID, "the draws lack the positions, which count");
    else if ((positions && positions != batch->positions &&
              !copy(batch_reserve_positions(batch, count), positions, count)) ||
             (numbers && numbers != batch->draw_numbers &&
              !copy(batch_reserve_draw_numbers(batch, count), numbers, count)))
        status = fail_memory(error);
    batch->place = *draws;
    if (positions) batch->place.positions = batch->positions;
    if (numbers) batch->place.numbers = batch->draw_numbers;
    if (status != RECMAP_OK) recmap_batch_clear(batch);
    return status;
}

void batch_move_place(recmap_batch *batch, size_t target, size_t source) {
    batch->positions[target] = batch->positions[source];
    if (batch->place.numbers) batch->draw_numbers[target] = batch->draw_numbers[source];
}

int recmap_batch_has_draws(const recmap_batch *batch) {
    return batch->has_place;
}

const uint64_t *recmap_batch_positions(const recmap_batch *batch) {
    return batch->has_place ? batch->place.positions : NULL;
}

uint64_t recmap_batch_epoch(const recmap_batch *batch) {
    return batch->has_place ? batch->place.epoch : 0;
}

uint64_t recmap_batch_step(const recmap_batch *batch) {
    return batch->step;
}

recmap_status recmap_batch_seeds(uint64_t *seeds, const recmap_batch *batch, const char *name,
                                 recmap_error *error) {
    if (!batch->has_place) return fail(error, RECMAP_INVALID, "the batch was read without draws");
    size_t count = batch->has_rows ? batch->pieces.row_count : batch->count;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = batch->has_rows ? 0 : batch->records[i].number; /* rows have their own */
        recmap_image_draw draw = draws_get(&batch->place, i, number);
        seeds[i] = draw_seed(&draw, name);
    }
    return RECMAP_OK;
}

void batch_set_allocator(recmap_batch *batch, const recmap_allocator *allocator) {
    batch->allocator = allocator && allocator->allocate ? allocator : NULL;
}

void batch_set_image_counts(recmap_batch *batch, struct image_counts *counts) {
    batch->image_counts = counts;
}

void batch_set_repair(recmap_batch *batch, const struct row_repair *repair) {
    batch->repair = repair;
}

bool batch_reserve(recmap_batch *batch, size_t count) {
    return array_reserve(&batch->records, &batch->capacity, count, sizeof *batch->records) &&
           array_reserve(&batch->requests, &batch->requests_capacity, count,
                         sizeof *batch->requests) &&
           array_reserve(&batch->sorted, &batch->sorted_capacity, count, sizeof *batch->sorted) &&
           array_reserve(&batch->places, &batch->places_capacity, count, sizeof *batch->places) &&
           array_reserve(&batch->shards, &batch->shards_capacity, count, sizeof *batch->shards);
}

bool batch_reserve_parts(recmap_batch *batch, size_t count) {
    if (!array_reserve(&batch->parts, &batch->part_capacity, count, sizeof *batch->parts))
        return false;
    while (batch->part_count < count) {
        recmap_batch *part = NULL;
        if (recmap_batch_create(&part, NULL) != RECMAP_OK) return false;
        batch->parts[batch->part_count++] = part;
    }
    return true;
}

bool batch_reserve_part_columns(recmap_batch *batch, size_t count) {
    if (!array_reserve(&batch->part_columns, &batch->part_columns_capacity, count,
                       sizeof *batch->part_columns))
        return false;
    for (size_t i = 0; i < count; i++) {
        recmap_batch *part = batch->parts[i];
        if (!part->columns && recmap_columns_create(&part->columns, NULL) != RECMAP_OK)
            return false;
        batch->part_columns[i] = part->columns;
    }
    return true;
}

bool batch_keep_pin(recmap_batch *batch, struct open_shard *shard) {
    if (!array_reserve(&batch->pins, &batch->pin_capacity, batch->pin_count + 1,
                       sizeof *batch->pins))
        return false;
    batch->pins[batch->pin_count++] = shard;
    return true;
}

uint8_t *batch_allocate(recmap_batch *batch, size_t size) {
    return record_memory_allocate(&batch->bytes, size);
}

/* One stable pass of a radix sort, by the eight bits from `shift` on: sorts `requests` into
 * `sorted` and swaps the two. Returns the number of requests in the largest group with equal bits.
 */
static size_t radix_pass(recmap_batch *batch, size_t count, unsigned shift) {
    const struct batch_request *source = batch->requests;
    struct batch_request *target = batch->sorted;
    size_t starts[256] = {0}, sum = 0, largest = 0;
    for (size_t i = 0; i < count; i++) starts[source[i].number >> shift & 0xff]++;
    for (size_t i = 0; i < 256; i++) {
        size_t group_size = starts[i];
        starts[i] = sum;
        sum += group_size;
        if (group_size > largest) largest = group_size;
    }
    for (size_t i = 0; i < count; i++)
        target[starts[source[i].number >> shift & 0xff]++] = source[i];
    batch->sorted = batch->requests;
    batch->requests = target;
    size_t capacity = batch->sorted_capacity;
    batch->sorted_capacity = batch->requests_capacity;
    batch->requests_capacity = capacity;
    return largest;
}

/* A stable insertion sort, for requests that are nearly sorted. */
static void insertion_sort(struct batch_request *requests, size_t count) {
    for (size_t i = 1; i < count; i++) {
        struct batch_request moved = requests[i];
        size_t at = i;
        for (; at && requests[at - 1].number > moved.number; at--) requests[at] = requests[at - 1];
        requests[at] = moved;
    }
}

recmap_status batch_sort_requests(recmap_batch *batch, size_t count, recmap_error *error) {
    enum { FEW_IN_GROUP = 12 };
    uint64_t differing = 0;
    bool is_sorted = true;
    for (size_t i = 1; i < count; i++) {
        differing |= batch->requests[i].number ^ batch->requests[0].number;
        is_sorted &= batch->requests[i - 1].number <= batch->requests[i].number;
    }
    if (is_sorted) return RECMAP_OK;
    /* In a shuffled batch of hundreds of records, the highest bits determine the order almost
     * completely, and an insertion sort does the rest. */
    unsigned width = bit_length(differing);
    if (radix_pass(batch, count, width > 8 ? width - 8 : 0) <= FEW_IN_GROUP) {
        insertion_sort(batch->requests, count);
        return RECMAP_OK;
    }
    recmap_status status = RECMAP_OK;
    for (unsigned shift = 0; shift < width && status == RECMAP_OK; shift += 8) {
        if (differing >> shift & 0xff) radix_pass(batch, count, shift);
        status = interrupt_check(&batch->interrupt, count * sizeof *batch->requests, error);
    }
    return status;
}
