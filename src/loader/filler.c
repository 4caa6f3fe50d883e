#include "loader/filler.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "dataset/parse.h"
#include "dataset/probe.h"

/* No good record among this many behind a bad one: then it is not about one record any more. */
enum { SUBSTITUTE_TRIES = 65536 };

void filled_clear(struct filled *cleared) {
    free(cleared->skipped);
    *cleared = (struct filled){.batch = cleared->batch};
}

void filler_free(struct filler *filler) {
    fetcher_destroy(filler->fetch);
    filler->fetch = NULL;
    recmap_batch_destroy(filler->single);
    filler->single = NULL;
    free(filler->numbers);
    filler->numbers = NULL;
    filler->capacity = 0;
}

static bool list(struct filled *made, const recmap_skipped *one) {
    if (!array_reserve(&made->skipped, &made->skipped_capacity, made->skipped_count + 1,
                       sizeof *made->skipped))
        return false;
    made->skipped[made->skipped_count++] = *one;
    return true;
}

/* Whether this record, and it alone, cannot be had as it is asked for. */
static recmap_status probe(bool *is_bad, struct filler *filler, uint64_t number,
                           recmap_error *error) {
    recmap_status status = dataset_probe(is_bad, filler->dataset, number, error);
    if (status != RECMAP_OK || *is_bad || !filler->parser) return status;
    if (!filler->single) status = recmap_batch_create(&filler->single, error);
    if (status == RECMAP_OK)
        status = recmap_dataset_parse(filler->single, filler->dataset, filler->parser, &number, 1,
                                      RECMAP_PARSE_RAISE, error);
    if (status != RECMAP_CORRUPT && status != RECMAP_FEATURE) return status;
    *is_bad = true;
    return RECMAP_OK;
}

/* The record of the next position that is good, from there on round to the epoch's start. `found`
 * stays false where there is none. */
static recmap_status find_substitute(uint64_t *number, bool *is_found, struct filler *filler,
                                     const recmap_deal *deal, uint64_t position,
                                     recmap_error *error) {
    uint64_t count = recmap_order_count(deal->order);
    uint64_t tries = min_u64(count - 1, SUBSTITUTE_TRIES);
    for (uint64_t i = 1; i <= tries; i++) {
        uint64_t next = (position + i) % count, candidate;
        bool is_bad;
        recmap_status status =
            recmap_order_at(&candidate, deal->order, deal->epoch, &next, 1, error);
        if (status == RECMAP_OK) status = probe(&is_bad, filler, candidate, error);
        if (status != RECMAP_OK) return status;
        if (is_bad) continue;
        *number = candidate;
        *is_found = true;
        return RECMAP_OK;
    }
    return RECMAP_OK;
}

/* Looks at one record of the step; `keep` says whether it, or another in its place, stays. */
static recmap_status look_at(bool *keep, struct filled *made, struct filler *filler,
                             const recmap_deal *deal, uint64_t position, uint64_t *number,
                             recmap_error *error) {
    recmap_error found;
    bool is_bad, is_replaced = false;
    recmap_status status = probe(&is_bad, filler, *number, &found);
    *keep = true;
    if (status != RECMAP_OK && error) *error = found;
    if (status != RECMAP_OK || !is_bad) return status;
    recmap_skipped bad = {deal->epoch, position, *number, RECMAP_NO_RECORD};
    if (filler->policy == RECMAP_BAD_RECORD_SUBSTITUTE) {
        status = find_substitute(number, &is_replaced, filler, deal, position, error);
        if (status != RECMAP_OK) return status;
        if (!is_replaced && error) *error = found;
        if (!is_replaced) return found.status;
        bad.substitute = *number;
    }
    *keep = is_replaced;
    return list(made, &bad) ? RECMAP_OK : fail_memory(error);
}

static recmap_status parse(struct filled *made, struct filler *filler, recmap_error *error) {
    if (!filler->parser) return RECMAP_OK;
    recmap_status status = dataset_parse_batch(made->batch, filler->dataset, filler->parser,
                                               RECMAP_PARSE_RAISE, error);
    if (status != RECMAP_OK) recmap_batch_clear(made->batch);
    return status;
}

/* The first `count` of the numbers, as they are asked for. */
static recmap_status take(struct filled *made, struct filler *filler, size_t count,
                          recmap_error *error) {
    recmap_status status =
        recmap_dataset_gather(made->batch, filler->dataset, filler->numbers, count, error);
    return status == RECMAP_OK ? parse(made, filler, error) : status;
}

/* A batch failed because of a bad record: which of its records are bad is found out one by one. */
static recmap_status gather_good(struct filled *made, struct filler *filler,
                                 const recmap_deal *deal, const recmap_share *share,
                                 recmap_error *error) {
    size_t good = 0;
    for (size_t i = 0; i < (size_t)share->count; i++) {
        uint64_t position = (share->first + i) % recmap_order_count(deal->order);
        bool keep;
        uint64_t number = filler->numbers[i];
        recmap_status status = look_at(&keep, made, filler, deal, position, &number, error);
        if (status != RECMAP_OK) return status;
        if (keep) filler->numbers[good++] = number;
    }
    return take(made, filler, good, error);
}

static uint64_t sum_sizes(const recmap_batch *batch) {
    const recmap_record *records = recmap_batch_records(batch);
    uint64_t sum = 0;
    for (size_t i = 0; i < recmap_batch_count(batch); i++) sum += records[i].size;
    return sum;
}

/* The numbers of the step's records are in `with->numbers`. */
static recmap_status list_numbers(recmap_share *share, struct filler *filler,
                                  const struct epoch_step *at, recmap_error *error) {
    recmap_status status = recmap_deal_share(share, &at->deal, at->step, filler->rank, error);
    if (status != RECMAP_OK) return status;
    if (share->count > SIZE_MAX || !array_reserve(&filler->numbers, &filler->capacity,
                                                  (size_t)share->count, sizeof *filler->numbers))
        return fail_memory(error);
    return recmap_deal_numbers(filler->numbers, &at->deal, share, error);
}

void filler_begin(struct filled *made, struct filler *filler, const struct epoch_step *at) {
    recmap_share share;
    made->is_begun =
        list_numbers(&share, filler, at, NULL) == RECMAP_OK &&
        fetcher_begin(filler->fetch, made->batch, filler->numbers, (size_t)share.count);
}

/* Gathers the step, unless its records are there already, and leaves out what spoils it. */
static recmap_status fill(struct filled *made, struct filler *filler, const struct epoch_step *at,
                          bool is_there, recmap_error *error) {
    recmap_error found;
    recmap_share share;
    recmap_status status = is_there ? parse(made, filler, &found) : RECMAP_OK;
    if (is_there && status == RECMAP_OK) return RECMAP_OK;
    recmap_status listed = list_numbers(&share, filler, at, error);
    if (listed != RECMAP_OK) return listed;
    if (!is_there) status = take(made, filler, (size_t)share.count, &found);
    bool is_bad_record = status == RECMAP_CORRUPT || status == RECMAP_FEATURE;
    if (is_bad_record && filler->policy != RECMAP_BAD_RECORD_RAISE)
        return gather_good(made, filler, &at->deal, &share, error);
    if (status != RECMAP_OK && error) *error = found;
    return status;
}

recmap_status filler_fill(struct filled *made, struct filler *filler, const struct epoch_step *at,
                          recmap_error *error) {
    bool is_there = made->is_begun && fetcher_finish(filler->fetch, made->batch);
    made->is_begun = false;
    recmap_status status = fill(made, filler, at, is_there, error);
    if (status == RECMAP_OK) status = epoch_step_state(&made->epoch, &made->position, at, error);
    if (status == RECMAP_OK) made->byte_count = sum_sizes(made->batch);
    return status;
}
