/* How many requests an epoch makes. The order is run, and the records of each batch are merged into
 * requests by the rules of gathering, with their places from the index. No shard is read. */
#include <stdlib.h>

#include "base/core/array.h"
#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/sort.h"
#include "dataset/batch/overlap.h"
#include "dataset/open/dataset.h"
#include "dataset/open/storage_use.h"
#include "loader/feed/loader.h"

/* If an epoch is longer, only batches with about this many records together are counted. */
enum { RECORDS_ENOUGH = 1 << 18, BATCHES_MIN = 16 };

/* The numbers of a batch, and what was counted so far. */
struct request_count {
    const recmap_dataset *dataset;
    uint64_t *numbers;
    size_t capacity;
    recmap_request_estimate found;
};

static int compare(const void *a, const void *b) {
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

static void count_range(struct request_count *counted, const struct shared_range *range) {
    if (!range->size) return;
    counted->found.request_count++;
    counted->found.byte_count += range->size;
}

/* Counts the requests for records with ascending numbers. Records of compressed shards are left
 * out: which of their spans are requested depends on those that are in memory. */
static recmap_status count_records(struct request_count *counted, size_t count,
                                   recmap_error *error) {
    struct shared_range range = {.size = 0};
    for (size_t i = 0; i < count; i++) {
        struct index_place place;
        RETURN_IF_FAILED(dataset_find_place(&place, counted->dataset, counted->numbers[i], error));
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), INTERRUPT_RECORD_WORK, error));
        if (counted->dataset->shard_table[place.shard_index].entry.compression != COMPRESSION_NONE)
            continue;
        counted->found.used_byte_count += place.frame_size;
        uint64_t gap = dataset_request_gap(counted->dataset, place.shard_index);
        if (range.size && shared_range_add(&range, &place, gap, OVERLAP_MAX)) continue;
        count_range(counted, &range);
        range = (struct shared_range){place.shard_index, place.offset, place.frame_size};
    }
    count_range(counted, &range);
    return RECMAP_OK;
}

static recmap_status count_step(struct request_count *counted, const recmap_deal *deal,
                                uint64_t step, uint32_t rank, recmap_error *error) {
    recmap_share share;
    RETURN_IF_FAILED(recmap_deal_share(&share, deal, step, rank, error));
    if (share.count > SIZE_MAX || !array_reserve(&counted->numbers, &counted->capacity,
                                                 (size_t)share.count, sizeof *counted->numbers))
        return fail_memory(error);
    RETURN_IF_FAILED(recmap_deal_numbers(counted->numbers, deal, &share, error));
    size_t count = (size_t)share.count;
    RETURN_IF_FAILED(sort_items(counted->numbers, count, sizeof *counted->numbers, compare, error));
    return count_records(counted, count, error);
}

static uint64_t scale(uint64_t value, uint64_t step_count, uint64_t counted_steps) {
    return (uint64_t)((double)value * (double)step_count / (double)counted_steps + 0.5);
}

/* Counts batches that are spread evenly over the epoch: all of them, if they are few enough. */
static recmap_status count_epoch(struct request_count *counted, const recmap_deal *deal,
                                 uint32_t rank, recmap_error *error) {
    uint64_t steps = deal->step_count;
    uint64_t share = steps ? recmap_order_count(deal->order) / steps / deal->options.world_size : 0;
    uint64_t chosen = RECORDS_ENOUGH / (share + 1) + BATCHES_MIN;
    if (chosen > steps) chosen = steps;
    uint64_t stride = chosen ? steps / chosen : 0, rest = chosen ? steps % chosen : 0;
    for (uint64_t i = 0; i < chosen; i++)
        RETURN_IF_FAILED(count_step(counted, deal, i * stride + min_u64(i, rest), rank, error));
    recmap_request_estimate *found = &counted->found;
    found->is_exact = chosen == steps;
    if (found->is_exact) return RECMAP_OK;
    found->request_count = scale(found->request_count, steps, chosen);
    found->byte_count = scale(found->byte_count, steps, chosen);
    found->used_byte_count = scale(found->used_byte_count, steps, chosen);
    return RECMAP_OK;
}

recmap_status recmap_loader_estimate_requests(recmap_request_estimate *estimate,
                                              const recmap_loader *loader, recmap_error *error) {
    struct request_count counted = {.dataset = loader->dataset, .found = {.is_exact = 1}};
    recmap_deal deal;
    RETURN_IF_FAILED(loader_check_process(loader, error));
    if (recmap_order_row_width(loader->order))
        return fail(error, RECMAP_INVALID, "requests for rows cannot be estimated");
    RETURN_IF_FAILED(recmap_deal_init(&deal, loader_order_of(loader, loader->epoch), loader->epoch,
                                      0, &loader->deal, error));
    recmap_status status = RECMAP_OK;
    if (loader->dataset->is_remote)
        status = count_epoch(&counted, &deal, loader->options.rank, error);
    free(counted.numbers);
    if (status == RECMAP_OK) *estimate = counted.found;
    return status;
}
