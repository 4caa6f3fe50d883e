#include "loader/feed/repair.h"

#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/os/process.h"
#include "dataset/batch/batch.h"
#include "dataset/batch/collect.h"
#include "dataset/batch/parse.h"
#include "dataset/batch/probe.h"
#include "parse/plan/plan.h"

/* The number of a record that was left out of the batch, until the batch is closed up. */
#define LEFT_OUT RECMAP_NO_RECORD

struct repair {
    struct filled_batch *result;
    struct filler *filler;
    const recmap_deal *deal;
    const recmap_share *share;
    bool has_failed; /* a record failed: the one at `index` is the last that did */
    size_t index;
    uint64_t tries; /* substitutes tried for it */
};

bool repair_applies(const struct filler *filler, const recmap_deal *deal) {
    return filler->parser && filler->parser->image_count &&
           filler->policy != RECMAP_ON_BAD_RECORD_ERROR && !recmap_order_row_width(deal->order);
}

/* The position in the epoch of the record that failed last. */
static uint64_t position_of(const struct repair *repair) {
    return (repair->share->first + repair->index) % recmap_order_count(repair->deal->order);
}

static recmap_status list_skipped(const struct repair *repair, recmap_error *error) {
    const recmap_skipped skipped = {repair->deal->epoch, position_of(repair),
                                    repair->filler->numbers[repair->index], RECMAP_NO_RECORD};
    return filled_batch_add_skipped(repair->result, &skipped) ? RECMAP_OK : fail_memory(error);
}

/* Copies a record into memory of the batch, unless it is damaged. */
static recmap_status read_copy(recmap_record *copy, bool *is_damaged, const struct repair *repair,
                               uint64_t number, recmap_error *error) {
    recmap_dataset *dataset = repair->filler->dataset;
    recmap_record record;
    RETURN_IF_FAILED(dataset_probe(is_damaged, dataset, number, error));
    if (*is_damaged) return RECMAP_OK;
    RETURN_IF_FAILED(recmap_dataset_get(&record, dataset, number, error));
    uint8_t *bytes = batch_allocate(repair->result->batch, record.size);
    if (bytes && record.size) memcpy(bytes, record.data, record.size);
    *copy = (recmap_record){bytes, record.size, number, NULL};
    recmap_record_release(&record);
    return bytes ? RECMAP_OK : fail_memory(error);
}

/* Raises what is wrong with the failed record: if it is damaged here, else by the parser. */
static recmap_status give_up(enum row_choice *choice, const struct repair *repair,
                             recmap_error *error) {
    bool is_damaged;
    *choice = ROW_RAISED;
    RETURN_IF_FAILED(dataset_probe(&is_damaged, repair->filler->dataset,
                                   repair->filler->numbers[repair->index], error));
    return is_damaged ? RECMAP_CORRUPT : RECMAP_OK;
}

/* Takes the next record of the epoch, wrapping at its end, that was not tried and can be read. */
static recmap_status find_next(enum row_choice *choice, recmap_record *record,
                               struct repair *repair, recmap_error *error) {
    const recmap_deal *deal = repair->deal;
    uint64_t count = recmap_order_count(deal->order), position = position_of(repair);
    uint64_t tries_max = min_u64(count - 1, SUBSTITUTE_TRIES);
    while (repair->tries < tries_max) {
        uint64_t next = (position + ++repair->tries) % count, number;
        bool is_damaged;
        RETURN_IF_FAILED(recmap_order_at(&number, deal->order, deal->epoch, &next, 1, error));
        RETURN_IF_FAILED(read_copy(record, &is_damaged, repair, number, error));
        if (is_damaged) continue;
        struct filled_batch *result = repair->result;
        result->batch->records[repair->index] = *record;
        result->skipped[result->skipped_count - 1].substitute = number;
        *choice = ROW_REPLACED;
        return RECMAP_OK;
    }
    return give_up(choice, repair, error);
}

static recmap_status choose(enum row_choice *choice, recmap_record *record, void *context,
                            size_t index, recmap_error *error) {
    struct repair *repair = context;
    if (!repair->has_failed || repair->index != index) {
        repair->has_failed = true;
        repair->index = index;
        repair->tries = 0;
        RETURN_IF_FAILED(list_skipped(repair, error));
    }
    if (repair->filler->policy == RECMAP_ON_BAD_RECORD_SUBSTITUTE)
        return find_next(choice, record, repair, error);
    repair->result->batch->records[index].number = LEFT_OUT;
    *choice = ROW_LEFT_OUT;
    return RECMAP_OK;
}

/* Removes the records that were left out, as the columns did with their rows. */
static void close_up(recmap_batch *batch) {
    size_t kept = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->records[i].number == LEFT_OUT) continue;
        batch_move_place(batch, kept, i);
        batch->records[kept++] = batch->records[i];
    }
    batch->count = kept;
}

/* Gathers and parses. If a record is damaged, the others are read around it. */
static recmap_status gather_and_parse(struct filled_batch *result, const struct filler *filler,
                                      size_t count, bool was_read, recmap_error *error) {
    recmap_batch *batch = result->batch;
    recmap_status status =
        was_read ? RECMAP_OK
                 : recmap_dataset_gather(batch, filler->dataset, filler->numbers, count, error);
    if (status != RECMAP_OK && status != RECMAP_CORRUPT) return status;
    uint64_t started_ns = clock_ns();
    if (status == RECMAP_OK)
        status = dataset_parse_batch(batch, filler->dataset, filler->parser, RECMAP_PARSE_COLLECT,
                                     error);
    else
        status = dataset_parse_readable(batch, filler->dataset, filler->parser, filler->numbers,
                                        count, error);
    result->parse_ns += clock_ns() - started_ns;
    return status;
}

recmap_status repair_parse(struct filled_batch *result, struct filler *filler,
                           const recmap_deal *deal, const recmap_share *share, bool was_read,
                           recmap_error *error) {
    struct repair repair = {
        .result = result, .filler = filler, .deal = deal, .share = share, .has_failed = false};
    const struct row_repair choices = {choose, &repair};
    batch_set_repair(result->batch, &choices);
    recmap_status status = gather_and_parse(result, filler, (size_t)share->count, was_read, error);
    batch_set_repair(result->batch, NULL);
    if (status == RECMAP_OK) close_up(result->batch);
    else recmap_batch_clear(result->batch);
    return status;
}
