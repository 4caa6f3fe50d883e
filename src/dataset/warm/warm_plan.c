#include "dataset/warm/warm_plan.h"

#include <inttypes.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"

/* Parts of this size are read about as fast as whole shards. A group without such parts has
 * everything that is left, or as much as memory holds. */
enum { STRETCH_ENOUGH = 256 << 10, RECORDS_AT_ONCE = 4096, PAGE = 4096 };

#define GROUP_MIN ((uint64_t)64 << 20)

static recmap_status check_options(const recmap_dataset *dataset,
                                   const recmap_warm_options *options, recmap_error *error) {
    uint32_t world_size = options->dealing.world_size;
    uint64_t limit = recmap_order_row_width(options->order)
                         ? recmap_order_record_limit(options->order)
                         : recmap_order_number_limit(options->order);
    if (limit > dataset->info.record_count)
        return fail(error, RECMAP_INVALID,
                    "the order covers %" PRIu64 " records, but the data set has %" PRIu64, limit,
                    dataset->info.record_count);
    if (options->first_rank < world_size && options->rank_count <= world_size - options->first_rank)
        return RECMAP_OK;
    return fail(
        error, RECMAP_INVALID, "ranks %u to %" PRIu64 " are out of range: the world size is %u",
        options->first_rank, (uint64_t)options->first_rank + options->rank_count - 1, world_size);
}

static recmap_status init_order(struct warm_plan *plan, const recmap_warm_options *options,
                                recmap_error *error) {
    RETURN_IF_FAILED(recmap_deal_init(&plan->deal, options->order, options->epoch,
                                      options->position, &options->dealing, error));
    RETURN_IF_FAILED(check_options(plan->dataset, options, error));
    plan->order = recmap_order_retain(options->order);
    plan->rank = plan->first_rank = options->first_rank;
    plan->end_rank = options->rank_count ? options->first_rank + options->rank_count
                                         : options->dealing.world_size;
    plan->records_left = options->record_limit ? options->record_limit : UINT64_MAX;
    return warm_marks_init(&plan->marks, plan->dataset, error);
}

recmap_status warm_plan_init(struct warm_plan *plan, recmap_dataset *dataset,
                             const recmap_warm_options *options, recmap_error *error) {
    *plan = (struct warm_plan){.dataset = dataset, .group_limit = UINT64_MAX};
    if (options->version != RECMAP_WARM_OPTIONS_VERSION)
        return fail(error, RECMAP_INVALID, "recmap_warm_options has version %u, expected %d",
                    options->version, RECMAP_WARM_OPTIONS_VERSION);
    return options->order ? init_order(plan, options, error) : RECMAP_OK;
}

void warm_plan_deinit(struct warm_plan *plan) {
    warm_marks_deinit(&plan->marks);
    step_records_deinit(&plan->records);
    recmap_order_release(plan->order);
}

/* ---- All shards. */

/* What a compressed shard inflates to is one range: a part of it could divide a span. */
static bool take_of_shard(struct warm_range *range, struct warm_plan *plan) {
    const recmap_dataset *dataset = plan->dataset;
    while (plan->next_shard < dataset->info.shard_count) {
        const struct shard_entry *entry = &dataset->shard_table[plan->next_shard].entry;
        uint64_t begin = plan->next_byte < entry->start ? entry->start : plan->next_byte;
        uint64_t size_max = entry->compression == COMPRESSION_NONE ? WARM_RANGE_MAX : UINT64_MAX;
        if (begin < entry->size) {
            *range = (struct warm_range){(uint32_t)plan->next_shard, begin, entry->size};
            if (entry->size - begin > size_max) range->end = begin + size_max;
            plan->next_byte = range->end;
            return true;
        }
        plan->next_shard++;
        plan->next_byte = 0;
    }
    return false;
}

/* ---- The records of a run. */

/* Goes to the next share that is not empty. */
static recmap_status find_share(struct warm_plan *plan, recmap_error *error) {
    while (!plan->share.count && !plan->is_over) {
        if (plan->step == plan->deal.step_count || !plan->records_left) {
            plan->is_over = true;
            return RECMAP_OK;
        }
        RETURN_IF_FAILED(
            recmap_deal_share(&plan->share, &plan->deal, plan->step, plan->rank, error));
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), INTERRUPT_RECORD_WORK, error));
        if (++plan->rank < plan->end_rank) continue;
        plan->rank = plan->first_rank;
        plan->step++;
    }
    return RECMAP_OK;
}

static recmap_status mark_records(struct warm_plan *plan, recmap_error *error) {
    for (size_t i = 0; i < plan->records.count; i++) {
        struct index_place place;
        RETURN_IF_FAILED(
            dataset_find_place(&place, plan->dataset, plan->records.numbers[i], error));
        warm_marks_add(&plan->marks, &place);
    }
    return interrupt_check(thread_interrupt(), plan->records.count * INTERRUPT_RECORD_WORK, error);
}

static recmap_status add_share(struct warm_plan *plan, recmap_error *error) {
    RETURN_IF_FAILED(find_share(plan, error));
    recmap_share part = {plan->share.first, min_u64(plan->share.count, RECORDS_AT_ONCE)};
    part.count = min_u64(part.count, plan->records_left);
    if (!part.count) {
        plan->share.count = 0;
        return RECMAP_OK;
    }
    RETURN_IF_FAILED(step_records_fill(&plan->records, &plan->deal, &part, error));
    plan->share.first += part.count;
    plan->share.count -= part.count;
    plan->records_left -= part.count;
    return mark_records(plan, error);
}

static bool has_group(const struct warm_plan *plan) {
    uint64_t size = warm_marks_size(&plan->marks);
    if (size >= plan->group_limit) return true;
    return size >= GROUP_MIN && warm_marks_stretch_size(&plan->marks) >= STRETCH_ENOUGH;
}

recmap_status warm_plan_next(struct warm_range *range, bool *is_over, struct warm_plan *plan,
                             recmap_error *error) {
    *is_over = false;
    if (!plan->order) {
        *is_over = !take_of_shard(range, plan);
        return RECMAP_OK;
    }
    while (!warm_marks_take(range, &plan->marks)) {
        *is_over = plan->is_over;
        if (*is_over) return RECMAP_OK;
        plan->marks.next = plan->marks.unit_count;
        while (!plan->is_over && !has_group(plan)) RETURN_IF_FAILED(add_share(plan, error));
    }
    return RECMAP_OK;
}

/* ---- Size. */

static uint64_t count_all(const recmap_dataset *dataset) {
    uint64_t size = 0;
    for (uint64_t i = 0; i < dataset->info.shard_count; i++) {
        const struct shard_entry *entry = &dataset->shard_table[i].entry;
        size += entry->size > entry->start ? entry->size - entry->start : 0;
    }
    return size;
}

/* Each record may need a page more than its size. */
uint64_t warm_plan_size(const struct warm_plan *plan) {
    uint64_t all = count_all(plan->dataset), count = plan->dataset->info.record_count;
    if (!plan->order || !count || recmap_order_row_width(plan->order)) return all;
    uint64_t ranks = plan->end_rank - plan->first_rank, steps = plan->deal.step_count;
    uint64_t left = recmap_order_count(plan->order) - plan->deal.position;
    double records = (double)left * (double)ranks / (double)plan->deal.options.world_size;
    records += (double)(steps ? plan->deal.options.world_size : 0);
    if (records > (double)plan->records_left) records = (double)plan->records_left;
    double size = records * ((double)all / (double)count + PAGE);
    return size < (double)all ? (uint64_t)size : all;
}
