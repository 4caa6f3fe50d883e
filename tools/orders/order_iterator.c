#include "orders/order_iterator.h"

#include <inttypes.h>

#include <recmap/rows.h>

#include "terminal/message.h"

/* Numbers are computed in batches of this size. */
enum { NUMBERS_MAX = 1024 };

static recmap_deal_options deal_options_from(const struct order_options *options, uint64_t count) {
    recmap_deal_options deal_options = RECMAP_DEAL_OPTIONS_INIT;
    if (!order_options_has_ranks(options) && !order_options_has_step(options)) {
        /* Without ranks, the rest of the epoch is one step. */
        deal_options.batch_size = count ? count : 1;
        return deal_options;
    }
    deal_options.world_size = (uint32_t)options->world_size;
    deal_options.batch_size = options->batch_size;
    deal_options.last = options->last;
    return deal_options;
}

/* Of a step without a rank: the shares of all ranks follow each other, so they are those of one
 * rank with larger batches. A product that does not fit is larger than any batch may be. */
static void join_ranks(recmap_deal_options *options) {
    const uint64_t world = options->world_size, size = options->batch_size;
    options->batch_size = size > UINT64_MAX / world ? UINT64_MAX : world * size;
    options->world_size = 1;
}

/* Counts the numbers of this rank. All steps but the last are full. */
static recmap_status count_numbers(uint64_t *count, const struct order_iterator *iterator,
                                   recmap_error *error) {
    const recmap_deal *deal = &iterator->deal;
    if (!deal->step_count) {
        *count = 0;
        return RECMAP_OK;
    }
    recmap_share last;
    RETURN_IF_FAILED(recmap_deal_share(&last, deal, deal->step_count - 1, iterator->rank, error));
    *count = (deal->step_count - 1) * deal->options.batch_size + last.count;
    return RECMAP_OK;
}

/* The numbers of one step, which may be in a later epoch. */
static recmap_status init_step(struct order_iterator *iterator, const struct order_options *options,
                               recmap_deal_options *dealing, recmap_error *error) {
    recmap_share share;
    if (!order_options_has_ranks(options)) join_ranks(dealing);
    RETURN_IF_FAILED(recmap_deal_find_step(&iterator->deal, &iterator->step, iterator->order,
                                           options->epoch, options->from, dealing, options->step,
                                           error));
    RETURN_IF_FAILED(
        recmap_deal_share(&share, &iterator->deal, iterator->step, iterator->rank, error));
    iterator->left = share.count;
    return RECMAP_OK;
}

static recmap_status init(struct order_iterator *iterator, const struct order_options *options,
                          recmap_error *error) {
    recmap_deal_options dealing = deal_options_from(options, recmap_order_count(iterator->order));
    if (order_options_has_step(options)) return init_step(iterator, options, &dealing, error);
    RETURN_IF_FAILED(recmap_deal_init(&iterator->deal, iterator->order, options->epoch,
                                      options->from, &dealing, error));
    RETURN_IF_FAILED(count_numbers(&iterator->left, iterator, error));
    if (iterator->left > options->count) iterator->left = options->count;
    return RECMAP_OK;
}

int order_iterator_init(struct order_iterator *iterator, recmap_order *order,
                        const struct order_options *options, const struct args *args) {
    uint64_t count = recmap_order_count(order);
    if (options->from > count)
        return args_usage_error(
            args, "--from must be at most %" PRIu64 ", the number of %s, not %" PRIu64, count,
            recmap_order_row_width(order) ? "rows" : "records", options->from);
    *iterator = (struct order_iterator){.order = recmap_order_retain(order),
                                        .rank = (uint32_t)options->rank};
    recmap_error error = RECMAP_ERROR_INIT;
    if (init(iterator, options, &error) != RECMAP_OK) {
        order_iterator_deinit(iterator);
        return message_print(&error);
    }
    return 0;
}

void order_iterator_deinit(struct order_iterator *iterator) {
    recmap_order_release(iterator->order);
    iterator->order = NULL;
}

/* Sets one value for each position of a share. */
typedef recmap_status (*share_fn)(uint64_t *values, const recmap_deal *deal,
                                  const recmap_share *share, recmap_error *error);

static recmap_status share_positions(uint64_t *positions, const recmap_deal *deal,
                                     const recmap_share *share, recmap_error *error) {
    (void)error;
    for (uint64_t i = 0; i < share->count; i++)
        positions[i] = (share->first + i) % recmap_order_count(deal->order);
    return RECMAP_OK;
}

/* Returns values of the current share until it is exhausted, then of the next step's share. A share
 * may be empty: with few positions left, the last ranks get none. */
static recmap_status next_values(struct order_iterator *iterator, share_fn share_values,
                                 uint64_t *values, size_t count, recmap_error *error) {
    for (size_t done = 0; done < count;) {
        if (!iterator->share.count) {
            RETURN_IF_FAILED(recmap_deal_share(&iterator->share, &iterator->deal, iterator->step++,
                                               iterator->rank, error));
            continue;
        }
        recmap_share part = iterator->share;
        if (part.count > count - done) part.count = count - done;
        RETURN_IF_FAILED(share_values(values + done, &iterator->deal, &part, error));
        done += part.count;
        iterator->share.first += part.count;
        iterator->share.count -= part.count;
    }
    iterator->left -= count;
    return RECMAP_OK;
}

recmap_status order_iterator_next(void *context, uint64_t *numbers, size_t count,
                                  recmap_error *error) {
    return next_values(context, recmap_deal_numbers, numbers, count, error);
}

recmap_status order_iterator_next_positions(struct order_iterator *iterator, uint64_t *positions,
                                            size_t count, recmap_error *error) {
    return next_values(iterator, share_positions, positions, count, error);
}

recmap_status order_iterator_print(struct order_iterator *iterator, struct output *output,
                                   recmap_error *error) {
    while (iterator->left) {
        uint64_t numbers[NUMBERS_MAX];
        size_t count = iterator->left < NUMBERS_MAX ? (size_t)iterator->left : NUMBERS_MAX;
        recmap_status status = order_iterator_next(iterator, numbers, count, error);
        for (size_t i = 0; i < count && status == RECMAP_OK; i++) {
            recmap_record record = {.number = numbers[i]};
            status = output_write(output, &record, error);
        }
        if (status != RECMAP_OK) return status;
    }
    return RECMAP_OK;
}
