/* Packed orders: documents packed into rows, group by group. */
#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/permutation/random.h"
#include "order/kinds/order.h"
#include "order/rows/epoch_table.h"
#include "order/rows/packed_group.h"
#include "order/rows/row_options.h"

struct packed_order {
    recmap_order base;
    recmap_packed_options options;
    struct packing packing;
    uint64_t group_count;
    atomic_sum *row_sums;     /* rows before each group, and of all */
    struct epoch_table table; /* rows before each group of an epoch, in the epoch's order */
    struct group_cache cache;
};

static void packed_destroy(recmap_order *order) {
    struct packed_order *packed = (struct packed_order *)order;
    recmap_counts_release(packed->packing.lengths.counts);
    free((void *)packed->row_sums);
    epoch_table_deinit(&packed->table);
    group_cache_deinit(&packed->cache);
}

static void init_groups(struct permutation *permutation, const struct packed_order *packed,
                        uint64_t epoch) {
    permutation_init(permutation, packed->group_count, packed->options.seed, epoch,
                     stream_of(STREAM_PACKED_GROUPS, 0));
}

static uint64_t row_count(const struct packed_order *packed, uint64_t group) {
    return sums_at(packed->row_sums, group + 1) - sums_at(packed->row_sums, group);
}

/* ---- The table of an epoch. */

struct epoch_groups {
    const struct packed_order *packed;
    struct permutation groups;
};

static recmap_status measure_groups(uint64_t *sizes, const void *context, uint64_t first,
                                    size_t count, recmap_error *error) {
    (void)error;
    const struct epoch_groups *epoch = context;
    for (size_t i = 0; i < count; i++) sizes[i] = first + i;
    permutation_at(&epoch->groups, sizes, sizes, count);
    for (size_t i = 0; i < count; i++) sizes[i] = row_count(epoch->packed, sizes[i]);
    return RECMAP_OK;
}

static recmap_status compute_epoch(atomic_sum *sums, const void *context, uint64_t epoch,
                                   recmap_error *error) {
    struct epoch_groups groups = {.packed = context};
    init_groups(&groups.groups, context, epoch);
    struct sums_input input = {&groups, groups.packed->group_count, measure_groups, SUMS_STRETCH,
                               NULL};
    return sums_compute(sums, &input, error);
}

static struct epoch_source source_of(const struct packed_order *packed) {
    return (struct epoch_source){packed, packed->group_count, compute_epoch};
}

static recmap_status packed_prepare(const recmap_order *order, uint64_t epoch,
                                    recmap_error *error) {
    struct packed_order *packed = (struct packed_order *)order;
    struct epoch_source source = source_of(packed);
    return epoch_table_prepare(&packed->table, epoch, &source, error);
}

/* ---- Rows. */

/* The group at a place of an epoch, and the permutation of its rows. */
struct group_cursor {
    struct packed_order *packed;
    uint64_t epoch;
    struct permutation groups;
    struct epoch_place place; /* block: UINT64_MAX before the first */
    uint64_t group;
    struct permutation rows;
};

static void group_cursor_init(struct group_cursor *cursor, const recmap_order *order,
                              uint64_t epoch) {
    cursor->packed = (struct packed_order *)order;
    cursor->epoch = epoch;
    cursor->place.block = UINT64_MAX;
    init_groups(&cursor->groups, cursor->packed, epoch);
}

static void open_group(struct group_cursor *cursor, struct epoch_place place) {
    cursor->place = place;
    cursor->group = permutation_at_one(&cursor->groups, place.block);
    permutation_init(&cursor->rows, row_count(cursor->packed, cursor->group),
                     cursor->packed->options.seed, cursor->epoch,
                     stream_of(STREAM_PACKED_ROWS, cursor->group));
}

/* The number of the row at a position, in its group, which the cursor is then at. */
static recmap_status seek_row(uint64_t *row, struct group_cursor *cursor, uint64_t position,
                              recmap_error *error) {
    struct packed_order *packed = cursor->packed;
    bool is_here = cursor->place.block != UINT64_MAX && position >= cursor->place.start &&
                   position - cursor->place.start < cursor->rows.n;
    if (!is_here) {
        struct epoch_place place;
        struct epoch_source source = source_of(packed);
        RETURN_IF_FAILED(
            epoch_table_find(&place, &packed->table, cursor->epoch, &source, &position, 1, error));
        open_group(cursor, place);
    }
    *row = permutation_at_one(&cursor->rows, position - cursor->place.start);
    return RECMAP_OK;
}

static recmap_status packed_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                               const uint64_t *positions, size_t count, recmap_error *error) {
    struct group_cursor cursor;
    group_cursor_init(&cursor, order, epoch);
    for (size_t i = 0; i < count; i++) {
        uint64_t row;
        RETURN_IF_FAILED(seek_row(&row, &cursor, positions[i], error));
        numbers[i] = sums_at(cursor.packed->row_sums, cursor.group) + row;
    }
    return RECMAP_OK;
}

static recmap_status packed_position_of(uint64_t *position, const recmap_order *order,
                                        uint64_t epoch, uint64_t number, recmap_error *error) {
    struct group_cursor cursor;
    group_cursor_init(&cursor, order, epoch);
    struct packed_order *packed = cursor.packed;
    uint64_t group = sums_find(packed->row_sums, packed->group_count, number);
    struct epoch_place place = {permutation_inverse_one(&cursor.groups, group), 0};
    struct epoch_source source = source_of(packed);
    RETURN_IF_FAILED(
        epoch_table_start(&place.start, &packed->table, epoch, &source, place.block, error));
    open_group(&cursor, place);
    uint64_t row = number - sums_at(packed->row_sums, group);
    *position = place.start + permutation_inverse_one(&cursor.rows, row);
    return RECMAP_OK;
}

/* Makes `*group` the group with this number, and returns the previous one, if any, to the cache. */
static recmap_status use_group(struct packed_group **group, struct packed_order *packed,
                               uint64_t number, recmap_error *error) {
    if (*group && (*group)->number == number) return RECMAP_OK;
    if (*group) group_cache_put(&packed->cache, *group);
    *group = group_cache_take(&packed->cache, number);
    if (*group) return RECMAP_OK;
    RETURN_IF_FAILED(packed_group_create(group, &packed->packing, number, error));
    if (packed_group_row_count(*group) == row_count(packed, number)) return RECMAP_OK;
    packed_group_destroy(*group);
    *group = NULL;
    return fail_changed(error);
}

static recmap_status add_row(recmap_pieces *pieces, struct packed_group **group,
                             struct group_cursor *cursor, uint64_t position, recmap_error *error) {
    uint64_t row;
    RETURN_IF_FAILED(seek_row(&row, cursor, position, error));
    RETURN_IF_FAILED(use_group(group, cursor->packed, cursor->group, error));
    return packed_group_add_row(pieces, *group, row, error);
}

static recmap_status packed_pieces(recmap_pieces *pieces, const recmap_order *order, uint64_t epoch,
                                   const uint64_t *positions, size_t count, recmap_error *error) {
    struct group_cursor cursor;
    group_cursor_init(&cursor, order, epoch);
    struct packed_group *group = NULL;
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; i < count && status == RECMAP_OK; i++)
        status = add_row(pieces, &group, &cursor, positions[i], error);
    if (group) group_cache_put(&cursor.packed->cache, group);
    return status;
}

static void packed_describe(struct json_writer *json, const recmap_order *order) {
    static const char *const names[] = {"split", "truncate", "drop"};
    static const recmap_packed_options defaults = RECMAP_PACKED_OPTIONS_INIT;
    const struct packed_order *packed = (const struct packed_order *)order;
    describe_number(json, "n", order->record_limit);
    describe_number(json, "seed", packed->options.seed);
    describe_number(json, "size", packed->options.size);
    if (packed->options.add) describe_number(json, "add", packed->options.add);
    if (packed->options.long_documents != RECMAP_LONG_SPLIT)
        describe_text(json, "long", names[packed->options.long_documents]);
    if (packed->options.group != defaults.group)
        describe_number(json, "group", packed->options.group);
    describe_digest(json, "counts", packed->packing.lengths.counts->digest);
    describe_number(json, "rows", order->count);
}

static const struct order_kind packed_kind = {
    .name = "packed",
    .destroy = packed_destroy,
    .at = packed_at,
    .position_of = packed_position_of,
    .pieces = packed_pieces,
    .prepare = packed_prepare,
    .describe = packed_describe,
};

/* ---- Creating an order: every group is packed once to count its rows. */

struct counted_groups {
    const struct packing *packing;
    _Atomic(uint64_t) elements;
};

static recmap_status count_groups(uint64_t *sizes, const void *context, uint64_t first,
                                  size_t count, recmap_error *error) {
    struct counted_groups *counted = (struct counted_groups *)context;
    struct packer packer;
    recmap_status status = packer_init(&packer, counted->packing, error);
    if (status != RECMAP_OK) return status;
    for (size_t i = 0; i < count && status == RECMAP_OK; i++) {
        status = packer_pack(&packer, first + i, error);
        sizes[i] = packer_row_count(&packer);
        atomic_fetch_add_explicit(&counted->elements, packer.elements, memory_order_relaxed);
    }
    packer_deinit(&packer);
    return status;
}

/* Documents that a thread packs with the same memory. */
enum { STRETCH_DOCUMENTS = 16384 };

static recmap_status count_rows(struct packed_order *packed, recmap_error *error) {
    packed->row_sums = calloc(packed->group_count + 1, sizeof *packed->row_sums);
    if (!packed->row_sums) return fail_memory(error);
    struct counted_groups counted = {.packing = &packed->packing};
    uint64_t stretch = min_u64(SUMS_STRETCH, STRETCH_DOCUMENTS / packed->options.group);
    struct sums_input input = {&counted, packed->group_count, count_groups,
                               stretch ? (size_t)stretch : 1, NULL};
    RETURN_IF_FAILED(sums_compute(packed->row_sums, &input, error));
    uint64_t rows = sums_at(packed->row_sums, packed->group_count);
    packed->base.count = packed->base.limit = rows;
    order_rows_set_elements(&packed->base.rows, packed->base.rows.element_count,
                            atomic_load(&counted.elements));
    if (!rows) return RECMAP_OK;
    double places = (double)rows * (double)packed->options.size;
    double fill = (double)atomic_load(&counted.elements) / places;
    packed->base.rows.fill = fill < 1 ? fill : 1; /* rounding may exceed 1 */
    return RECMAP_OK;
}

static recmap_status check_options(const recmap_packed_options *options, recmap_error *error) {
    RETURN_IF_FAILED(check_version(options->version, RECMAP_PACKED_OPTIONS_VERSION, error));
    RETURN_IF_FAILED(check_row_size(options->size, 1, "size", error));
    RETURN_IF_FAILED(check_row_size(options->add, 0, "added elements", error));
    if (!options->group || options->group > RECMAP_PACKED_GROUP_MAX)
        return fail(error, RECMAP_INVALID, "a group of %u documents: a group has from 1 to %d",
                    options->group, RECMAP_PACKED_GROUP_MAX);
    if (options->long_documents != RECMAP_LONG_SPLIT &&
        options->long_documents != RECMAP_LONG_TRUNCATE &&
        options->long_documents != RECMAP_LONG_DROP)
        return fail(error, RECMAP_INVALID, "invalid rule for long documents: %d",
                    (int)options->long_documents);
    return RECMAP_OK;
}

static void init_packing(struct packed_order *packed, recmap_counts *counts) {
    struct packing *packing = &packed->packing;
    packing->lengths = (struct lengths){recmap_counts_retain(counts), packed->options.add};
    packing->document_count = counts->record_count;
    packing->size = packed->options.size;
    packing->long_documents = packed->options.long_documents;
    packing->group = packed->options.group;
    permutation_init(&packing->documents, counts->record_count, packed->options.seed, 0,
                     stream_of(STREAM_PACKED_DOCUMENTS, 0));
    packed->group_count = packing_group_count(packing);
}

/* How many rows there are is only known after all documents were packed, so the order is created
 * with none and they are counted afterwards. */
recmap_status recmap_order_packed(recmap_order **order, recmap_counts *counts,
                                  const recmap_packed_options *options, recmap_error *error) {
    struct lengths lengths = {counts, options->add};
    uint64_t total;
    RETURN_IF_FAILED(check_options(options, error));
    RETURN_IF_FAILED(lengths_total(&total, &lengths, error));
    struct packed_order *packed = order_allocate(sizeof *packed, &packed_kind, 0, 0, error);
    if (!packed) return RECMAP_NO_MEMORY;
    packed->options = *options;
    packed->base.record_limit = counts->record_count;
    packed->base.rows.width = options->size;
    packed->base.rows.add = options->add;
    packed->base.rows.element_count = total;
    init_packing(packed, counts);
    recmap_status status = count_rows(packed, error);
    if (status != RECMAP_OK) {
        recmap_order_release(&packed->base);
        return status;
    }
    *order = &packed->base;
    return RECMAP_OK;
}
