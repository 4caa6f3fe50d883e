/* Views: an order of positions in a range or a list, mapped to the record numbers there. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/core/search.h"
#include "order/kinds/order.h"

struct view_order {
    recmap_order base;
    recmap_order *source;
    uint64_t size;     /* of the range or the list */
    uint64_t first;    /* range */
    int64_t step;      /* range */
    uint64_t *numbers; /* list */
    bool is_ascending; /* list */
    uint8_t digest[DIGEST_SIZE];
};

static void view_destroy(recmap_order *order) {
    struct view_order *view = (struct view_order *)order;
    recmap_order_release(view->source);
    free(view->numbers);
}

/* The number that the view has for number `index` of its base. */
static uint64_t number_of(const struct view_order *view, uint64_t index) {
    return view->numbers ? view->numbers[index] : view->first + index * (uint64_t)view->step;
}

/* A view of a row order has other records, but the same rows. */
static recmap_status rows_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                             const uint64_t *positions, size_t count, recmap_error *error) {
    const struct view_order *view = (const struct view_order *)order;
    return view->source->kind->at(numbers, view->source, epoch, positions, count, error);
}

static recmap_status rows_position_of(uint64_t *position, const recmap_order *order, uint64_t epoch,
                                      uint64_t number, recmap_error *error) {
    return recmap_order_position_of(position, ((const struct view_order *)order)->source, epoch,
                                    number, error);
}

static recmap_status rows_pieces(recmap_pieces *pieces, const recmap_order *order, uint64_t epoch,
                                 const uint64_t *positions, size_t count, recmap_error *error) {
    const struct view_order *view = (const struct view_order *)order;
    size_t first = pieces->count;
    RETURN_IF_FAILED(
        view->source->kind->pieces(pieces, view->source, epoch, positions, count, error));
    for (size_t i = first; i < pieces->count; i++)
        pieces->items[i].record = number_of(view, pieces->items[i].record);
    return RECMAP_OK;
}

static recmap_status rows_prepare(const recmap_order *order, uint64_t epoch, recmap_error *error) {
    return recmap_order_prepare(((const struct view_order *)order)->source, epoch, error);
}

static recmap_status range_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                              const uint64_t *positions, size_t count, recmap_error *error) {
    const struct view_order *view = (const struct view_order *)order;
    RETURN_IF_FAILED(view->source->kind->at(numbers, view->source, epoch, positions, count, error));
    for (size_t i = 0; i < count; i++) numbers[i] = view->first + numbers[i] * (uint64_t)view->step;
    return RECMAP_OK;
}

static recmap_status list_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                             const uint64_t *positions, size_t count, recmap_error *error) {
    const struct view_order *view = (const struct view_order *)order;
    RETURN_IF_FAILED(view->source->kind->at(numbers, view->source, epoch, positions, count, error));
    for (size_t i = 0; i < count; i++) numbers[i] = view->numbers[numbers[i]];
    return RECMAP_OK;
}

/* The position of number `index` of the view's base; `number` is what the caller asked for. */
static recmap_status position_in_base(uint64_t *position, const struct view_order *view,
                                      uint64_t epoch, uint64_t index, uint64_t number,
                                      recmap_error *error) {
    recmap_status status = recmap_order_position_of(position, view->source, epoch, index, error);
    if (status == RECMAP_NOT_FOUND) return fail_absent(error, number);
    return status;
}

static recmap_status range_position_of(uint64_t *position, const recmap_order *order,
                                       uint64_t epoch, uint64_t number, recmap_error *error) {
    const struct view_order *view = (const struct view_order *)order;
    bool is_down = view->step < 0;
    uint64_t stride = is_down ? 0 - (uint64_t)view->step : (uint64_t)view->step;
    if (is_down ? number > view->first : number < view->first) return fail_absent(error, number);
    uint64_t distance = is_down ? view->first - number : number - view->first;
    if (distance % stride) return fail_absent(error, number);
    return position_in_base(position, view, epoch, distance / stride, number, error);
}

/* The index of the first item at or after `from` that is `number`, or `size`. */
static uint64_t find_from(const struct view_order *view, uint64_t from, uint64_t number) {
    uint64_t low = from;
    if (!view->is_ascending) {
        while (low < view->size && view->numbers[low] != number) low++;
        return low;
    }
    low += search_below(view->numbers + from, sizeof *view->numbers, (size_t)(view->size - from),
                        number);
    return low < view->size && view->numbers[low] == number ? low : view->size;
}

static recmap_status list_position_of(uint64_t *position, const recmap_order *order, uint64_t epoch,
                                      uint64_t number, recmap_error *error) {
    const struct view_order *view = (const struct view_order *)order;
    uint64_t found = 0;
    bool is_there = false;
    for (uint64_t i = find_from(view, 0, number); i < view->size;
         i = find_from(view, i + 1, number)) {
        recmap_status status = position_in_base(&found, view, epoch, i, number, error);
        if (status == RECMAP_NOT_FOUND) continue;
        if (status != RECMAP_OK) return status;
        if (is_there) return fail_repeated(error, number);
        is_there = true;
    }
    if (!is_there) return fail_absent(error, number);
    *position = found;
    return RECMAP_OK;
}

static recmap_status view_batch(uint64_t *first, uint64_t *count, const recmap_order *order,
                                uint64_t epoch, uint64_t batch_index, recmap_error *error) {
    return recmap_order_batch(first, count, ((const struct view_order *)order)->source, epoch,
                              batch_index, error);
}

static recmap_status view_batch_of(uint64_t *batch_index, const recmap_order *order, uint64_t epoch,
                                   uint64_t position, recmap_error *error) {
    return recmap_order_batch_of(batch_index, ((const struct view_order *)order)->source, epoch,
                                 position, error);
}

static void describe_base(struct json_writer *json, const struct view_order *view) {
    json_key(json, "of");
    order_describe(json, view->source);
}

static void range_describe(struct json_writer *json, const recmap_order *order) {
    const struct view_order *view = (const struct view_order *)order;
    describe_number(json, "first", view->first);
    describe_number(json, "count", view->size);
    json_key(json, "step");
    json_int64(json, view->step);
    describe_base(json, view);
}

static void list_describe(struct json_writer *json, const recmap_order *order) {
    const struct view_order *view = (const struct view_order *)order;
    describe_number(json, "count", view->size);
    describe_digest(json, "numbers", view->digest);
    describe_base(json, view);
}

static const struct order_kind range_kind = {
    .name = "range",
    .destroy = view_destroy,
    .at = range_at,
    .position_of = range_position_of,
    .batch = view_batch,
    .batch_of = view_batch_of,
    .describe = range_describe,
};

static const struct order_kind list_kind = {
    .name = "list",
    .destroy = view_destroy,
    .at = list_at,
    .position_of = list_position_of,
    .batch = view_batch,
    .batch_of = view_batch_of,
    .describe = list_describe,
};

static const struct order_kind range_rows_kind = {
    .name = "range",
    .destroy = view_destroy,
    .at = rows_at,
    .position_of = rows_position_of,
    .pieces = rows_pieces,
    .prepare = rows_prepare,
    .describe = range_describe,
};

static const struct order_kind list_rows_kind = {
    .name = "list",
    .destroy = view_destroy,
    .at = rows_at,
    .position_of = rows_position_of,
    .pieces = rows_pieces,
    .prepare = rows_prepare,
    .describe = list_describe,
};

static recmap_status check_base(struct order_nesting *nesting, recmap_order *base, uint64_t size,
                                recmap_error *error) {
    enum { OWN_SIZE = 200 }; /* four numbers or a digest, their keys, the name */
    if (base->record_limit <= size) return order_nest(nesting, &base, 1, OWN_SIZE, error);
    return fail(error, RECMAP_INVALID,
                "%" PRIu64 " record number%s given, but the order covers %" PRIu64 " record%s",
                size, size == 1 ? " is" : "s are", base->record_limit, plural(base->record_limit));
}

/* Allocates a view; the caller sets the remaining members. */
static struct view_order *make_view(const struct order_kind *kind, recmap_order *base,
                                    struct order_nesting nesting, uint64_t size, uint64_t limit,
                                    recmap_error *error) {
    struct view_order *fresh = order_allocate(sizeof *fresh, kind, base->count, limit, error);
    if (!fresh) return NULL;
    if (base->rows.width) fresh->base.limit = base->limit;
    fresh->base.rows = base->rows;
    fresh->base.batch_count = base->batch_count;
    fresh->base.epochs_differ = base->epochs_differ;
    fresh->base.repeats = base->repeats;
    fresh->base.nesting = nesting;
    fresh->source = recmap_order_retain(base);
    fresh->size = size;
    return fresh;
}

/* One more than the largest number of a range, or 0 if it leaves [0, 2^62). */
static uint64_t range_limit(uint64_t first, uint64_t count, int64_t step) {
    const uint64_t max = RECMAP_ORDER_COUNT_MAX;
    if (first >= max) return 0;
    uint64_t stride = step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
    uint64_t room = step < 0 ? first : max - 1 - first;
    if (count - 1 > room / stride) return 0;
    return (step < 0 ? first : first + (count - 1) * stride) + 1;
}

recmap_status recmap_order_view_range(recmap_order **order, recmap_order *base, uint64_t first,
                                      uint64_t count, int64_t step, recmap_error *error) {
    if (!step) return fail(error, RECMAP_INVALID, "a range's step must not be 0");
    uint64_t limit = count ? range_limit(first, count, step) : 0;
    if (count && !limit)
        return fail(error, RECMAP_INVALID,
                    "the range of %" PRIu64 " numbers from %" PRIu64 " in steps of %" PRId64
                    " leaves [0, 2^62)",
                    count, first, step);
    struct order_nesting nesting;
    RETURN_IF_FAILED(check_base(&nesting, base, count, error));
    const struct order_kind *kind = base->rows.width ? &range_rows_kind : &range_kind;
    struct view_order *fresh = make_view(kind, base, nesting, count, limit, error);
    if (!fresh) return RECMAP_NO_MEMORY;
    fresh->first = first;
    fresh->step = step;
    *order = &fresh->base;
    return RECMAP_OK;
}

/* Takes ownership of `numbers`, also if it fails. */
static recmap_status make_list(recmap_order **order, recmap_order *base,
                               struct order_nesting nesting, uint64_t *numbers, size_t count,
                               recmap_error *error) {
    uint64_t limit = 0;
    bool is_ascending = true;
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] >= limit) limit = numbers[i] + 1;
        if (i && numbers[i] <= numbers[i - 1]) is_ascending = false;
    }
    const struct order_kind *kind = base->rows.width ? &list_rows_kind : &list_kind;
    struct view_order *fresh = make_view(kind, base, nesting, count, limit, error);
    if (!fresh) {
        free(numbers);
        return RECMAP_NO_MEMORY;
    }
    fresh->numbers = numbers;
    fresh->is_ascending = is_ascending;
    /* Without looking further: a list in another order may be one without repetitions too. */
    if (!is_ascending) fresh->base.repeats = true;
    recmap_status status = digest_words(fresh->digest, numbers, count, error);
    if (status == RECMAP_OK) *order = &fresh->base;
    else recmap_order_release(&fresh->base);
    return status;
}

static uint64_t *allocate_numbers(size_t count, recmap_error *error) {
    uint64_t *numbers = calloc(count ? count : 1, sizeof *numbers);
    if (!numbers) fail_memory(error);
    return numbers;
}

recmap_status recmap_order_view_list(recmap_order **order, recmap_order *base,
                                     const uint64_t *numbers, size_t count, recmap_error *error) {
    struct order_nesting nesting;
    RETURN_IF_FAILED(check_base(&nesting, base, count, error));
    for (size_t i = 0; i < count; i++)
        if (numbers[i] >= RECMAP_ORDER_COUNT_MAX)
            return fail(error, RECMAP_INVALID,
                        "number %" PRIu64 " of the list, item %zu, is 2^62 or above", numbers[i],
                        i);
    uint64_t *copy = allocate_numbers(count, error);
    if (!copy) return RECMAP_NO_MEMORY;
    for (size_t i = 0; i < count; i++) copy[i] = numbers[i];
    return make_list(order, base, nesting, copy, count, error);
}

recmap_status recmap_order_view_mask(recmap_order **order, recmap_order *base, const uint8_t *mask,
                                     size_t count, recmap_error *error) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++) size += mask[i] != 0;
    struct order_nesting nesting;
    RETURN_IF_FAILED(check_base(&nesting, base, size, error));
    uint64_t *numbers = allocate_numbers(size, error);
    if (!numbers) return RECMAP_NO_MEMORY;
    for (size_t i = 0, next = 0; i < count; i++)
        if (mask[i]) numbers[next++] = i;
    return make_list(order, base, nesting, numbers, size, error);
}
