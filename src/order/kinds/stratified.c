/* Stratified orders: every batch contains each group in proportion to its size. A template assigns
 * a group to each position; an epoch shuffles the template's batches, and the records within
 * groups. */
#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/permutation/permutation.h"
#include "base/permutation/random.h"
#include "order/kinds/epoch_cache.h"
#include "order/kinds/groups.h"
#include "order/kinds/order.h"
#include "order/kinds/template.h"

struct stratified_order {
    recmap_order base;
    struct groups groups;
    uint32_t *places;    /* of the template's positions */
    uint32_t *positions; /* the inverse */
    uint64_t batch_size;
    uint64_t whole_count; /* batches that are whole; a last one may be smaller and stays last */
    uint64_t seed;
    struct epoch_cache cache;
};

/* Up to this many groups, the permutations of all groups are kept for an epoch. */
enum { KEPT_GROUPS_MAX = 1 << 14 };

struct stratified_epoch {
    struct epoch_state state;
    struct permutation batches;
    struct permutation groups[]; /* none for more than KEPT_GROUPS_MAX */
};

static void stratified_destroy(recmap_order *order) {
    struct stratified_order *stratified = (struct stratified_order *)order;
    groups_deinit(&stratified->groups);
    free(stratified->places);
    free(stratified->positions);
    epoch_cache_deinit(&stratified->cache);
}

static void init_group(struct permutation *permutation, const struct stratified_order *stratified,
                       uint64_t epoch, uint32_t group) {
    permutation_init(permutation, groups_size(&stratified->groups, group), stratified->seed, epoch,
                     stream_of(STREAM_STRATIFIED_INSIDE, group));
}

/* Obtains the state of an epoch; end_epoch returns it to the cache. */
static recmap_status begin_epoch(struct stratified_epoch **state, const recmap_order *order,
                                 uint64_t epoch, recmap_error *error) {
    struct stratified_order *stratified = (struct stratified_order *)order;
    *state = (struct stratified_epoch *)epoch_cache_take(&stratified->cache, epoch);
    if (*state) return RECMAP_OK;
    uint32_t count = stratified->groups.count;
    if (count > KEPT_GROUPS_MAX) count = 0;
    *state = malloc(sizeof **state + count * sizeof(struct permutation));
    if (!*state) return fail_memory(error);
    (*state)->state.epoch = epoch;
    permutation_init(&(*state)->batches, stratified->whole_count, stratified->seed, epoch,
                     stream_of(STREAM_STRATIFIED_BATCHES, 0));
    for (uint32_t g = 0; g < count; g++) init_group(&(*state)->groups[g], stratified, epoch, g);
    return RECMAP_OK;
}

static void end_epoch(const recmap_order *order, struct stratified_epoch *epoch) {
    epoch_cache_put(&((struct stratified_order *)order)->cache, &epoch->state);
}

/* The permutation of a group: a kept one, or one that is computed into `space`. */
static const struct permutation *group_permutation(const struct stratified_order *stratified,
                                                   const struct stratified_epoch *epoch,
                                                   uint32_t group, struct permutation *space) {
    if (stratified->groups.count <= KEPT_GROUPS_MAX) return &epoch->groups[group];
    init_group(space, stratified, epoch->state.epoch, group);
    return space;
}

/* A position is a slot of a batch. The slot belongs to a group, and the permutation of the group
 * says which of its records is there in this epoch. */
static recmap_status stratified_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                                   const uint64_t *positions, size_t count, recmap_error *error) {
    const struct stratified_order *stratified = (const struct stratified_order *)order;
    const struct groups *groups = &stratified->groups;
    struct stratified_epoch *e;
    RETURN_IF_FAILED(begin_epoch(&e, order, epoch, error));
    uint64_t known = UINT64_MAX, batch = 0; /* the batch at place `known` of the epoch */
    struct permutation space;
    for (size_t i = 0; i < count; i++) {
        uint64_t place = positions[i] / stratified->batch_size;
        if (place != known)
            batch = place < stratified->whole_count ? permutation_at_one(&e->batches, place)
                                                    : place;
        known = place;
        uint64_t slot = batch * stratified->batch_size + positions[i] % stratified->batch_size;
        uint32_t member = stratified->places[slot], group = groups_of_place(groups, member);
        const struct permutation *permutation = group_permutation(stratified, e, group, &space);
        uint32_t first = groups->first[group];
        numbers[i] = groups->records[first + permutation_at_one(permutation, member - first)];
    }
    end_epoch(order, e);
    return RECMAP_OK;
}

static recmap_status stratified_position_of(uint64_t *position, const recmap_order *order,
                                            uint64_t epoch, uint64_t number, recmap_error *error) {
    const struct stratified_order *stratified = (const struct stratified_order *)order;
    const struct groups *groups = &stratified->groups;
    struct stratified_epoch *e;
    RETURN_IF_FAILED(begin_epoch(&e, order, epoch, error));
    struct permutation space;
    uint32_t place = groups->places[number], group = groups_of_place(groups, place);
    const struct permutation *permutation = group_permutation(stratified, e, group, &space);
    uint32_t first = groups->first[group];
    uint64_t slot =
        stratified->positions[first + permutation_inverse_one(permutation, place - first)];
    uint64_t batch = slot / stratified->batch_size;
    if (batch < stratified->whole_count) batch = permutation_inverse_one(&e->batches, batch);
    *position = batch * stratified->batch_size + slot % stratified->batch_size;
    end_epoch(order, e);
    return RECMAP_OK;
}

static recmap_status stratified_batch(uint64_t *first, uint64_t *count, const recmap_order *order,
                                      uint64_t epoch, uint64_t batch_index, recmap_error *error) {
    (void)epoch, (void)error;
    uint64_t size = ((const struct stratified_order *)order)->batch_size;
    *first = batch_index * size;
    *count = min_u64(size, order->count - *first);
    return RECMAP_OK;
}

static recmap_status stratified_batch_of(uint64_t *batch_index, const recmap_order *order,
                                         uint64_t epoch, uint64_t position, recmap_error *error) {
    (void)epoch, (void)error;
    *batch_index = position / ((const struct stratified_order *)order)->batch_size;
    return RECMAP_OK;
}

static void stratified_describe(struct json_writer *json, const recmap_order *order) {
    const struct stratified_order *stratified = (const struct stratified_order *)order;
    describe_number(json, "n", order->limit);
    describe_number(json, "seed", stratified->seed);
    describe_number(json, "batch_size", stratified->batch_size);
    describe_digest(json, "labels", stratified->groups.digest);
}

static const struct order_kind stratified_kind = {
    .name = "stratified",
    .destroy = stratified_destroy,
    .at = stratified_at,
    .position_of = stratified_position_of,
    .batch = stratified_batch,
    .batch_of = stratified_batch_of,
    .describe = stratified_describe,
};

static recmap_status make_template(struct stratified_order *stratified, recmap_error *error) {
    size_t n = stratified->groups.n;
    stratified->places = malloc((n ? n : 1) * sizeof *stratified->places);
    stratified->positions = malloc((n ? n : 1) * sizeof *stratified->positions);
    if (!stratified->places || !stratified->positions) return fail_memory(error);
    return template_create(stratified->places, stratified->positions, &stratified->groups, error);
}

/* The template, which assigns a group to each position, is the same in all epochs: it is computed
 * once, here. */
recmap_status recmap_order_stratified(recmap_order **order, const int64_t *labels, size_t n,
                                      uint64_t batch_size, uint64_t seed, recmap_error *error) {
    if (!batch_size) return fail(error, RECMAP_INVALID, "a batch must hold at least 1 record");
    struct groups groups;
    RETURN_IF_FAILED(groups_by_label(&groups, labels, n, error));
    struct stratified_order *fresh = order_allocate(sizeof *fresh, &stratified_kind, n, n, error);
    if (!fresh) {
        groups_deinit(&groups);
        return RECMAP_NO_MEMORY;
    }
    fresh->groups = groups;
    fresh->seed = seed;
    fresh->batch_size = batch_size;
    fresh->whole_count = n / batch_size;
    fresh->base.batch_count = fresh->whole_count + (n % batch_size != 0);
    recmap_status status = make_template(fresh, error);
    if (status != RECMAP_OK) {
        recmap_order_release(&fresh->base);
        return status;
    }
    *order = &fresh->base;
    return RECMAP_OK;
}
