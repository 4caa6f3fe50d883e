/* A loader's position: reading, saving, loading and changing it. */
#include "base/error.h"
#include "dataset/concat.h"
#include "loader/loader.h"
#include "state/state.h"

recmap_status recmap_loader_tell(uint64_t *epoch, uint64_t *position, const recmap_loader *loader,
                                 recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    *epoch = loader->epoch;
    *position = loader->position;
    return RECMAP_OK;
}

recmap_status recmap_loader_steps_left(uint64_t *step_count, const recmap_loader *loader,
                                       recmap_error *error) {
    recmap_deal deal;
    RETURN_IF_FAILED(loader_check_process(loader, error));
    RETURN_IF_FAILED(recmap_deal_init(&deal, loader->order, loader->epoch, loader->position,
                                      &loader->deal, error));
    *step_count = deal.step_count;
    return RECMAP_OK;
}

static recmap_state_info info_here(const recmap_loader *loader) {
    const recmap_dataset_info *info = recmap_dataset_get_info(loader->dataset);
    return (recmap_state_info){
        .format_version = RECMAP_STATE_FORMAT_VERSION,
        .fingerprint = info->fingerprint,
        .record_count = info->record_count,
        .position_count = recmap_order_count(loader->order),
        .epoch = loader->epoch,
        .position = loader->position,
        .order = loader->order_text.data,
    };
}

recmap_status recmap_loader_save(recmap_state **state, const recmap_loader *loader,
                                 recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    recmap_state_info info = info_here(loader);
    return recmap_state_create(state, &info, error);
}

/* Discards all batches that were filled ahead. The caller holds the lock. */
static void discard_batches_ahead(recmap_loader *loader) {
    loader->generation++;
    loader->is_stuck = false;
    for (size_t i = 0; i < loader->slot_count; i++) loader_clear_slot(loader, &loader->slots[i]);
    loader->issued = loader->taken = loader->wanted = 0;
    loader->statistics.batches_ready = 0;
}

recmap_status loader_go_to(recmap_loader *loader, uint64_t epoch, uint64_t position,
                           recmap_error *error) {
    struct epoch_cursor cursor;
    RETURN_IF_FAILED(
        epoch_cursor_init(&cursor, loader->order, epoch, position, &loader->deal, error));
    pthread_mutex_lock(&loader->lock);
    discard_batches_ahead(loader);
    loader->cursor = cursor;
    readahead_restart(&loader->readahead, &cursor);
    pthread_cond_broadcast(&loader->changed_work);
    pthread_mutex_unlock(&loader->lock);
    loader->epoch = epoch;
    loader->position = position;
    loader->must_restart = false;
    return RECMAP_OK;
}

recmap_status recmap_loader_seek(recmap_loader *loader, uint64_t epoch, uint64_t position,
                                 recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    return loader_go_to(loader, epoch, position, error);
}

recmap_status recmap_loader_seek_record(recmap_loader *loader, uint64_t epoch, uint64_t number,
                                        recmap_error *error) {
    uint64_t position;
    RETURN_IF_FAILED(loader_check_process(loader, error));
    RETURN_IF_FAILED(recmap_order_position_of(&position, loader->order, epoch, number, error));
    return loader_go_to(loader, epoch, position, error);
}

recmap_status recmap_loader_load(recmap_loader *loader, const recmap_state *state,
                                 recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    recmap_state_info here = info_here(loader);
    const recmap_state_info *info = recmap_state_get_info(state);
    struct state_rule rule = {
        .has_grown = dataset_begins_with(loader->dataset, &info->fingerprint, info->record_count)};
    RETURN_IF_FAILED(state_compare(state, &here, rule, error));
    return loader_go_to(loader, info->epoch, info->position, error);
}

recmap_status recmap_loader_load_continued(recmap_loader *loader, const recmap_state *state,
                                           recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    recmap_state_info here = info_here(loader);
    const recmap_state_info *info = recmap_state_get_info(state);
    if (dataset_begins_with(loader->dataset, &info->fingerprint, info->record_count)) {
        here.fingerprint = info->fingerprint;
        here.record_count = info->record_count;
    }
    RETURN_IF_FAILED(recmap_state_check_continued(state, &here, error));
    return loader_go_to(loader, info->epoch, info->position, error);
}
