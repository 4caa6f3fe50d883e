/* Any bytes as a state, in both of its forms: refused, or a state that is written as JSON and read
 * again. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/recmap.h>

#include "fuzz/fuzz.h"

static void check(bool holds) {
    if (!holds) abort();
}

/* Writes the state, reads it back, and writes it again. */
static void check_state(const recmap_state *state) {
    recmap_text json = RECMAP_TEXT_INIT, again = RECMAP_TEXT_INIT;
    recmap_state *other;
    check(recmap_state_to_json(&json, state, NULL) == RECMAP_OK);
    check(recmap_state_from_json(&other, json.data, json.size, NULL) == RECMAP_OK);
    check(recmap_state_check(state, recmap_state_get_info(other), NULL) == RECMAP_OK);
    check(recmap_state_to_json(&again, other, NULL) == RECMAP_OK);
    check(again.size == json.size && !memcmp(again.data, json.data, json.size));
    recmap_state_destroy(other);
    recmap_text_deinit(&json);
    recmap_text_deinit(&again);
}

/* Compares the members of any description with another's. */
static void check_difference(const recmap_state *state) {
    recmap_state_info other = *recmap_state_get_info(state);
    recmap_error error = RECMAP_ERROR_INIT;
    other.order = "{\"kind\":\"shuffled\",\"n\":5,\"seed\":1}";
    recmap_status status = recmap_state_check(state, &other, &error);
    check(status == RECMAP_OK || (status == RECMAP_MISMATCH && error.message[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    recmap_state *state;
    if (recmap_state_from_bytes(&state, data, size, NULL) == RECMAP_OK) {
        check_state(state);
        check_difference(state);
        recmap_state_destroy(state);
    }
    if (recmap_state_from_json(&state, (const char *)data, size, NULL) == RECMAP_OK) {
        check_state(state);
        recmap_state_destroy(state);
    }
    /* As the text of an order in a state that is else sound: a checksum is hard to guess. */
    char *order = malloc(size + 1);
    check(order != NULL);
    memcpy(order, data, size);
    order[size] = 0;
    recmap_state_info info = {.format_version = RECMAP_STATE_FORMAT_VERSION, .order = order};
    if (recmap_state_create(&state, &info, NULL) == RECMAP_OK) {
        check_state(state);
        check_difference(state);
        recmap_state_destroy(state);
    }
    free(order);
    return 0;
}
