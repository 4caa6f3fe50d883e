/* Dividing an epoch among ranks, step by step.
 *
 * Each rank computes its share alone, from the order, the epoch, the position where the run
 * continues, the options and the step. Ranks do not talk to each other, so nothing may depend on
 * what one of them has seen, above all not the number of steps. If one rank had a step more than
 * the others, it would wait for them in a collective operation that never ends. So count_steps does
 * not know the rank.
 *
 * A step takes consecutive units, and the ranks take consecutive parts of them. Only the last step
 * can lack units. It is dropped (RECMAP_LAST_DROP); or filled up with the first units of the epoch,
 * so that all shares are complete but some records occur twice (RECMAP_LAST_PAD); or divided
 * evenly, so that each record occurs once but shares differ by one unit, and can be empty. */
#include <assert.h>
#include <inttypes.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "order/kinds/order.h"

#define EPOCH_MAX ((uint64_t)1 << 62)

/* What is divided: positions, or whole batches if the order forms its own batches. Units
 * [first, end) remain. */
struct units {
    uint64_t first;
    uint64_t end;
    uint64_t rank; /* units of one rank in a step */
    uint64_t step; /* units of all ranks in a step */
};

static struct units count_units(const recmap_deal *deal) {
    uint64_t world = deal->options.world_size, batch = deal->options.batch_size;
    if (deal->order->batch_count)
        return (struct units){deal->first_batch, deal->order->batch_count, 1, world};
    return (struct units){deal->position, deal->order->count, batch, world * batch};
}

static recmap_status check_options(const recmap_deal_options *options, bool has_batches,
                                   recmap_error *error) {
    if (options->version != RECMAP_DEAL_OPTIONS_VERSION)
        return fail(error, RECMAP_INVALID, "recmap_deal_options has version %u, expected %d",
                    options->version, RECMAP_DEAL_OPTIONS_VERSION);
    if (!options->world_size) return fail(error, RECMAP_INVALID, "the world size is 0");
    if (options->last > RECMAP_LAST_PAD)
        return fail(error, RECMAP_INVALID, "invalid policy for the last step: %d",
                    (int)options->last);
    if (has_batches) return RECMAP_OK;
    if (!options->batch_size)
        return fail(error, RECMAP_INVALID, "a batch must hold at least 1 record");
    if (options->batch_size > RECMAP_ORDER_COUNT_MAX / options->world_size)
        return fail(error, RECMAP_INVALID,
                    "batches of %" PRIu64 " records on %u ranks are too large", options->batch_size,
                    options->world_size);
    return RECMAP_OK;
}

static void count_steps(recmap_deal *deal) {
    struct units u = count_units(deal);
    uint64_t left = u.end - u.first;
    bool has_rest = left % u.step && deal->options.last != RECMAP_LAST_DROP;
    deal->step_count = left / u.step + has_rest;
}

/* An order that forms batches is divided batch by batch, from the one that contains the position.
 */
recmap_status recmap_deal_init(recmap_deal *deal, const recmap_order *order, uint64_t epoch,
                               uint64_t position, const recmap_deal_options *options,
                               recmap_error *error) {
    static const recmap_deal_options defaults = RECMAP_DEAL_OPTIONS_INIT;
    if (!options) options = &defaults;
    RETURN_IF_FAILED(check_options(options, order->batch_count, error));
    if (position > order->count)
        return fail(error, RECMAP_INVALID,
                    "position %" PRIu64 " is out of range: an epoch has %" PRIu64 " position%s",
                    position, order->count, plural(order->count));
    recmap_deal fresh = {.order = order,
                         .epoch = epoch,
                         .position = position,
                         .first_batch = order->batch_count,
                         .options = *options};
    if (order->batch_count && position < order->count)
        RETURN_IF_FAILED(recmap_order_batch_of(&fresh.first_batch, order, epoch, position, error));
    count_steps(&fresh);
    *deal = fresh;
    return RECMAP_OK;
}

/* The run's first epoch may have begun at any position. All others have equally many steps, so the
 * step's epoch follows by a division. */
recmap_status recmap_deal_find_step(recmap_deal *deal, uint64_t *index, const recmap_order *order,
                                    uint64_t epoch, uint64_t position,
                                    const recmap_deal_options *options, uint64_t step,
                                    recmap_error *error) {
    recmap_deal found;
    RETURN_IF_FAILED(recmap_deal_init(&found, order, epoch, position, options, error));
    uint64_t left = step;
    if (left >= found.step_count) {
        left -= found.step_count;
        RETURN_IF_FAILED(recmap_deal_init(&found, order, epoch, 0, options, error));
        if (!found.step_count) return fail(error, RECMAP_INVALID, "an epoch has no steps");
        uint64_t further = left / found.step_count;
        if (epoch >= EPOCH_MAX || further >= EPOCH_MAX - epoch)
            return fail(error, RECMAP_INVALID,
                        "step %" PRIu64 " is out of range: its epoch is above 2^62", step);
        RETURN_IF_FAILED(recmap_deal_init(&found, order, epoch + 1 + further, 0, options, error));
        left %= found.step_count;
    }
    *deal = found;
    *index = left;
    return RECMAP_OK;
}

/* A rank's units of a step: [first, first + count). A padded share may pass the end of the epoch;
 * share_batch and recmap_deal_numbers continue it at the start. */
static recmap_share share_units(const recmap_deal *deal, const struct units *units, uint64_t step,
                                uint32_t rank) {
    uint64_t start = units->first + step * units->step, left = units->end - start;
    recmap_share share = {start + rank * units->rank, units->rank};
    if (left >= units->step || deal->options.last == RECMAP_LAST_PAD) return share;
    /* The first `more` ranks have one unit more than the others, so rank r starts after r equal
     * parts and the additional units of the ranks before it. */
    uint64_t world = deal->options.world_size, more = left % world;
    share.first = start + rank * (left / world) + min_u64(rank, more);
    share.count = left / world + (rank < more);
    return share;
}

/* The positions of a batch. The first one may have begun before the position of the deal; then only
 * the rest of it counts. If padding arrives at the same batch again, its number is larger by the
 * number of batches, and it is taken as a whole. */
static recmap_status share_batch(recmap_share *share, const recmap_deal *deal, uint64_t batch,
                                 recmap_error *error) {
    uint64_t count = deal->order->batch_count;
    recmap_share found;
    RETURN_IF_FAILED(recmap_order_batch(&found.first, &found.count, deal->order, deal->epoch,
                                        batch % count, error));
    if (batch == deal->first_batch) {
        assert(deal->position - found.first < found.count);
        found.count -= deal->position - found.first;
        found.first = deal->position;
    }
    *share = found;
    return RECMAP_OK;
}

recmap_status recmap_deal_share(recmap_share *share, const recmap_deal *deal, uint64_t step,
                                uint32_t rank, recmap_error *error) {
    if (step >= deal->step_count)
        return fail(error, RECMAP_INVALID,
                    "step %" PRIu64 " is out of range: the epoch has %" PRIu64 " step%s left", step,
                    deal->step_count, plural(deal->step_count));
    if (rank >= deal->options.world_size)
        return fail(error, RECMAP_INVALID, "rank %u is out of range: the world size is %u", rank,
                    deal->options.world_size);
    struct units u = count_units(deal);
    recmap_share found = share_units(deal, &u, step, rank);
    if (deal->order->batch_count && found.count)
        return share_batch(share, deal, found.first, error);
    *share = found;
    return RECMAP_OK;
}

/* A share that passes the end of the epoch continues at its start, so it is listed in runs. */
recmap_status recmap_deal_numbers(uint64_t *numbers, const recmap_deal *deal,
                                  const recmap_share *share, recmap_error *error) {
    const uint64_t count = deal->order->count;
    for (uint64_t done = 0; done < share->count;) {
        uint64_t first = (share->first + done) % count;
        uint64_t here = min_u64(share->count - done, count - first);
        RETURN_IF_FAILED(recmap_order_read(numbers + done, deal->order, deal->epoch, first,
                                           (size_t)here, error));
        done += here;
    }
    return RECMAP_OK;
}

/* A position in the order, not a number of steps, so that a run can resume with another batch size
 * or number of ranks. If the order forms batches, steps are converted through its batches, whose
 * sizes differ. */
recmap_status recmap_deal_state(uint64_t *epoch, uint64_t *position, const recmap_deal *deal,
                                uint64_t steps, recmap_error *error) {
    if (steps > deal->step_count)
        return fail(error, RECMAP_INVALID,
                    "%" PRIu64 " step%s too many: the epoch has %" PRIu64 " left", steps,
                    steps == 1 ? " is" : "s are", deal->step_count);
    if (steps == deal->step_count) {
        *epoch = deal->epoch + 1;
        *position = 0;
        return RECMAP_OK;
    }
    struct units u = count_units(deal);
    uint64_t next = u.first + steps * u.step, size;
    if (steps && deal->order->batch_count) {
        RETURN_IF_FAILED(recmap_order_batch(&next, &size, deal->order, deal->epoch, next, error));
    } else if (!steps) {
        next = deal->position;
    }
    *epoch = deal->epoch;
    *position = next;
    return RECMAP_OK;
}
