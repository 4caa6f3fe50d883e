#include "loader/feed/rows_filler.h"

#include <recmap/rows.h>

#include "base/core/error.h"
#include "dataset/batch/batch.h"

recmap_status rows_fill(recmap_batch *batch, struct filler *filler, const recmap_deal *deal,
                        const uint64_t *positions, size_t count, recmap_error *error) {
    const recmap_draws draws = {filler->draw_seed, deal->epoch, NULL};
    recmap_batch_set_draws(batch, &draws);
    return recmap_dataset_rows(batch, filler->dataset, deal->order, filler->parser, deal->epoch,
                               positions, count, error);
}

recmap_status rows_probe(bool *is_bad, struct filler *filler, const recmap_deal *deal,
                         uint64_t position, recmap_error *error) {
    if (!filler->single) RETURN_IF_FAILED(recmap_batch_create(&filler->single, error));
    batch_set_image_counts(filler->single, &filler->images);
    recmap_status status = rows_fill(filler->single, filler, deal, &position, 1, error);
    batch_set_image_counts(filler->single, NULL);
    *is_bad = status == RECMAP_CORRUPT || status == RECMAP_FEATURE;
    return *is_bad ? RECMAP_OK : status;
}

recmap_status rows_name_skipped(recmap_skipped *skipped, const recmap_deal *deal,
                                recmap_error *error) {
    recmap_status status =
        recmap_order_at(&skipped->number, deal->order, deal->epoch, &skipped->position, 1, error);
    if (status != RECMAP_OK || skipped->substitute == RECMAP_NO_RECORD) return status;
    uint64_t position = skipped->substitute;
    return recmap_order_at(&skipped->substitute, deal->order, deal->epoch, &position, 1, error);
}
