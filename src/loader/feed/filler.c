#include "loader/feed/filler.h"

#include <stdlib.h>

#include <recmap/rows.h>

#include "base/core/array.h"
#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/os/process.h"
#include "dataset/batch/batch.h"
#include "dataset/batch/parse.h"
#include "dataset/batch/probe.h"
#include "loader/feed/repair.h"
#include "loader/feed/rows_filler.h"
#include "order/kinds/order.h"

void filled_batch_clear(struct filled_batch *result) {
    free(result->skipped);
    *result = (struct filled_batch){.batch = result->batch};
}

void filler_deinit(struct filler *filler) {
    direct_reader_destroy(filler->reader);
    filler->reader = NULL;
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

/* Tells the batch the epoch and the positions of its records, and what their draws depend on. */
static recmap_status set_place(recmap_batch *batch, const struct filler *filler,
                               const recmap_deal *deal, uint64_t first, size_t count,
                               recmap_error *error) {
    bool has_numbers = filler->draw_order && deal->order == filler->order;
    const recmap_order *draws = has_numbers ? filler->draw_order : deal->order;
    const struct batch_place place = {
        .repeats = draws->repeats, .seed = filler->draw_seed, .epoch = deal->epoch};
    if (!batch_set_place(batch, &place, first, count, recmap_order_count(deal->order)))
        return fail_memory(error);
    if (!has_numbers) return RECMAP_OK;
    uint64_t *numbers = batch_set_draw_numbers(batch, count);
    if (!numbers) return fail_memory(error);
    return recmap_order_at(numbers, draws, deal->epoch, batch->positions, count, error);
}

static recmap_status set_step_place(struct filled_batch *result, const struct filler *filler,
                                    const struct epoch_step *step, recmap_error *error) {
    recmap_share share;
    if (gives_rows(&step->deal)) return RECMAP_OK;
    RETURN_IF_FAILED(recmap_deal_share(&share, &step->deal, step->step, filler->rank, error));
    if (share.count > SIZE_MAX) return fail_memory(error);
    return set_place(result->batch, filler, &step->deal, share.first, (size_t)share.count, error);
}

/* Finds out if this record is bad: it is damaged, or it cannot be parsed. Other failures are
 * returned. A row, given by its position, is bad if a record of it is. */
static recmap_status probe(bool *is_bad, struct filler *filler, const recmap_deal *deal,
                           uint64_t position, uint64_t number, recmap_error *error) {
    if (gives_rows(deal)) return rows_probe(is_bad, filler, deal, number, error);
    recmap_status status = dataset_probe(is_bad, filler->dataset, number, error);
    if (status != RECMAP_OK || *is_bad || !filler->parser) return status;
    if (!filler->single) RETURN_IF_FAILED(recmap_batch_create(&filler->single, error));
    RETURN_IF_FAILED(set_place(filler->single, filler, deal, position, 1, error));
    status = recmap_dataset_parse(filler->single, filler->dataset, filler->parser, &number, 1,
                                  RECMAP_PARSE_RAISE, error);
    if (status != RECMAP_CORRUPT && status != RECMAP_FEATURE) return status;
    *is_bad = true;
    return RECMAP_OK;
}

/* Finds the next position, wrapping at the end of the epoch, whose record is good. If none of the
 * records that were tried is good, `is_found` and `number` are unchanged. */
static recmap_status find_substitute(uint64_t *number, bool *is_found, struct filler *filler,
                                     const recmap_deal *deal, uint64_t position,
                                     recmap_error *error) {
    uint64_t count = recmap_order_count(deal->order);
    uint64_t tries = min_u64(count - 1, SUBSTITUTE_TRIES);
    for (uint64_t i = 1; i <= tries; i++) {
        uint64_t next = (position + i) % count, candidate = next;
        bool is_bad;
        if (!gives_rows(deal))
            RETURN_IF_FAILED(
                recmap_order_at(&candidate, deal->order, deal->epoch, &next, 1, error));
        RETURN_IF_FAILED(probe(&is_bad, filler, deal, position, candidate, error));
        if (is_bad) continue;
        *number = candidate;
        *is_found = true;
        return RECMAP_OK;
    }
    return RECMAP_OK;
}

/* Checks one record of the step. If it is bad, it is listed as skipped, and `number` becomes its
 * substitute if the policy asks for one. `keep` is set to whether `number` stays in the batch. */
static recmap_status check_record(bool *keep, struct filled_batch *result, struct filler *filler,
                                  const recmap_deal *deal, uint64_t position, uint64_t *number,
                                  recmap_error *error) {
    recmap_error found;
    bool is_bad, is_replaced = false;
    recmap_status status = probe(&is_bad, filler, deal, position, *number, &found);
    *keep = true;
    if (status != RECMAP_OK && error) *error = found;
    if (status != RECMAP_OK || !is_bad) return status;
    recmap_skipped bad = {deal->epoch, position, *number, RECMAP_NO_RECORD};
    if (filler->policy == RECMAP_ON_BAD_RECORD_SUBSTITUTE) {
        RETURN_IF_FAILED(find_substitute(number, &is_replaced, filler, deal, position, error));
        if (!is_replaced && error) *error = found;
        if (!is_replaced) return found.status;
        bad.substitute = *number;
    }
    *keep = is_replaced;
    if (gives_rows(deal)) RETURN_IF_FAILED(rows_name_skipped(&bad, deal, error));
    return filled_batch_add_skipped(result, &bad) ? RECMAP_OK : fail_memory(error);
}

static recmap_status parse(struct filled_batch *result, struct filler *filler,
                           recmap_error *error) {
    if (!filler->parser) return RECMAP_OK;
    uint64_t started_ns = clock_ns();
    recmap_status status = dataset_parse_batch(result->batch, filler->dataset, filler->parser,
                                               RECMAP_PARSE_RAISE, error);
    result->parse_ns += clock_ns() - started_ns;
    if (status != RECMAP_OK) recmap_batch_clear(result->batch);
    return status;
}

/* Gathers and parses the first `count` of the filler's numbers. */
static recmap_status gather_and_parse(struct filled_batch *result, struct filler *filler,
                                      const recmap_deal *deal, size_t count, recmap_error *error) {
    if (gives_rows(deal))
        return rows_fill(result->batch, filler, deal, filler->numbers, count, error);
    RETURN_IF_FAILED(
        recmap_dataset_gather(result->batch, filler->dataset, filler->numbers, count, error));
    return parse(result, filler, error);
}

/* Called when a batch failed because of a bad record: checks its records one by one and gathers
 * those that are good. */
static recmap_status gather_good(struct filled_batch *result, struct filler *filler,
                                 const recmap_deal *deal, const recmap_share *share,
                                 recmap_error *error) {
    size_t good = 0;
    for (size_t i = 0; i < (size_t)share->count; i++) {
        uint64_t position = (share->first + i) % recmap_order_count(deal->order);
        bool keep;
        uint64_t number = filler->numbers[i];
        RETURN_IF_FAILED(check_record(&keep, result, filler, deal, position, &number, error));
        if (!keep) continue;
        if (!gives_rows(deal)) batch_move_place(result->batch, good, i);
        filler->numbers[good++] = number;
    }
    return gather_and_parse(result, filler, deal, good, error);
}

static uint64_t sum_sizes(const recmap_batch *batch) {
    const recmap_record *records = recmap_batch_records(batch);
    uint64_t sum = 0;
    for (size_t i = 0; i < recmap_batch_count(batch); i++) sum += records[i].size;
    return sum;
}

/* Puts the numbers of this rank's records, or the positions of its rows, into `filler->numbers`. */
static recmap_status list_numbers(recmap_share *share, struct filler *filler,
                                  const struct epoch_step *step, recmap_error *error) {
    RETURN_IF_FAILED(recmap_deal_share(share, &step->deal, step->step, filler->rank, error));
    if (share->count > SIZE_MAX || !array_reserve(&filler->numbers, &filler->capacity,
                                                  (size_t)share->count, sizeof *filler->numbers))
        return fail_memory(error);
    if (gives_rows(&step->deal)) {
        uint64_t count = recmap_order_count(step->deal.order);
        for (uint64_t i = 0; i < share->count; i++) filler->numbers[i] = (share->first + i) % count;
        return RECMAP_OK;
    }
    return recmap_deal_numbers(filler->numbers, &step->deal, share, error);
}

void filler_start(struct filled_batch *result, struct filler *filler,
                  const struct epoch_step *step) {
    recmap_share share;
    result->is_started =
        !gives_rows(&step->deal) && list_numbers(&share, filler, step, NULL) == RECMAP_OK &&
        direct_reader_start(filler->reader, result->batch, filler->numbers, (size_t)share.count);
}

/* Parses the step's records if they were read, else gathers and parses them. If one of them is
 * bad, the loader's policy decides: the error is returned, or the batch is gathered again without
 * the bad records. Pictures are not decoded again: bad records are then repaired in between. */
static recmap_status fill(struct filled_batch *result, struct filler *filler,
                          const struct epoch_step *step, bool was_read, recmap_error *error) {
    recmap_error found;
    recmap_share share;
    if (repair_applies(filler, &step->deal)) {
        RETURN_IF_FAILED(list_numbers(&share, filler, step, error));
        return repair_parse(result, filler, &step->deal, &share, was_read, error);
    }
    recmap_status status = was_read ? parse(result, filler, &found) : RECMAP_OK;
    if (was_read && status == RECMAP_OK) return RECMAP_OK;
    RETURN_IF_FAILED(list_numbers(&share, filler, step, error));
    if (!was_read)
        status = gather_and_parse(result, filler, &step->deal, (size_t)share.count, &found);
    bool is_bad_record = status == RECMAP_CORRUPT || status == RECMAP_FEATURE;
    if (is_bad_record && filler->policy != RECMAP_ON_BAD_RECORD_ERROR)
        return gather_good(result, filler, &step->deal, &share, error);
    if (status != RECMAP_OK && error) *error = found;
    return status;
}

/* Counts the pictures of the step, also of those that are decoded to find bad ones. */
static recmap_status fill_counted(struct filled_batch *result, struct filler *filler,
                                  const struct epoch_step *step, bool was_read,
                                  recmap_error *error) {
    filler->images = (struct image_counts){.clock_ns = clock_ns};
    batch_set_image_counts(result->batch, &filler->images);
    recmap_status status = fill(result, filler, step, was_read, error);
    batch_set_image_counts(result->batch, NULL);
    result->images = filler->images;
    return status;
}

recmap_status filler_fill(struct filled_batch *result, struct filler *filler,
                          const struct epoch_step *step, recmap_error *error) {
    bool was_read = result->is_started && direct_reader_finish(filler->reader, result->batch);
    result->is_started = false;
    RETURN_IF_FAILED(set_step_place(result, filler, step, error));
    RETURN_IF_FAILED(fill_counted(result, filler, step, was_read, error));
    result->batch->place.is_set = !gives_rows(&step->deal);
    RETURN_IF_FAILED(epoch_step_state(&result->epoch, &result->position, step, error));
    result->byte_count = sum_sizes(result->batch);
    return RECMAP_OK;
}
