#include "loader/feed/filler.h"

#include <stdlib.h>

#include <recmap/rows.h>

#include "base/core/array.h"
#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/os/process.h"
#include "dataset/batch/batch.h"
#include "dataset/batch/parse.h"
#include "loader/feed/repair.h"
#include "loader/feed/rows_filler.h"
#include "order/kinds/order.h"
#include "parse/columns/columns.h"

void filled_batch_clear(struct filled_batch *result) {
    free(result->skipped);
    lost_rows_deinit(&result->lost);
    *result = (struct filled_batch){.batch = result->batch};
}

void image_counts_add(struct image_counts *counts, const struct image_counts *more) {
    counts->decode_ns += more->decode_ns;
    counts->decoded_count += more->decoded_count;
    counts->failed_count += more->failed_count;
    counts->warning_count += more->warning_count;
}

void filler_deinit(struct filler *filler) {
    direct_reader_destroy(filler->reader);
    filler->reader = NULL;
    recmap_columns_destroy(filler->scratch);
    filler->scratch = NULL;
    recmap_batch_destroy(filler->single);
    filler->single = NULL;
    free(filler->numbers);
    filler->numbers = NULL;
    filler->capacity = 0;
}

bool filled_batch_add_skipped(struct filled_batch *result, const recmap_skipped *skipped) {
    if (!array_reserve(&result->skipped, &result->skipped_capacity, result->skipped_count + 1,
                       sizeof *result->skipped))
        return false;
    result->skipped[result->skipped_count++] = *skipped;
    return true;
}

static bool gives_rows(const recmap_deal *deal) {
    return recmap_order_row_width(deal->order) > 0;
}

/* The positions of a share wrap at the end of the epoch. The loop has no division, which every
 * record would pay. */
static void list_positions(uint64_t *positions, const recmap_share *share, uint64_t epoch_count) {
    uint64_t position = share->count ? share->first % epoch_count : 0;
    for (uint64_t i = 0; i < share->count; i++) {
        positions[i] = position;
        if (++position == epoch_count) position = 0;
    }
}

/* Tells the batch where its records are in the epoch, and what their draws depend on. */
static recmap_status set_draws(recmap_batch *batch, const struct filler *filler,
                               const recmap_deal *deal, const recmap_share *share,
                               recmap_error *error) {
    const size_t count = (size_t)share->count;
    const bool is_joined = filler->draw_order && deal->order == filler->order;
    const recmap_order *order = is_joined ? filler->draw_order : deal->order;
    if (share->count > SIZE_MAX) return fail_memory(error);
    uint64_t *positions = batch_reserve_positions(batch, count);
    uint64_t *numbers = is_joined ? batch_reserve_draw_numbers(batch, count) : NULL;
    if (!positions || (is_joined && !numbers)) return fail_memory(error);
    list_positions(positions, share, recmap_order_count(deal->order));
    if (is_joined)
        RETURN_IF_FAILED(recmap_order_at(numbers, order, deal->epoch, positions, count, error));
    const recmap_draws draws = {filler->draw_seed, deal->epoch, positions, numbers, order->repeats};
    recmap_batch_set_draws(batch, &draws);
    return batch_take_draws(batch, &draws, count, error);
}

static uint64_t sum_sizes(const recmap_batch *batch) {
    const recmap_record *records = recmap_batch_records(batch);
    uint64_t sum = 0;
    for (size_t i = 0; i < recmap_batch_count(batch); i++) sum += records[i].size;
    return sum;
}

/* Puts the numbers of this rank's records, or the positions of its rows, into `filler->numbers`. */
static recmap_status list_numbers(struct filler *filler, const recmap_deal *deal,
                                  const recmap_share *share, recmap_error *error) {
    if (share->count > SIZE_MAX || !array_reserve(&filler->numbers, &filler->capacity,
                                                  (size_t)share->count, sizeof *filler->numbers))
        return fail_memory(error);
    if (!gives_rows(deal)) return recmap_deal_numbers(filler->numbers, deal, share, error);
    list_positions(filler->numbers, share, recmap_order_count(deal->order));
    return RECMAP_OK;
}

void filler_start(struct filled_batch *result, struct filler *filler,
                  const struct epoch_step *step) {
    recmap_share share;
    result->is_started =
        !gives_rows(&step->deal) &&
        recmap_deal_share(&share, &step->deal, step->step, filler->rank, NULL) == RECMAP_OK &&
        list_numbers(filler, &step->deal, &share, NULL) == RECMAP_OK &&
        direct_reader_start(filler->reader, result->batch, filler->numbers, (size_t)share.count);
}

/* Reads the records of the filler's numbers. If some are damaged and are to be left out or
 * replaced, the others are read around them. */
static recmap_status gather(struct filled_batch *result, const struct filler *filler, size_t count,
                            recmap_error *error) {
    recmap_status status =
        recmap_dataset_gather(result->batch, filler->dataset, filler->numbers, count, error);
    if (status != RECMAP_CORRUPT || filler->policy == RECMAP_ON_BAD_RECORD_ERROR) return status;
    return dataset_gather_readable(&result->lost, result->batch, filler->dataset, filler->numbers,
                                   count, error);
}

/* Parses the records; one that cannot be parsed is an error. */
static recmap_status parse(struct filled_batch *result, const struct filler *filler,
                           recmap_error *error) {
    if (!filler->parser) return RECMAP_OK;
    uint64_t started_ns = clock_ns();
    recmap_status status = dataset_parse_batch(result->batch, filler->dataset, filler->parser,
                                               RECMAP_PARSE_RAISE, error);
    result->parse_ns += clock_ns() - started_ns;
    if (status != RECMAP_OK) recmap_batch_clear(result->batch);
    return status;
}

recmap_status filler_read(struct filled_batch *result, struct filler *filler,
                          const struct epoch_step *step, recmap_error *error) {
    const recmap_deal *deal = &step->deal;
    bool was_read = result->is_started && direct_reader_finish(filler->reader, result->batch);
    recmap_share share;
    result->is_started = false;
    RETURN_IF_FAILED(recmap_deal_share(&share, deal, step->step, filler->rank, error));
    if (!gives_rows(deal)) RETURN_IF_FAILED(set_draws(result->batch, filler, deal, &share, error));
    if (was_read) return RECMAP_OK;
    RETURN_IF_FAILED(list_numbers(filler, deal, &share, error));
    if (gives_rows(deal)) return RECMAP_OK;
    return gather(result, filler, (size_t)share.count, error);
}

static recmap_status parse_or_repair(struct filled_batch *result, struct filler *filler,
                                     const struct epoch_step *step, recmap_error *error) {
    const recmap_deal *deal = &step->deal;
    recmap_share share;
    RETURN_IF_FAILED(recmap_deal_share(&share, deal, step->step, filler->rank, error));
    if (gives_rows(deal)) return rows_fill_good(result, filler, deal, &share, error);
    if (filler->policy == RECMAP_ON_BAD_RECORD_ERROR) return parse(result, filler, error);
    return repair_records(result, filler, deal, share.first, error);
}

/* Counts the pictures of the step, also of those that are decoded to find bad ones. */
recmap_status filler_parse(struct filled_batch *result, struct filler *filler,
                           const struct epoch_step *step, recmap_error *error) {
    filler->images = (struct image_counts){.clock_ns = clock_ns};
    batch_set_image_counts(result->batch, &filler->images);
    recmap_status status = parse_or_repair(result, filler, step, error);
    batch_set_image_counts(result->batch, NULL);
    result->images = filler->images;
    return status;
}

recmap_status filler_finish(struct filled_batch *result, const struct epoch_step *step,
                            recmap_error *error) {
    result->batch->has_place = true;
    result->batch->step = step->run_step;
    RETURN_IF_FAILED(epoch_step_state(&result->epoch, &result->position, step, error));
    result->byte_count = sum_sizes(result->batch);
    if (result->batch->is_parsed) result->pixels_size = columns_pixels_size(result->batch->columns);
    return RECMAP_OK;
}
