/* Grouped orders: each batch holds records of one group. Records are shuffled within their group,
 * each group is cut into batches, and the list of all batches is shuffled. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/search.h"
#include "base/permutation/permutation.h"
#include "base/permutation/random.h"
#include "order/kinds/epoch_cache.h"
#include "order/kinds/groups.h"
#include "order/kinds/order.h"

struct grouped_order {
    recmap_order base;
    struct groups groups;
    uint64_t seed;
    uint64_t batch_size, token_budget; /* as given; one of them is 0 */
    uint32_t *sizes;                   /* records per batch, for each group */
    uint32_t *first_batch;             /* of each group; one more than groups */
    uint32_t *group_of_block;          /* the group of each BLOCK-th batch, and the last group */
    uint8_t bounds_digest[DIGEST_SIZE];
    bool has_bounds;
    struct epoch_cache cache;
};

/* The position of each batch in an epoch. */
struct grouped_epoch {
    struct epoch_state state;
    struct permutation batches;
    uint32_t starts[]; /* position of the batch at each place, and the end */
};

/* A batch: the epoch's positions [start, start + count) are positions [first, first + count) of the
 * group. */
struct batch_view {
    uint32_t start, count;
    uint32_t group, first;
};

static void grouped_destroy(recmap_order *order) {
    struct grouped_order *grouped = (struct grouped_order *)order;
    groups_deinit(&grouped->groups);
    free(grouped->sizes);
    free(grouped->first_batch);
    free(grouped->group_of_block);
    epoch_cache_deinit(&grouped->cache);
}

/* With many groups, each step of a search among all of them misses the cache. So a table of every
 * BLOCK-th batch narrows the search to a few neighbouring groups. */
enum { BLOCK = 32 };

static uint32_t group_of_batch(const struct grouped_order *grouped, uint32_t batch) {
    uint32_t low = grouped->group_of_block[batch / BLOCK];
    uint32_t high = grouped->group_of_block[batch / BLOCK + 1];
    return low - 1 +
           search_below32(grouped->first_batch + low, high - low + 1, (uint64_t)batch + 1);
}

/* A batch by its number in the unshuffled list; `start` is not set. */
static struct batch_view batch_of_groups(const struct grouped_order *grouped, uint32_t batch) {
    uint32_t group = group_of_batch(grouped, batch);
    uint32_t first = (batch - grouped->first_batch[group]) * grouped->sizes[group];
    uint32_t rest = groups_size(&grouped->groups, group) - first;
    uint32_t count = rest < grouped->sizes[group] ? rest : grouped->sizes[group];
    return (struct batch_view){0, count, group, first};
}

enum { PIECE = 256, BATCH_WORK = 64 /* for the interrupt, in bytes */ };

/* Asks the thread's interrupt after each piece: millions of batches take seconds. */
static recmap_status place_batches(struct grouped_epoch *epoch, const struct grouped_order *grouped,
                                   recmap_error *error) {
    const uint32_t count = (uint32_t)grouped->base.batch_count;
    uint32_t start = 0;
    for (uint32_t place = 0; place < count;) {
        uint64_t batches[PIECE];
        uint32_t here = count - place < PIECE ? count - place : PIECE;
        for (uint32_t i = 0; i < here; i++) batches[i] = place + i;
        permutation_at(&epoch->batches, batches, batches, here);
        for (uint32_t i = 0; i < here; i++) {
            epoch->starts[place++] = start;
            start += batch_of_groups(grouped, (uint32_t)batches[i]).count;
        }
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), here * BATCH_WORK, error));
    }
    assert(start == grouped->base.count);
    epoch->starts[count] = start;
    return RECMAP_OK;
}

/* Obtains the state of an epoch; end_epoch returns it to the cache. */
static recmap_status begin_epoch(struct grouped_epoch **state, const recmap_order *order,
                                 uint64_t epoch, recmap_error *error) {
    struct grouped_order *grouped = (struct grouped_order *)order;
    *state = (struct grouped_epoch *)epoch_cache_take(&grouped->cache, epoch);
    if (*state) return RECMAP_OK;
    size_t count = order->batch_count;
    *state = malloc(sizeof **state + (count + 1) * sizeof(uint32_t));
    if (!*state) return fail_memory(error);
    (*state)->state.epoch = epoch;
    permutation_init(&(*state)->batches, count, grouped->seed, epoch,
                     stream_of(STREAM_GROUPED_BATCHES, 0));
    recmap_status status = place_batches(*state, grouped, error);
    if (status != RECMAP_OK) free(*state);
    return status;
}

static void end_epoch(const recmap_order *order, struct grouped_epoch *epoch) {
    epoch_cache_put(&((struct grouped_order *)order)->cache, &epoch->state);
}

static uint32_t place_of(const recmap_order *order, const struct grouped_epoch *epoch,
                         uint64_t position) {
    return search_below32(epoch->starts, (uint32_t)order->batch_count, position + 1) - 1;
}

static struct batch_view open_batch(const struct grouped_order *grouped,
                                    const struct grouped_epoch *epoch, uint32_t place) {
    uint32_t batch = (uint32_t)permutation_at_one(&epoch->batches, place);
    struct batch_view opened = batch_of_groups(grouped, batch);
    opened.start = epoch->starts[place];
    return opened;
}

static void init_group(struct permutation *permutation, const struct grouped_order *grouped,
                       uint64_t epoch, uint32_t group) {
    permutation_init(permutation, groups_size(&grouped->groups, group), grouped->seed, epoch,
                     stream_of(STREAM_GROUPED_INSIDE, group));
}

/* Positions of one batch. */
static void batch_numbers(uint64_t *numbers, const struct grouped_order *grouped,
                          const struct batch_view *batch, const struct permutation *group,
                          const uint64_t *positions, size_t count) {
    const uint32_t *records = grouped->groups.records + grouped->groups.first[batch->group];
    for (size_t i = 0; i < count; i++) numbers[i] = positions[i] - batch->start + batch->first;
    permutation_at(group, numbers, numbers, count);
    for (size_t i = 0; i < count; i++) numbers[i] = records[numbers[i]];
}

static recmap_status grouped_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                                const uint64_t *positions, size_t count, recmap_error *error) {
    const struct grouped_order *grouped = (const struct grouped_order *)order;
    struct grouped_epoch *e;
    RETURN_IF_FAILED(begin_epoch(&e, order, epoch, error));
    struct permutation group;
    uint32_t known = UINT32_MAX; /* the group whose permutation that is */
    for (size_t i = 0; i < count;) {
        struct batch_view batch = open_batch(grouped, e, place_of(order, e, positions[i]));
        if (batch.group != known) init_group(&group, grouped, epoch, batch.group);
        known = batch.group;
        size_t end = i + 1;
        while (end < count && positions[end] - batch.start < batch.count) end++;
        batch_numbers(numbers + i, grouped, &batch, &group, positions + i, end - i);
        i = end;
    }
    end_epoch(order, e);
    return RECMAP_OK;
}

static recmap_status grouped_position_of(uint64_t *position, const recmap_order *order,
                                         uint64_t epoch, uint64_t number, recmap_error *error) {
    const struct grouped_order *grouped = (const struct grouped_order *)order;
    struct grouped_epoch *e;
    RETURN_IF_FAILED(begin_epoch(&e, order, epoch, error));
    uint32_t place = grouped->groups.places[number];
    uint32_t group = groups_of_place(&grouped->groups, place);
    struct permutation inside;
    init_group(&inside, grouped, epoch, group);
    uint32_t turn =
        (uint32_t)permutation_inverse_one(&inside, place - grouped->groups.first[group]);
    uint32_t batch = grouped->first_batch[group] + turn / grouped->sizes[group];
    uint64_t batch_place = permutation_inverse_one(&e->batches, batch);
    *position = e->starts[batch_place] + turn % grouped->sizes[group];
    end_epoch(order, e);
    return RECMAP_OK;
}

static recmap_status grouped_batch(uint64_t *first, uint64_t *count, const recmap_order *order,
                                   uint64_t epoch, uint64_t batch_index, recmap_error *error) {
    struct grouped_epoch *e;
    RETURN_IF_FAILED(begin_epoch(&e, order, epoch, error));
    *first = e->starts[batch_index];
    *count = e->starts[batch_index + 1] - e->starts[batch_index];
    end_epoch(order, e);
    return RECMAP_OK;
}

static recmap_status grouped_batch_of(uint64_t *batch_index, const recmap_order *order,
                                      uint64_t epoch, uint64_t position, recmap_error *error) {
    struct grouped_epoch *e;
    RETURN_IF_FAILED(begin_epoch(&e, order, epoch, error));
    *batch_index = place_of(order, e, position);
    end_epoch(order, e);
    return RECMAP_OK;
}

static void grouped_describe(struct json_writer *json, const recmap_order *order) {
    const struct grouped_order *grouped = (const struct grouped_order *)order;
    describe_number(json, "n", order->limit);
    describe_number(json, "seed", grouped->seed);
    if (grouped->batch_size) describe_number(json, "batch_size", grouped->batch_size);
    else describe_number(json, "token_budget", grouped->token_budget);
    describe_digest(json, grouped->has_bounds ? "lengths" : "labels", grouped->groups.digest);
    if (grouped->has_bounds) describe_digest(json, "bounds", grouped->bounds_digest);
}

static const struct order_kind grouped_kind = {
    .name = "grouped",
    .destroy = grouped_destroy,
    .at = grouped_at,
    .position_of = grouped_position_of,
    .batch = grouped_batch,
    .batch_of = grouped_batch_of,
    .describe = grouped_describe,
};

static const struct order_kind bucketed_kind = {
    .name = "bucketed",
    .destroy = grouped_destroy,
    .at = grouped_at,
    .position_of = grouped_position_of,
    .batch = grouped_batch,
    .batch_of = grouped_batch_of,
    .describe = grouped_describe,
};

/* Lists the groups in which every BLOCK-th batch is, in one pass over both. */
static recmap_status list_blocks(struct grouped_order *grouped, recmap_error *error) {
    uint32_t count = (uint32_t)grouped->base.batch_count, last = grouped->groups.count - 1;
    size_t block_count = count / BLOCK + 2;
    grouped->group_of_block = malloc(block_count * sizeof *grouped->group_of_block);
    if (!grouped->group_of_block) return fail_memory(error);
    uint32_t group = 0;
    for (size_t block = 0; block < block_count; block++) {
        while (group < last && grouped->first_batch[group + 1] <= (uint64_t)block * BLOCK) group++;
        grouped->group_of_block[block] = group;
    }
    return RECMAP_OK;
}

/* Counts the batches of each group, of sizes that are set. */
static recmap_status count_batches(struct grouped_order *grouped, recmap_error *error) {
    for (uint32_t g = 0; g < grouped->groups.count; g++) {
        uint32_t size = groups_size(&grouped->groups, g);
        uint32_t batches = size ? (size - 1) / grouped->sizes[g] + 1 : 0;
        grouped->first_batch[g + 1] = grouped->first_batch[g] + batches;
    }
    grouped->base.batch_count = grouped->first_batch[grouped->groups.count];
    return list_blocks(grouped, error);
}

/* An order of groups that it takes over, sizes being all `batch_size`. */
static struct grouped_order *make_grouped(const struct order_kind *kind, struct groups *groups,
                                          uint64_t batch_size, uint64_t seed, recmap_error *error) {
    struct grouped_order *fresh = order_allocate(sizeof *fresh, kind, groups->n, groups->n, error);
    if (!fresh) {
        groups_deinit(groups);
        return NULL;
    }
    fresh->groups = *groups;
    fresh->seed = seed;
    fresh->batch_size = batch_size;
    fresh->sizes = calloc(groups->count, sizeof *fresh->sizes);
    fresh->first_batch = calloc((size_t)groups->count + 1, sizeof *fresh->first_batch);
    if (!fresh->sizes || !fresh->first_batch) {
        recmap_order_release(&fresh->base);
        fail_memory(error);
        return NULL;
    }
    for (uint32_t g = 0; g < groups->count; g++)
        fresh->sizes[g] = batch_size < UINT32_MAX ? (uint32_t)batch_size : UINT32_MAX;
    return fresh;
}

recmap_status recmap_order_grouped(recmap_order **order, const int64_t *labels, size_t n,
                                   uint64_t batch_size, uint64_t seed, recmap_error *error) {
    if (!batch_size) return fail(error, RECMAP_INVALID, "a batch must hold at least 1 record");
    struct groups groups;
    RETURN_IF_FAILED(groups_by_label(&groups, labels, n, error));
    struct grouped_order *fresh = make_grouped(&grouped_kind, &groups, batch_size, seed, error);
    if (!fresh) return RECMAP_NO_MEMORY;
    recmap_status status = count_batches(fresh, error);
    if (status != RECMAP_OK) recmap_order_release(&fresh->base);
    else *order = &fresh->base;
    return status;
}

static recmap_status check_lengths(const int64_t *lengths, size_t n, recmap_bucket_size size,
                                   recmap_error *error) {
    if (!size.batch_size == !size.token_budget)
        return fail(error, RECMAP_INVALID,
                    "buckets need either a batch size or a token budget above 0");
    for (size_t i = 0; i < n; i++) {
        if (lengths[i] < 0)
            return fail(error, RECMAP_INVALID, "invalid length of record %zu: %" PRId64, i,
                        lengths[i]);
        if (size.token_budget && (uint64_t)lengths[i] > size.token_budget)
            return fail(error, RECMAP_INVALID,
                        "record %zu has %" PRId64 " tokens, more than the budget of %" PRIu64, i,
                        lengths[i], size.token_budget);
    }
    return RECMAP_OK;
}

/* Sets each bucket's batch size: as many records as fit the budget if each is as long as the
 * bucket's longest. */
static void set_budget(struct grouped_order *grouped, const int64_t *lengths,
                       uint64_t token_budget) {
    grouped->token_budget = token_budget;
    for (uint32_t g = 0; g < grouped->groups.count; g++) {
        uint64_t longest = 1;
        for (uint32_t i = grouped->groups.first[g]; i < grouped->groups.first[g + 1]; i++) {
            uint64_t length = (uint64_t)lengths[grouped->groups.records[i]];
            if (length > longest) longest = length;
        }
        uint64_t size = token_budget / longest;
        grouped->sizes[g] = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    }
}

/* Bounds are digested as given, because two lists of bounds may group these lengths alike but
 * others differently. */
recmap_status recmap_order_bucketed(recmap_order **order, const int64_t *lengths, size_t n,
                                    const int64_t *bounds, size_t bound_count,
                                    recmap_bucket_size size, uint64_t seed, recmap_error *error) {
    uint8_t digest[DIGEST_SIZE];
    struct groups groups;
    RETURN_IF_FAILED(check_lengths(lengths, n, size, error));
    RETURN_IF_FAILED(digest_words(digest, (const uint64_t *)bounds, bound_count, error));
    RETURN_IF_FAILED(groups_by_bounds(&groups, lengths, n, bounds, bound_count, error));
    struct grouped_order *fresh =
        make_grouped(&bucketed_kind, &groups, size.batch_size, seed, error);
    if (!fresh) return RECMAP_NO_MEMORY;
    fresh->has_bounds = true;
    memcpy(fresh->bounds_digest, digest, DIGEST_SIZE);
    if (size.token_budget) set_budget(fresh, lengths, size.token_budget);
    recmap_status status = count_batches(fresh, error);
    if (status != RECMAP_OK) recmap_order_release(&fresh->base);
    else *order = &fresh->base;
    return status;
}
