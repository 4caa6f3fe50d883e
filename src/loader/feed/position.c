/* A loader's position: reading, saving, loading and changing it. */
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "dataset/open/concat.h"
#include "loader/feed/loader.h"
#include "loader/state/state.h"
#include "parse/columns/columns.h"

static bool is_old(const recmap_loader *loader, uint64_t epoch) {
    return loader->old.order && epoch <= loader->old.last_epoch;
}

const recmap_order *loader_order_of(const recmap_loader *loader, uint64_t epoch) {
    return is_old(loader, epoch) ? loader->old.order : loader->order;
}

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
    RETURN_IF_FAILED(recmap_deal_init(&deal, loader_order_of(loader, loader->epoch), loader->epoch,
                                      loader->position, &loader->deal, error));
    *step_count = deal.step_count;
    return RECMAP_OK;
}

/* Returns true if the seed of draws is part of the run: a seed that was given may be used by
 * recmap_batch_seeds, and random images always use it. */
static bool has_draws(const recmap_loader *loader) {
    const recmap_parser *parser = loader->options.parser;
    return loader->options.draw_seed || (parser && columns_are_random(parser));
}

static recmap_state_info info_of_old(const recmap_loader *loader, const struct old_records *old) {
    return (recmap_state_info){
        .format_version = RECMAP_STATE_FORMAT_VERSION,
        .fingerprint = old->fingerprint,
        .record_count = old->count,
        .position_count = recmap_order_count(old->order),
        .epoch = loader->epoch,
        .position = loader->position,
        .order = old->order_text.data,
        .has_draws = has_draws(loader),
        .draw_seed = loader->options.draw_seed,
    };
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
        .has_draws = has_draws(loader),
        .draw_seed = loader->options.draw_seed,
    };
}

recmap_status recmap_loader_save(recmap_state **state, const recmap_loader *loader,
                                 recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    recmap_state_info info = is_old(loader, loader->epoch) ? info_of_old(loader, &loader->old)
                                                           : info_here(loader);
    return recmap_state_create(state, &info, error);
}

static void release_old(struct old_records *old) {
    recmap_text_deinit(&old->order_text);
    recmap_order_release(old->order);
    *old = (struct old_records){.order_text = RECMAP_TEXT_INIT};
}

/* Moves the loader to the position of a state whose epoch is over these old records, or none. After
 * an error it stays where it was. Workers may still use the order of those before. */
static recmap_status replace_old(recmap_loader *loader, const struct old_records *old,
                                 const recmap_state_info *info, recmap_error *error) {
    struct old_records former = loader->old;
    if (!array_reserve(&loader->retired, &loader->retired_capacity, loader->retired_count + 1,
                       sizeof *loader->retired))
        return fail_memory(error);
    loader->old = *old;
    recmap_status status = loader_begin_run(loader, info->epoch, info->position, error);
    if (status != RECMAP_OK) {
        loader->old = former;
        return status;
    }
    if (former.order) loader->retired[loader->retired_count++] = former.order;
    recmap_text_deinit(&former.order_text);
    return RECMAP_OK;
}

static recmap_status go_to_without_old(recmap_loader *loader, const recmap_state_info *info,
                                       recmap_error *error) {
    static const struct old_records none = {.order_text = RECMAP_TEXT_INIT};
    return replace_old(loader, &none, info, error);
}

recmap_status recmap_loader_seek(recmap_loader *loader, uint64_t epoch, uint64_t position,
                                 recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    return loader_begin_run(loader, epoch, position, error);
}

recmap_status recmap_loader_seek_record(recmap_loader *loader, uint64_t epoch, uint64_t number,
                                        recmap_error *error) {
    uint64_t position;
    RETURN_IF_FAILED(loader_check_process(loader, error));
    RETURN_IF_FAILED(
        recmap_order_position_of(&position, loader_order_of(loader, epoch), epoch, number, error));
    return loader_begin_run(loader, epoch, position, error);
}

recmap_status recmap_loader_load(recmap_loader *loader, const recmap_state *state,
                                 recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    recmap_state_info here = info_here(loader);
    const recmap_state_info *info = recmap_state_get_info(state);
    struct state_rule rule = {
        .has_grown = dataset_begins_with(loader->dataset, &info->fingerprint, info->record_count)};
    RETURN_IF_FAILED(state_compare(state, &here, rule, error));
    return go_to_without_old(loader, info, error);
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
    return go_to_without_old(loader, info, error);
}

/* Describes the old order, which belongs to the state's records. `old` must be released after a
 * failure too. */
static recmap_status init_old(struct old_records *old, recmap_loader *loader,
                              const recmap_state_info *info, recmap_order *order,
                              recmap_error *error) {
    *old = (struct old_records){.order_text = RECMAP_TEXT_INIT,
                                .fingerprint = info->fingerprint,
                                .count = info->record_count,
                                .last_epoch = info->epoch};
    old->order = recmap_order_retain(order);
    RETURN_IF_FAILED(loader_check_order(loader->dataset, order, loader->options.parser, error));
    return recmap_order_describe(&old->order_text, order, error);
}

static recmap_status load_old(recmap_loader *loader, const recmap_state *state,
                              const struct old_records *old, recmap_error *error) {
    const recmap_state_info *info = recmap_state_get_info(state);
    recmap_state_info expected = info_of_old(loader, old);
    RETURN_IF_FAILED(state_compare(state, &expected, (struct state_rule){false}, error));
    /* An epoch of which nothing was consumed is not finished, but begun with all records. */
    return info->position ? replace_old(loader, old, info, error)
                          : go_to_without_old(loader, info, error);
}

recmap_status recmap_loader_load_grown(recmap_loader *loader, const recmap_state *state,
                                       recmap_order *old_order, recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    const recmap_state_info *info = recmap_state_get_info(state);
    const recmap_dataset_info *here = recmap_dataset_get_info(loader->dataset);
    /* Of a join, one data set may have grown, and another one's view with it. */
    bool is_same = !memcmp(&info->fingerprint, &here->fingerprint, sizeof here->fingerprint) &&
                   info->position_count == recmap_order_count(loader->order);
    if (is_same || !dataset_begins_with(loader->dataset, &info->fingerprint, info->record_count))
        return recmap_loader_load(loader, state, error);
    struct old_records old;
    recmap_status status = init_old(&old, loader, info, old_order, error);
    if (status == RECMAP_OK) status = load_old(loader, state, &old, error);
    bool is_kept = status == RECMAP_OK && info->position;
    if (!is_kept) release_old(&old);
    return status;
}
