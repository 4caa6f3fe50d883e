/* A loader's run: it begins where the loader was created, or moved to by its caller, and its steps
 * are counted from 0 over all epochs. A place of the run alone says how many steps precede it, so
 * nothing is counted while batches are filled, taken, or discarded and filled again. */
#include "base/core/error.h"
#include "loader/feed/loader.h"

/* Discards all batches that were filled ahead. The caller holds the lock. */
static void discard_batches_ahead(recmap_loader *loader) {
    loader->generation++;
    loader->is_stuck = false;
    for (size_t i = 0; i < loader->slot_count; i++) loader_clear_slot(loader, &loader->slots[i]);
    loader->issued = loader->taken = loader->wanted = 0;
    loader->statistics.batches_ready = 0;
}

static void move_to(recmap_loader *loader, const struct epoch_cursor *cursor) {
    pthread_mutex_lock(&loader->lock);
    discard_batches_ahead(loader);
    loader->cursor = *cursor;
    readahead_restart(&loader->readahead, cursor);
    pthread_cond_broadcast(&loader->changed_work);
    pthread_mutex_unlock(&loader->lock);
    loader->epoch = cursor->deal.epoch;
    loader->position = cursor->deal.position;
    loader->must_restart = false;
}

static recmap_status init_cursor(struct epoch_cursor *cursor, const recmap_loader *loader,
                                 uint64_t epoch, uint64_t position, recmap_error *error) {
    RETURN_IF_FAILED(epoch_cursor_init(cursor, loader_order_of(loader, epoch), epoch, position,
                                       &loader->deal, error));
    cursor->next_order = loader_order_of(loader, epoch + 1);
    return RECMAP_OK;
}

recmap_status loader_begin_run(recmap_loader *loader, uint64_t epoch, uint64_t position,
                               recmap_error *error) {
    struct epoch_cursor cursor;
    RETURN_IF_FAILED(init_cursor(&cursor, loader, epoch, position, error));
    move_to(loader, &cursor);
    loader_warm_stop(loader);
    loader->run_epoch = epoch;
    loader->run_position = position;
    return RECMAP_OK;
}

static recmap_status init_deal(recmap_deal *deal, const recmap_loader *loader, uint64_t epoch,
                               uint64_t position, recmap_error *error) {
    return recmap_deal_init(deal, loader_order_of(loader, epoch), epoch, position, &loader->deal,
                            error);
}

/* The epochs over old records, and those over all, have equally many steps each. */
static recmap_status count_epochs(uint64_t *count, const recmap_loader *loader, uint64_t first,
                                  uint64_t end, recmap_error *error) {
    const struct old_records *old = &loader->old;
    uint64_t split = old->order && old->last_epoch >= first ? old->last_epoch + 1 : first;
    if (split > end) split = end;
    recmap_deal deal;
    if (split > first) {
        RETURN_IF_FAILED(init_deal(&deal, loader, first, 0, error));
        *count += deal.step_count * (split - first);
    }
    if (end > split) {
        RETURN_IF_FAILED(init_deal(&deal, loader, split, 0, error));
        *count += deal.step_count * (end - split);
    }
    return RECMAP_OK;
}

/* The number of steps of the run before a place of it. */
static recmap_status count_steps_before(uint64_t *count, const recmap_loader *loader,
                                        const recmap_deal *place, recmap_error *error) {
    recmap_deal deal;
    *count = 0;
    if (place->epoch == loader->run_epoch && place->position == loader->run_position)
        return RECMAP_OK;
    RETURN_IF_FAILED(init_deal(&deal, loader, loader->run_epoch, loader->run_position, error));
    uint64_t first = deal.step_count;
    if (place->epoch == loader->run_epoch) {
        *count = first - place->step_count;
        return RECMAP_OK;
    }
    RETURN_IF_FAILED(init_deal(&deal, loader, place->epoch, 0, error));
    *count = first + deal.step_count - place->step_count;
    return count_epochs(count, loader, loader->run_epoch + 1, place->epoch, error);
}

static bool precedes_run(const recmap_loader *loader, uint64_t epoch, uint64_t position) {
    if (epoch != loader->run_epoch) return epoch < loader->run_epoch;
    return position < loader->run_position;
}

recmap_status loader_go_to(recmap_loader *loader, uint64_t epoch, uint64_t position,
                           recmap_error *error) {
    if (precedes_run(loader, epoch, position))
        return loader_begin_run(loader, epoch, position, error);
    struct epoch_cursor cursor;
    RETURN_IF_FAILED(init_cursor(&cursor, loader, epoch, position, error));
    RETURN_IF_FAILED(count_steps_before(&cursor.run_step, loader, &cursor.deal, error));
    move_to(loader, &cursor);
    return RECMAP_OK;
}

recmap_status recmap_loader_return(recmap_loader *loader, uint64_t epoch, uint64_t position,
                                   recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    return loader_go_to(loader, epoch, position, error);
}

/* The epochs over old records come first. If the step is past them, the search begins again with
 * the first epoch over all records. */
recmap_status recmap_loader_find_step(recmap_deal *deal, uint64_t *index,
                                      const recmap_loader *loader, uint64_t step,
                                      recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    uint64_t epoch = loader->run_epoch, position = loader->run_position;
    const struct old_records *old = &loader->old;
    if (old->order && epoch <= old->last_epoch) {
        recmap_deal first;
        RETURN_IF_FAILED(init_deal(&first, loader, epoch, position, error));
        uint64_t count = first.step_count;
        RETURN_IF_FAILED(count_epochs(&count, loader, epoch + 1, old->last_epoch + 1, error));
        if (step >= count) {
            step -= count;
            epoch = old->last_epoch + 1;
            position = 0;
        }
    }
    return recmap_deal_find_step(deal, index, loader_order_of(loader, epoch), epoch, position,
                                 &loader->deal, step, error);
}
