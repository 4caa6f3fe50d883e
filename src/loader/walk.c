#include "loader/walk.h"

#include <recmap/state.h>

#include "base/error.h"

recmap_status walk_begin(struct walk *begun, const recmap_order *order, uint64_t epoch,
                         uint64_t position, const recmap_deal_options *options,
                         recmap_error *error) {
    if (epoch > RECMAP_STATE_NUMBER_MAX)
        return fail(error, RECMAP_INVALID, "epoch %llu is above 2^62", (unsigned long long)epoch);
    struct walk made = {.step = 0};
    recmap_status status = recmap_deal_init(&made.deal, order, epoch, position, options, error);
    if (status == RECMAP_OK) *begun = made;
    return status;
}

recmap_status walk_next(struct station *at, struct walk *walking, recmap_error *error) {
    if (walking->is_over) {
        const recmap_deal *deal = &walking->deal;
        recmap_status status =
            walk_begin(walking, deal->order, deal->epoch + 1, 0, &deal->options, error);
        if (status != RECMAP_OK) return status;
    }
    *at = (struct station){walking->deal, walking->step, walking->step == walking->deal.step_count};
    if (at->is_end) walking->is_over = true;
    else walking->step++;
    return RECMAP_OK;
}

recmap_status station_state(uint64_t *epoch, uint64_t *position, const struct station *at,
                            recmap_error *error) {
    if (!at->is_end) return recmap_deal_state(epoch, position, &at->deal, at->step + 1, error);
    *epoch = at->deal.epoch + 1;
    *position = 0;
    return RECMAP_OK;
}
