/* Orders that draw with replacement: each position draws independently, uniformly or by weight. */
#include <inttypes.h>

#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/permutation/random.h"
#include "order/kinds/alias.h"
#include "order/kinds/order.h"

struct drawing_order {
    recmap_order base;
    uint64_t seed;
    struct alias_table table; /* weighted */
};

static recmap_status alike_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                              const uint64_t *positions, size_t count, recmap_error *error) {
    (void)error;
    uint64_t state = random_state(((const struct drawing_order *)order)->seed, epoch,
                                  stream_of(STREAM_WITH_REPLACEMENT, 0), order->limit);
    for (size_t i = 0; i < count; i++)
        numbers[i] = random_below(random_word(state, positions[i]), order->limit);
    return RECMAP_OK;
}

static recmap_status weighted_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                                 const uint64_t *positions, size_t count, recmap_error *error) {
    (void)error;
    const struct drawing_order *drawing = (const struct drawing_order *)order;
    uint64_t state =
        random_state(drawing->seed, epoch, stream_of(STREAM_WEIGHTED, 0), order->limit);
    for (size_t i = 0; i < count; i++)
        numbers[i] = alias_draw(&drawing->table, random_word(state, 2 * positions[i]),
                                random_word(state, 2 * positions[i] + 1));
    return RECMAP_OK;
}

static void describe_draws(struct json_writer *json, const recmap_order *order) {
    describe_number(json, "n", order->limit);
    describe_number(json, "seed", ((const struct drawing_order *)order)->seed);
    describe_number(json, "size", order->count);
}

static void describe_weighted(struct json_writer *json, const recmap_order *order) {
    describe_draws(json, order);
    describe_digest(json, "weights", ((const struct drawing_order *)order)->table.digest);
}

static void weighted_destroy(recmap_order *order) {
    alias_deinit(&((struct drawing_order *)order)->table);
}

static const struct order_kind alike_kind = {
    .name = "with_replacement",
    .at = alike_at,
    .describe = describe_draws,
};

static const struct order_kind weighted_kind = {
    .name = "weighted",
    .destroy = weighted_destroy,
    .at = weighted_at,
    .describe = describe_weighted,
};

static recmap_status check_draws(uint64_t n, uint64_t size, recmap_error *error) {
    RETURN_IF_FAILED(check_count(n, "records", error));
    RETURN_IF_FAILED(check_count(size, "draws", error));
    if (n || !size) return RECMAP_OK;
    return fail(error, RECMAP_INVALID, "cannot draw %" PRIu64 " record%s from an empty data set",
                size, plural(size));
}

recmap_status recmap_order_with_replacement(recmap_order **order, uint64_t n, uint64_t seed,
                                            uint64_t size, recmap_error *error) {
    RETURN_IF_FAILED(check_draws(n, size, error));
    struct drawing_order *fresh =
        order_allocate(sizeof *fresh, &alike_kind, size ? size : n, n, error);
    if (!fresh) return RECMAP_NO_MEMORY;
    fresh->seed = seed;
    fresh->base.repeats = true;
    *order = &fresh->base;
    return RECMAP_OK;
}

recmap_status recmap_order_weighted(recmap_order **order, const double *weights, size_t n,
                                    uint64_t seed, uint64_t size, recmap_error *error) {
    RETURN_IF_FAILED(check_draws(n, size, error));
    struct drawing_order *fresh =
        order_allocate(sizeof *fresh, &weighted_kind, size ? size : n, n, error);
    if (!fresh) return RECMAP_NO_MEMORY;
    fresh->seed = seed;
    fresh->base.repeats = true;
    recmap_status status = alias_init(&fresh->table, weights, n, error);
    if (status != RECMAP_OK) {
        recmap_order_release(&fresh->base);
        return status;
    }
    *order = &fresh->base;
    return RECMAP_OK;
}
