#include "loader/state/state.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/order.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/text/json.h"
#include "loader/state/description.h"

static bool order_is_sound(const char *order) {
    size_t size = order ? strlen(order) : 0;
    return size >= 2 && order[0] == '{' && order[size - 1] == '}' &&
           size <= RECMAP_ORDER_DESCRIPTION_MAX && utf8_valid((const uint8_t *)order, size);
}

static const char *state_fault(const recmap_state_info *info) {
    if (info->format_version != RECMAP_STATE_FORMAT_VERSION) return "format_version is not 1";
    if (info->record_count > RECMAP_STATE_NUMBER_MAX) return "record_count is above 2^62";
    if (info->position_count > RECMAP_STATE_NUMBER_MAX) return "position_count is above 2^62";
    if (info->epoch > RECMAP_STATE_NUMBER_MAX) return "epoch is above 2^62";
    if (info->position > info->position_count) return "position is after the end of the epoch";
    if (!are_unused(info->reserved, sizeof info->reserved / sizeof *info->reserved))
        return "a reserved member is not 0";
    if (!order_is_sound(info->order)) return "order is not the description of an order";
    return NULL;
}

static recmap_status allocate(recmap_state **state, const recmap_state_info *info,
                              recmap_error *error) {
    recmap_state *fresh = malloc(sizeof *fresh);
    char *order = strdup(info->order);
    if (!fresh || !order) {
        free(fresh);
        free(order);
        return fail_memory(error);
    }
    fresh->info = *info;
    fresh->order = order;
    fresh->info.order = order;
    assert(!state_fault(&fresh->info));
    *state = fresh;
    return RECMAP_OK;
}

/* The values are checked first: their errors say what is wrong. A checksum that differs then means
 * that one of them was changed. */
recmap_status state_create_read(recmap_state **state, const recmap_state_info *info,
                                uint64_t checksum, recmap_error *error) {
    uint64_t expected;
    const char *fault = state_fault(info);
    if (fault) return state_fail(error, fault);
    RETURN_IF_FAILED(state_checksum(&expected, info, error));
    if (checksum != expected) return state_fail(error, "its checksum does not hold");
    return allocate(state, info, error);
}

recmap_status recmap_state_create(recmap_state **state, const recmap_state_info *info,
                                  recmap_error *error) {
    const char *fault = state_fault(info);
    if (fault) return fail(error, RECMAP_INVALID, "invalid values for a state: %s", fault);
    RETURN_IF_FAILED(allocate(state, info, error));
    description_shorten((*state)->order);
    assert(!state_fault(&(*state)->info));
    return RECMAP_OK;
}

void recmap_state_destroy(recmap_state *state) {
    if (!state) return;
    free(state->order);
    free(state);
}

const recmap_state_info *recmap_state_get_info(const recmap_state *state) {
    return &state->info;
}

recmap_status state_fail(recmap_error *error, const char *reason) {
    fail(error, RECMAP_CORRUPT, "the state cannot be loaded: %s", reason);
    fail_advise(error, "take an earlier checkpoint, or set epoch and position by hand with seek");
    return RECMAP_CORRUPT;
}

recmap_status state_fail_newer(recmap_error *error, uint64_t version) {
    fail(error, RECMAP_UNSUPPORTED,
         "the state has format version %" PRIu64 "; this recmap reads %d", version,
         RECMAP_STATE_FORMAT_VERSION);
    fail_advise(error, "load it with the version of recmap that wrote it, or a later one");
    return RECMAP_UNSUPPORTED;
}
