#include "order/kinds/order.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"

void *order_allocate(size_t size, const struct order_kind *kind, uint64_t count, uint64_t limit,
                     recmap_error *error) {
    recmap_order *order = calloc(1, size);
    if (!order) {
        fail_memory(error);
        return NULL;
    }
    order->kind = kind;
    order->count = count;
    order->limit = limit;
    order->record_limit = limit;
    atomic_init(&order->references, 1);
    return order;
}

/* Sets `*size` to at least the size of an order's description. */
static recmap_status description_size(size_t *size, const recmap_order *order,
                                      recmap_error *error) {
    *size = order->nesting.description_size;
    if (*size) return RECMAP_OK;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_status status = recmap_order_describe(&text, order, error);
    *size = text.size;
    recmap_text_deinit(&text);
    return status;
}

/* Adding up stops as soon as the description is too long, so that the sum of very many sources
 * cannot overflow. An order without sources has level 0 but counts as one level. */
recmap_status order_nest(struct order_nesting *nesting, recmap_order *const *sources, size_t count,
                         size_t own_size, recmap_error *error) {
    const size_t size_max = RECMAP_ORDER_DESCRIPTION_MAX;
    struct order_nesting made = {1, own_size};
    for (size_t i = 0; i < count && made.description_size <= size_max; i++) {
        unsigned level = sources[i]->nesting.level ? sources[i]->nesting.level : 1;
        size_t size;
        RETURN_IF_FAILED(description_size(&size, sources[i], error));
        made.description_size += size;
        if (level >= made.level) made.level = level + 1;
    }
    bool is_too_long = made.description_size > size_max;
    if (!is_too_long && made.level <= RECMAP_ORDER_DEPTH_MAX) {
        *nesting = made;
        return RECMAP_OK;
    }
    if (is_too_long)
        fail(error, RECMAP_INVALID, "the description of this order would be longer than %zu MiB",
             size_max >> 20);
    else
        fail(error, RECMAP_INVALID, "orders are nested %u levels deep; the limit is %d", made.level,
             RECMAP_ORDER_DEPTH_MAX);
    fail_advise(error, "mix the sources in one mixture, or compute one list of numbers for a view");
    return RECMAP_INVALID;
}

recmap_order *recmap_order_retain(recmap_order *order) {
    atomic_fetch_add_explicit(&order->references, 1, memory_order_relaxed);
    return order;
}

void recmap_order_release(recmap_order *order) {
    if (!order) return;
    if (atomic_fetch_sub_explicit(&order->references, 1, memory_order_acq_rel) != 1) return;
    if (order->kind->destroy) order->kind->destroy(order);
    free(order);
}

recmap_status check_count(uint64_t count, const char *what, recmap_error *error) {
    if (count <= RECMAP_ORDER_COUNT_MAX) return RECMAP_OK;
    return fail(error, RECMAP_INVALID, "%" PRIu64 " %s are too many: an order has at most 2^62",
                count, what);
}

recmap_status fail_absent(recmap_error *error, uint64_t number) {
    return fail(error, RECMAP_NOT_FOUND, "record %" PRIu64 " does not occur in this epoch", number);
}

/* Returns the same status as for numbers that an epoch leaves out, so that callers need one
 * check. */
static recmap_status fail_number(recmap_error *error, const recmap_order *order, uint64_t number) {
    if (!order->limit)
        return fail(error, RECMAP_NOT_FOUND,
                    "record %" PRIu64 " is out of range: the order is empty", number);
    return fail(error, RECMAP_NOT_FOUND,
                "record %" PRIu64 " is out of range: the order has only numbers below %" PRIu64,
                number, order->limit);
}

recmap_status fail_repeated(recmap_error *error, uint64_t number) {
    return fail(error, RECMAP_INVALID, "record %" PRIu64 " occurs more than once in this epoch",
                number);
}

uint64_t recmap_order_count(const recmap_order *order) {
    return order->count;
}

uint64_t recmap_order_number_limit(const recmap_order *order) {
    return order->limit;
}

int recmap_order_repeats(const recmap_order *order) {
    return order->repeats;
}

uint64_t recmap_order_batch_count(const recmap_order *order) {
    return order->batch_count;
}

static recmap_status fail_position(recmap_error *error, const recmap_order *order,
                                   uint64_t position) {
    fail(error, RECMAP_INVALID,
         "position %" PRIu64 " is out of range: an epoch has %" PRIu64 " position%s", position,
         order->count, plural(order->count));
    if (!order->count && order->rows.width)
        fail_advise(error, "this %s order has no rows: no record has enough elements for one",
                    order->kind->name);
    return RECMAP_INVALID;
}

/* Returns whether all positions are below `order_count`, which is 1 to 2^62. Without a branch per
 * position, so that compilers vectorise the loop. */
static bool are_below(const uint64_t *positions, size_t count, uint64_t order_count) {
    uint64_t signs = 0;
    for (size_t i = 0; i < count; i++)
        signs |= positions[i] | (order_count - 1 - positions[i]); /* too large: below zero */
    return !(signs >> 63);
}

recmap_status check_positions(const recmap_order *order, const uint64_t *positions, size_t count,
                              recmap_error *error) {
    if (order->count && are_below(positions, count, order->count)) return RECMAP_OK;
    for (size_t i = 0; i < count; i++)
        if (positions[i] >= order->count) return fail_position(error, order, positions[i]);
    return RECMAP_OK;
}

recmap_status recmap_order_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                              const uint64_t *positions, size_t count, recmap_error *error) {
    recmap_status status = check_positions(order, positions, count, error);
    if (status != RECMAP_OK || !count) return status;
    return order->kind->at(numbers, order, epoch, positions, count, error);
}

/* How many positions are generated at a time: whole batches of the permutation. */
enum { RUN_BLOCK = 1024 };

recmap_status recmap_order_read(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                                uint64_t first, size_t count, recmap_error *error) {
    if (!bytes_fit(first, count, order->count))
        return fail_position(error, order, count ? first + (count - 1) : first);
    for (size_t done = 0; done < count;) {
        uint64_t positions[RUN_BLOCK];
        size_t here = count - done < RUN_BLOCK ? count - done : RUN_BLOCK;
        for (size_t i = 0; i < here; i++) positions[i] = first + done + i;
        RETURN_IF_FAILED(order->kind->at(numbers + done, order, epoch, positions, here, error));
        done += here;
    }
    return RECMAP_OK;
}

recmap_status recmap_order_position_of(uint64_t *position, const recmap_order *order,
                                       uint64_t epoch, uint64_t number, recmap_error *error) {
    if (!order->kind->position_of)
        return fail(
            error, RECMAP_INVALID,
            "a record has no unique position in an order of kind %s: it can occur more than once",
            order->kind->name);
    if (number >= order->limit) return fail_number(error, order, number);
    return order->kind->position_of(position, order, epoch, number, error);
}

static recmap_status check_batches(const recmap_order *order, recmap_error *error) {
    if (order->batch_count) return RECMAP_OK;
    return fail(error, RECMAP_INVALID, "this order (%s) does not form batches", order->kind->name);
}

recmap_status recmap_order_batch(uint64_t *first, uint64_t *count, const recmap_order *order,
                                 uint64_t epoch, uint64_t batch_index, recmap_error *error) {
    RETURN_IF_FAILED(check_batches(order, error));
    if (batch_index >= order->batch_count)
        return fail(error, RECMAP_INVALID,
                    "batch %" PRIu64 " is out of range: an epoch has %" PRIu64 " batch%s",
                    batch_index, order->batch_count, order->batch_count == 1 ? "" : "es");
    return order->kind->batch(first, count, order, epoch, batch_index, error);
}

recmap_status recmap_order_batch_of(uint64_t *batch_index, const recmap_order *order,
                                    uint64_t epoch, uint64_t position, recmap_error *error) {
    RETURN_IF_FAILED(check_batches(order, error));
    if (position >= order->count) return fail_position(error, order, position);
    return order->kind->batch_of(batch_index, order, epoch, position, error);
}

recmap_status recmap_order_describe(recmap_text *text, const recmap_order *order,
                                    recmap_error *error) {
    struct json_writer json = json_begin(text);
    order_describe(&json, order);
    return json_end(&json, error);
}
