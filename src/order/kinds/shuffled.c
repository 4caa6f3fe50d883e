/* Sequential and shuffled orders of n records. */
#include "base/core/error.h"
#include "base/permutation/permutation.h"
#include "base/permutation/random.h"
#include "order/kinds/order.h"

struct plain_order {
    recmap_order base;
    uint64_t seed;
};

static recmap_status sequential_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                                   const uint64_t *positions, size_t count, recmap_error *error) {
    (void)order, (void)epoch, (void)error;
    for (size_t i = 0; i < count; i++) numbers[i] = positions[i];
    return RECMAP_OK;
}

static recmap_status sequential_position_of(uint64_t *position, const recmap_order *order,
                                            uint64_t epoch, uint64_t number, recmap_error *error) {
    (void)order, (void)epoch, (void)error;
    *position = number;
    return RECMAP_OK;
}

static void sequential_describe(struct json_writer *json, const recmap_order *order) {
    describe_number(json, "n", order->limit);
}

static const struct order_kind sequential_kind = {
    .name = "sequential",
    .at = sequential_at,
    .position_of = sequential_position_of,
    .describe = sequential_describe,
};

recmap_status recmap_order_sequential(recmap_order **order, uint64_t n, recmap_error *error) {
    RETURN_IF_FAILED(check_count(n, "records", error));
    struct plain_order *fresh = order_allocate(sizeof *fresh, &sequential_kind, n, n, error);
    if (!fresh) return RECMAP_NO_MEMORY;
    *order = &fresh->base;
    return RECMAP_OK;
}

static struct permutation epoch_permutation(const recmap_order *order, uint64_t epoch) {
    const struct plain_order *shuffled = (const struct plain_order *)order;
    struct permutation fresh;
    permutation_init(&fresh, order->count, shuffled->seed, epoch, stream_of(STREAM_SHUFFLED, 0));
    return fresh;
}

static recmap_status shuffled_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                                 const uint64_t *positions, size_t count, recmap_error *error) {
    (void)error;
    struct permutation permutation = epoch_permutation(order, epoch);
    permutation_at(&permutation, numbers, positions, count);
    return RECMAP_OK;
}

static recmap_status shuffled_position_of(uint64_t *position, const recmap_order *order,
                                          uint64_t epoch, uint64_t number, recmap_error *error) {
    (void)error;
    struct permutation permutation = epoch_permutation(order, epoch);
    *position = permutation_inverse_one(&permutation, number);
    return RECMAP_OK;
}

static void shuffled_describe(struct json_writer *json, const recmap_order *order) {
    describe_number(json, "n", order->limit);
    describe_number(json, "seed", ((const struct plain_order *)order)->seed);
}

static const struct order_kind shuffled_kind = {
    .name = "shuffled",
    .at = shuffled_at,
    .position_of = shuffled_position_of,
    .describe = shuffled_describe,
};

recmap_status recmap_order_shuffled(recmap_order **order, uint64_t n, uint64_t seed,
                                    recmap_error *error) {
    RETURN_IF_FAILED(check_count(n, "records", error));
    struct plain_order *fresh = order_allocate(sizeof *fresh, &shuffled_kind, n, n, error);
    if (!fresh) return RECMAP_NO_MEMORY;
    fresh->seed = seed;
    *order = &fresh->base;
    return RECMAP_OK;
}
