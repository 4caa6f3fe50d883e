#include "loader/feed/rows_filler.h"

#include <recmap/rows.h>

#include "base/core/error.h"
#include "dataset/batch/batch.h"
#include "loader/feed/repair.h"

void rows_set_draws(recmap_batch *batch, const struct filler *filler, const recmap_deal *deal) {
    const recmap_draws draws = {.seed = filler->draw_seed, .epoch = deal->epoch};
    recmap_batch_set_draws(batch, &draws);
}

recmap_status rows_fill(recmap_batch *batch, struct filler *filler, const recmap_deal *deal,
                        const uint64_t *positions, size_t count, recmap_error *error) {
    rows_set_draws(batch, filler, deal);
    return recmap_dataset_rows(batch, filler->dataset, deal->order, filler->parser, deal->epoch,
                               positions, count, error);
}

/* Sets `is_bad` to whether a record of the row is bad, and `cause` to the reason. Other failures
 * are returned. */
static recmap_status rows_probe(bool *is_bad, recmap_error *cause, struct filler *filler,
                                const recmap_deal *deal, uint64_t position, recmap_error *error) {
    if (!filler->single) RETURN_IF_FAILED(recmap_batch_create(&filler->single, error));
    batch_set_image_counts(filler->single, &filler->images);
    recmap_status status = rows_fill(filler->single, filler, deal, &position, 1, cause);
    batch_set_image_counts(filler->single, NULL);
    *is_bad = status == RECMAP_CORRUPT || status == RECMAP_FEATURE;
    if (status == RECMAP_OK || *is_bad) return RECMAP_OK;
    if (error) *error = *cause;
    return status;
}

/* Replaces the positions of a skipped row and its substitute by their row numbers. */
static recmap_status rows_name_skipped(recmap_skipped *skipped, const recmap_deal *deal,
                                       recmap_error *error) {
    recmap_status status =
        recmap_order_at(&skipped->number, deal->order, deal->epoch, &skipped->position, 1, error);
    if (status != RECMAP_OK || skipped->substitute == RECMAP_NO_RECORD) return status;
    uint64_t position = skipped->substitute;
    return recmap_order_at(&skipped->substitute, deal->order, deal->epoch, &position, 1, error);
}

/* Checks the row at `*position`, and sets that to the position of the row in its place, if any. */
static recmap_status choose(bool *is_kept, uint64_t *position, struct repair *repair,
                            struct filler *filler, size_t index, recmap_error *error) {
    struct filled_batch *result = repair->result;
    const recmap_deal *deal = repair->deal;
    uint64_t number = *position;
    recmap_error first, other;
    bool is_bad;
    RETURN_IF_FAILED(rows_probe(&is_bad, &first, filler, deal, number, error));
    *is_kept = !is_bad;
    if (!is_bad) return RECMAP_OK;
    while (is_bad) {
        enum row_choice choice;
        RETURN_IF_FAILED(repair_next(&choice, position, repair, index, number, error));
        if (choice == ROW_RAISED && error) *error = first;
        if (choice == ROW_RAISED) return first.status;
        *is_kept = choice == ROW_REPLACED;
        if (!*is_kept) break;
        RETURN_IF_FAILED(rows_probe(&is_bad, &other, filler, deal, *position, error));
    }
    return rows_name_skipped(&result->skipped[result->skipped_count - 1], deal, error);
}

/* Rows are not repaired while they are cut, as records are while they are parsed. A row has pieces
 * of several records, a record may be in several rows, and only the parts of it that these rows
 * need are read, each once: leaving out or replacing a row changes which records and which parts
 * are read, for the other rows of the batch too. So after a failure the rows are cut one by one, to
 * find those that are bad, and those that are left are read together once more. */
static recmap_status fill_around(struct filled_batch *result, struct filler *filler,
                                 const recmap_deal *deal, const recmap_share *share,
                                 recmap_error *error) {
    struct repair repair = {
        .result = result, .filler = filler, .deal = deal, .first = share->first};
    size_t kept_count = 0;
    for (size_t i = 0; i < (size_t)share->count; i++) {
        uint64_t position = filler->numbers[i];
        bool is_kept;
        RETURN_IF_FAILED(choose(&is_kept, &position, &repair, filler, i, error));
        if (is_kept) filler->numbers[kept_count++] = position;
    }
    return rows_fill(result->batch, filler, deal, filler->numbers, kept_count, error);
}

recmap_status rows_fill_good(struct filled_batch *result, struct filler *filler,
                             const recmap_deal *deal, const recmap_share *share,
                             recmap_error *error) {
    recmap_status status =
        rows_fill(result->batch, filler, deal, filler->numbers, (size_t)share->count, error);
    bool is_bad = status == RECMAP_CORRUPT || status == RECMAP_FEATURE;
    if (!is_bad || filler->policy == RECMAP_ON_BAD_RECORD_ERROR) return status;
    return fill_around(result, filler, deal, share, error);
}
