/* Positions of the ids of another data set's records. */
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/radix.h"
#include "base/memory/memory.h"
#include "dataset/lookup/find_many.h"
#include "dataset/lookup/record_ids.h"

enum {
    PARTITION_BITS = 11, /* rows are partitioned by the highest bits of their numbers */
    PARTITIONS = 1 << PARTITION_BITS,
    WORD_BITS = 64,
    ROW_BITS = 26, /* a word has room for them and for the other bits of a number below 2^48 */
    ROWS_MAX = 1 << ROW_BITS,
    GROUP_ROWS_MAX = 1 << 19, /* rows whose ids are in memory together */
    ASK_ROWS = 1 << 16,       /* rows after which to ask whether to stop */
    PREFETCH_AHEAD = 32,
};

static const uint64_t ROW_MASK = ROWS_MAX - 1;

/* The records whose ids are matched. A row is an index in `numbers` and `positions`. */
struct match {
    int64_t *positions;
    const uint64_t *numbers; /* of the records in `source` */
    size_t count;            /* at most ROWS_MAX unless the numbers ascend */
    recmap_dataset *dataset;
    recmap_dataset *source;
    struct id_lookup lookup;
    struct record_ids ids; /* of a group of rows */

    /* For numbers that do not ascend, and NULL before: all rows, partitioned by their numbers and
     * then sorted. A row is a word of its index, ROW_BITS, and the `shift` lowest bits of the
     * distance of its number from `lowest`; the other bits are the partition. */
    uint64_t *rows;
    uint64_t lowest;
    unsigned shift;
    size_t ends[PARTITIONS];
    uint64_t *scratch; /* of a partition */
    size_t scratch_capacity;
    uint64_t *group_numbers;  /* of a group of rows */
    int64_t *group_positions; /* the same */
};

static size_t group_size(const struct match *match) {
    return (size_t)min_u64(match->count, min_u64(id_lookup_limit(match->dataset), GROUP_ROWS_MAX));
}

static bool is_ascending(const uint64_t *numbers, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (numbers[i] < numbers[i - 1]) return false;
    return true;
}

static recmap_status ask_now_and_then(size_t row, recmap_error *error) {
    if (row % ASK_ROWS) return RECMAP_OK;
    return interrupt_check(thread_interrupt(), ASK_ROWS * sizeof(uint64_t), error);
}

/* ---- Rows in the order of their numbers. */

static recmap_status allocate(struct match *match, recmap_error *error) {
    size_t group = group_size(match);
    if (match->rows) return RECMAP_OK;
    match->rows = (void *)pages_allocate(match->count * sizeof *match->rows);
    match->group_numbers = malloc(group * sizeof *match->group_numbers);
    match->group_positions = malloc(group * sizeof *match->group_positions);
    return match->rows && match->group_numbers && match->group_positions ? RECMAP_OK
                                                                         : fail_memory(error);
}

/* Finds the bounds of the numbers, each of which must be a record's. */
static recmap_status find_bounds(struct match *match, recmap_error *error) {
    uint64_t highest = 0;
    match->lowest = UINT64_MAX;
    for (size_t i = 0; i < match->count; i++) {
        uint64_t number = match->numbers[i];
        if (number < match->lowest) match->lowest = number;
        if (number > highest) highest = number;
    }
    unsigned width = bit_length(highest - match->lowest);
    match->shift = width > PARTITION_BITS ? width - PARTITION_BITS : 0;
    RETURN_IF_FAILED(dataset_check_range(match->source, highest, 1, error));
    if (match->shift <= WORD_BITS - ROW_BITS) return RECMAP_OK;
    return fail(error, RECMAP_UNSUPPORTED, "records 2^%u apart cannot be matched in one call",
                width - 1);
}

static size_t partition_of(const struct match *match, size_t row) {
    return (size_t)((match->numbers[row] - match->lowest) >> match->shift);
}

/* Puts the rows of neighbouring records next to each other. `ends` first has the sizes of the
 * partitions, then their starts, each of which becomes the end as the partition is filled. */
static recmap_status partition_rows(struct match *match, recmap_error *error) {
    size_t sum = 0;
    uint64_t low_mask = ((uint64_t)1 << match->shift) - 1;
    memset(match->ends, 0, sizeof match->ends);
    for (size_t i = 0; i < match->count; i++) {
        match->ends[partition_of(match, i)]++;
        RETURN_IF_FAILED(ask_now_and_then(i, error));
    }
    for (size_t i = 0; i < PARTITIONS; i++) {
        size_t size = match->ends[i];
        match->ends[i] = sum;
        sum += size;
    }
    for (size_t i = 0; i < match->count; i++) {
        uint64_t low = (match->numbers[i] - match->lowest) & low_mask;
        match->rows[match->ends[partition_of(match, i)]++] = low << ROW_BITS | i;
        RETURN_IF_FAILED(ask_now_and_then(i, error));
    }
    return RECMAP_OK;
}

/* Sorts each partition, which usually fits in a cache. */
static recmap_status sort_partitions(struct match *match, recmap_error *error) {
    for (size_t i = 0, begin = 0; i < PARTITIONS; begin = match->ends[i++]) {
        size_t size = match->ends[i] - begin;
        uint64_t *rows = match->rows + begin;
        if (!array_reserve(&match->scratch, &match->scratch_capacity, size, sizeof *rows))
            return fail_memory(error);
        const uint64_t *sorted =
            radix_sort_words(rows, match->scratch, size, ROW_BITS, ROW_BITS + match->shift);
        if (sorted != rows) memcpy(rows, sorted, size * sizeof *rows);
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), size * sizeof *rows, error));
    }
    return RECMAP_OK;
}

static recmap_status sort_rows(struct match *match, recmap_error *error) {
    RETURN_IF_FAILED(allocate(match, error));
    RETURN_IF_FAILED(find_bounds(match, error));
    RETURN_IF_FAILED(partition_rows(match, error));
    return sort_partitions(match, error);
}

/* ---- Groups of rows. */

static recmap_status find_rows(int64_t *positions, struct match *match, const uint64_t *numbers,
                               size_t count, recmap_error *error) {
    RETURN_IF_FAILED(record_ids_read(&match->ids, match->source, numbers, count, error));
    return id_lookup_find(positions, &match->lookup, match->dataset, match->ids.ids, count, error);
}

/* Takes the numbers of the sorted rows from `first` on. `partition` is the previous row's, and
 * becomes the last row's. */
static void take_numbers(struct match *match, size_t *partition, size_t first, size_t count) {
    for (size_t i = 0; i < count; i++) {
        while (first + i >= match->ends[*partition]) ++*partition;
        uint64_t high = (uint64_t)*partition << match->shift;
        match->group_numbers[i] = match->lowest + (high | match->rows[first + i] >> ROW_BITS);
    }
}

static void write_positions(const struct match *match, size_t first, size_t count) {
    const uint64_t *rows = match->rows + first;
    for (size_t i = 0; i < count; i++) {
        if (i + PREFETCH_AHEAD < count)
            __builtin_prefetch(&match->positions[rows[i + PREFETCH_AHEAD] & ROW_MASK], 1);
        match->positions[rows[i] & ROW_MASK] = match->group_positions[i];
    }
}

static recmap_status match_ascending(struct match *match, recmap_error *error) {
    size_t group = group_size(match);
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < match->count; i += group)
        status = find_rows(match->positions + i, match, match->numbers + i,
                           min_u64(match->count - i, group), error);
    return status;
}

/* Records are read in file order, whatever the order of the rows: a record that is read alone costs
 * several cache misses. */
static recmap_status match_sorted(struct match *match, recmap_error *error) {
    size_t group = group_size(match), partition = 0;
    recmap_status status = sort_rows(match, error);
    for (size_t i = 0; status == RECMAP_OK && i < match->count; i += group) {
        size_t count = (size_t)min_u64(match->count - i, group);
        take_numbers(match, &partition, i, count);
        status = find_rows(match->group_positions, match, match->group_numbers, count, error);
        if (status == RECMAP_OK) write_positions(match, i, count);
    }
    return status;
}

/* Matches the next rows that are sorted together, and moves on. */
static recmap_status match_some(struct match *match, size_t count, recmap_error *error) {
    match->count = (size_t)min_u64(count, ROWS_MAX);
    RETURN_IF_FAILED(match_sorted(match, error));
    match->numbers += match->count;
    match->positions += match->count;
    return RECMAP_OK;
}

static recmap_status match_all(struct match *match, size_t count, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    match->count = count;
    if (is_ascending(match->numbers, count)) return match_ascending(match, error);
    for (size_t i = 0; status == RECMAP_OK && i < count; i += match->count)
        status = match_some(match, count - i, error);
    return status;
}

static void match_deinit(struct match *match) {
    record_ids_deinit(&match->ids);
    id_lookup_deinit(&match->lookup);
    free(match->rows);
    free(match->scratch);
    free(match->group_numbers);
    free(match->group_positions);
}

recmap_status recmap_dataset_match(int64_t *positions, recmap_dataset *dataset,
                                   recmap_dataset *source, const uint64_t *numbers, size_t count,
                                   recmap_position_fn position, void *context,
                                   recmap_error *error) {
    const recmap_value any = {.type = RECMAP_TYPE_INT64};
    RETURN_IF_FAILED(dataset_check_can_find_many(source, &any, error));
    RETURN_IF_FAILED(dataset_check_can_find_many(dataset, &any, error));
    struct match match = {.positions = positions,
                          .numbers = numbers,
                          .dataset = dataset,
                          .source = source,
                          .lookup = {.position = position, .position_context = context},
                          .ids = RECORD_IDS_INIT};
    recmap_status status = match_all(&match, count, error);
    match_deinit(&match);
    return status;
}
