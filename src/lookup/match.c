/* Positions of the ids of another data set's records. */
#include <stdlib.h>

#include "base/error.h"
#include "lookup/find_many.h"
#include "lookup/record_ids.h"

/* Rows are partitioned by this many of the highest bits of their numbers. */
enum { PARTITION_BITS = 11 };

/* A row is an index in `numbers` and `positions`. */
struct match {
    int64_t *positions;
    const uint64_t *numbers; /* of the records in `source` */
    size_t count;
    recmap_dataset *dataset;
    recmap_dataset *source;
    struct id_lookup lookup;
    struct record_ids ids; /* of a group of rows */

    /* NULL if the numbers ascend. Else the members are arrays: all rows, partitioned by their
     * numbers; and of a group of them, rows with their numbers, the numbers, and positions. */
    uint64_t *rows;
    struct radix_item *items;
    struct radix_item *scratch;
    uint64_t *group_numbers;
    int64_t *group_positions;
};

static bool is_ascending(const struct match *match) {
    for (size_t i = 1; i < match->count; i++)
        if (match->numbers[i] < match->numbers[i - 1]) return false;
    return true;
}

static recmap_status allocate(struct match *match, recmap_error *error) {
    size_t group = min_u64(match->count, GROUP_IDS);
    match->rows = malloc(match->count * sizeof *match->rows);
    match->items = malloc(group * sizeof *match->items);
    match->scratch = malloc(group * sizeof *match->scratch);
    match->group_numbers = malloc(group * sizeof *match->group_numbers);
    match->group_positions = malloc(group * sizeof *match->group_positions);
    return match->rows && match->items && match->scratch && match->group_numbers &&
                   match->group_positions
               ? RECMAP_OK
               : fail_memory(error);
}

/* Puts the rows of neighbouring records next to each other. Each part is filled in the order of the
 * rows, so that a later pass over a part reads `numbers` from front to back. A number that is not
 * one of a record, which reading reports, counts as the last one. */
static recmap_status partition_rows(struct match *match, recmap_error *error) {
    size_t starts[1 << PARTITION_BITS] = {0}, sum = 0;
    uint64_t last = match->source->info.record_count ? match->source->info.record_count - 1 : 0;
    unsigned width = bit_length(last), shift = width > PARTITION_BITS ? width - PARTITION_BITS : 0;
    RETURN_IF_FAILED(allocate(match, error));
    for (size_t i = 0; i < match->count; i++) starts[min_u64(match->numbers[i], last) >> shift]++;
    for (size_t i = 0; i < 1 << PARTITION_BITS; i++) {
        size_t size = starts[i];
        starts[i] = sum;
        sum += size;
    }
    for (size_t i = 0; i < match->count; i++)
        match->rows[starts[min_u64(match->numbers[i], last) >> shift]++] = i;
    return RECMAP_OK;
}

static recmap_status find_rows(int64_t *positions, struct match *match, const uint64_t *numbers,
                               size_t count, recmap_error *error) {
    RETURN_IF_FAILED(record_ids_read(&match->ids, match->source, numbers, count, error));
    return id_lookup_find(positions, &match->lookup, match->dataset, match->ids.ids, count, error);
}

/* Sorts a group of rows by their numbers, and takes these. Returns the sorted rows. */
static const struct radix_item *sort_group(struct match *match, size_t first, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t row = match->rows[first + i];
        match->items[i] = (struct radix_item){match->numbers[row], row};
    }
    const struct radix_item *sorted = radix_sort(match->items, match->scratch, count, 0,
                                                 bit_length(match->source->info.record_count));
    for (size_t i = 0; i < count; i++) match->group_numbers[i] = sorted[i].key;
    return sorted;
}

static recmap_status match_group(struct match *match, size_t first, size_t count,
                                 recmap_error *error) {
    if (!match->rows)
        return find_rows(match->positions + first, match, match->numbers + first, count, error);
    const struct radix_item *sorted = sort_group(match, first, count);
    RETURN_IF_FAILED(find_rows(match->group_positions, match, match->group_numbers, count, error));
    for (size_t i = 0; i < count; i++)
        match->positions[sorted[i].value] = match->group_positions[i];
    return RECMAP_OK;
}

/* Records are read in file order, whatever the order of the rows: a record that is read alone costs
 * several cache misses. */
static recmap_status match_all(struct match *match, recmap_error *error) {
    recmap_status status = is_ascending(match) ? RECMAP_OK : partition_rows(match, error);
    for (size_t i = 0; status == RECMAP_OK && i < match->count; i += GROUP_IDS)
        status = match_group(match, i, min_u64(match->count - i, GROUP_IDS), error);
    return status;
}

static void match_deinit(struct match *match) {
    record_ids_deinit(&match->ids);
    id_lookup_deinit(&match->lookup);
    free(match->rows);
    free(match->items);
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
                          .count = count,
                          .dataset = dataset,
                          .source = source,
                          .lookup = {.position = position, .position_context = context},
                          .ids = RECORD_IDS_INIT};
    recmap_status status = match_all(&match, error);
    match_deinit(&match);
    return status;
}
