#include "dataset/warm/warm_marks.h"

#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "dataset/open/storage_use.h"

/* Reading this much more from a disk takes less time than another read. */
enum { LOCAL_GAP = 32 << 10, UNIT_MIN = 4096, WORD = 64 };

#define UNITS_MAX ((uint64_t)1 << 29)

static uint64_t shard_size(const recmap_dataset *dataset, uint64_t shard_index) {
    return dataset->shard_table[shard_index].entry.size;
}

static uint64_t count_units(const struct warm_marks *marks, uint64_t shard_index) {
    uint64_t size = shard_size(marks->dataset, shard_index);
    return size / marks->unit + (size % marks->unit != 0);
}

static uint64_t count_all(const struct warm_marks *marks) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < marks->dataset->info.shard_count; i++) count += count_units(marks, i);
    return count;
}

recmap_status warm_marks_init(struct warm_marks *marks, const recmap_dataset *dataset,
                              recmap_error *error) {
    *marks = (struct warm_marks){.dataset = dataset, .unit = UNIT_MIN};
    uint64_t shard_count = dataset->info.shard_count;
    while (count_all(marks) > UNITS_MAX + shard_count) marks->unit *= 2;
    marks->unit_count = count_all(marks);
    size_t words = (size_t)(marks->unit_count / WORD + 1);
    marks->first_units = malloc((size_t)(shard_count + 1) * sizeof *marks->first_units);
    marks->done = calloc(words, sizeof *marks->done);
    marks->marked = calloc(words, sizeof *marks->marked);
    if (!marks->first_units || !marks->done || !marks->marked) return fail_memory(error);
    marks->first_units[0] = 0;
    for (uint64_t i = 0; i < shard_count; i++)
        marks->first_units[i + 1] = marks->first_units[i] + count_units(marks, i);
    return RECMAP_OK;
}

void warm_marks_deinit(struct warm_marks *marks) {
    free(marks->first_units);
    free(marks->done);
    free(marks->marked);
}

/* ---- Bits. */

static bool has_bit(const uint64_t *bits, uint64_t i) {
    return bits[i / WORD] >> (i % WORD) & 1;
}

static void set_bit(uint64_t *bits, uint64_t i) {
    bits[i / WORD] |= (uint64_t)1 << (i % WORD);
}

/* The first set bit in [begin, end), or `end`. */
static uint64_t find_bit(const uint64_t *bits, uint64_t begin, uint64_t end) {
    while (begin < end) {
        uint64_t word = bits[begin / WORD] >> (begin % WORD);
        if (word) return min_u64(begin + (uint64_t)__builtin_ctzll(word), end);
        begin = (begin / WORD + 1) * WORD;
    }
    return end;
}

/* ---- Marking. */

static void mark(struct warm_marks *marks, uint64_t unit) {
    if (has_bit(marks->done, unit)) return;
    bool follows = unit && has_bit(marks->marked, unit - 1);
    bool precedes = unit + 1 < marks->unit_count && has_bit(marks->marked, unit + 1);
    set_bit(marks->done, unit);
    set_bit(marks->marked, unit);
    marks->marked_count++;
    if (!follows && !precedes) marks->stretch_count++;
    if (follows && precedes) marks->stretch_count--;
    if (unit < marks->next) marks->next = unit;
}

/* The index may be forged, so the place is compared with the size of the shard. */
void warm_marks_add(struct warm_marks *marks, const struct index_place *place) {
    uint64_t size = shard_size(marks->dataset, place->shard_index);
    if (!place->frame_size || !bytes_fit(place->offset, place->frame_size, size)) return;
    uint64_t first = marks->first_units[place->shard_index];
    uint64_t end = (place->offset + place->frame_size - 1) / marks->unit;
    for (uint64_t unit = place->offset / marks->unit; unit <= end; unit++)
        mark(marks, first + unit);
}

uint64_t warm_marks_size(const struct warm_marks *marks) {
    return marks->marked_count * marks->unit;
}

uint64_t warm_marks_stretch_size(const struct warm_marks *marks) {
    return marks->stretch_count ? warm_marks_size(marks) / marks->stretch_count : 0;
}

/* ---- Taking. */

/* The shard that has a unit: the last one that begins there or earlier, and is not empty. */
static uint32_t find_shard(const struct warm_marks *marks, uint64_t unit) {
    uint64_t low = 0, high = marks->dataset->info.shard_count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (marks->first_units[middle] <= unit) low = middle;
        else high = middle;
    }
    return (uint32_t)low;
}

static uint64_t find_gap(const struct warm_marks *marks, uint32_t shard_index) {
    if (!marks->dataset->is_remote) return LOCAL_GAP / marks->unit;
    return dataset_request_gap(marks->dataset, shard_index) / marks->unit;
}

/* The end of the range that begins at a marked unit. */
static uint64_t find_end(const struct warm_marks *marks, uint64_t begin, uint64_t limit,
                         uint64_t gap) {
    uint64_t end = begin + 1;
    for (;;) {
        uint64_t next = find_bit(marks->marked, end, min_u64(limit, end + gap + 1));
        if (next >= limit || next > end + gap || !has_bit(marks->marked, next)) return end;
        end = next + 1;
    }
}

static void take_units(struct warm_marks *marks, uint64_t begin, uint64_t end) {
    for (uint64_t unit = begin; unit < end; unit++) {
        set_bit(marks->done, unit);
        if (!has_bit(marks->marked, unit)) continue;
        marks->marked[unit / WORD] &= ~((uint64_t)1 << (unit % WORD));
        marks->marked_count--;
    }
    marks->next = end;
}

bool warm_marks_take(struct warm_range *range, struct warm_marks *marks) {
    uint64_t begin = find_bit(marks->marked, marks->next, marks->unit_count);
    if (begin == marks->unit_count) {
        marks->stretch_count = 0;
        return false;
    }
    uint32_t shard = find_shard(marks, begin);
    uint64_t first = marks->first_units[shard], range_max = WARM_RANGE_MAX / marks->unit + 1;
    uint64_t limit = min_u64(marks->first_units[shard + 1], begin + range_max);
    uint64_t end = find_end(marks, begin, limit, find_gap(marks, shard));
    take_units(marks, begin, end);
    range->shard_index = shard;
    range->begin = (begin - first) * marks->unit;
    range->end = min_u64((end - first) * marks->unit, shard_size(marks->dataset, shard));
    return true;
}
