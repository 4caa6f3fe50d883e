#include "loader/feed/epoch_cursor.h"

#include <assert.h>
#include <inttypes.h>

#include <recmap/state.h>

#include "base/core/error.h"

recmap_status epoch_cursor_init(struct epoch_cursor *cursor, const recmap_order *order,
                                uint64_t epoch, uint64_t position,
                                const recmap_deal_options *options, recmap_error *error) {
    if (epoch > RECMAP_STATE_NUMBER_MAX)
        return fail(error, RECMAP_INVALID, "epoch %" PRIu64 " is above 2^62", epoch);
    struct epoch_cursor fresh = {.next_order = order};
    RETURN_IF_FAILED(recmap_deal_init(&fresh.deal, order, epoch, position, options, error));
    *cursor = fresh;
    return RECMAP_OK;
}

recmap_status epoch_cursor_next(struct epoch_step *step, struct epoch_cursor *cursor,
                                recmap_error *error) {
    if (cursor->is_over) {
        const recmap_deal *deal = &cursor->deal;
        const uint64_t run_step = cursor->run_step;
        RETURN_IF_FAILED(epoch_cursor_init(cursor, cursor->next_order, deal->epoch + 1, 0,
                                           &deal->options, error));
        cursor->run_step = run_step;
    }
    assert(cursor->step <= cursor->deal.step_count);
    *step = (struct epoch_step){cursor->deal, cursor->step, cursor->run_step,
                                cursor->step == cursor->deal.step_count};
    cursor->is_over = step->is_end;
    cursor->step += !step->is_end;
    cursor->run_step += !step->is_end;
    return RECMAP_OK;
}

recmap_status epoch_step_state(uint64_t *epoch, uint64_t *position, const struct epoch_step *step,
                               recmap_error *error) {
    if (!step->is_end)
        return recmap_deal_state(epoch, position, &step->deal, step->step + 1, error);
    *epoch = step->deal.epoch + 1;
    *position = 0;
    return RECMAP_OK;
}
