/* A state as JSON: one object, whose checksum is that of the bytes of the same values. */
#include <jansson.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "state/state.h"

/* A number as bytes in the order in which people write its digits. */
static void store_digits(uint8_t bytes[8], uint64_t value) {
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (56 - 8 * i));
}

static void write_members(json_writer *json, const recmap_state_info *info, uint64_t checksum) {
    uint8_t digits[8];
    store_digits(digits, checksum);
    json_key(json, "format_version");
    json_uint64(json, info->format_version);
    json_key(json, "fingerprint");
    json_hex(json, info->fingerprint.bytes, sizeof info->fingerprint.bytes);
    json_key(json, "record_count");
    json_uint64(json, info->record_count);
    json_key(json, "position_count");
    json_uint64(json, info->position_count);
    json_key(json, "order");
    json_text(json, info->order);
    json_key(json, "epoch");
    json_uint64(json, info->epoch);
    json_key(json, "position");
    json_uint64(json, info->position);
    json_key(json, "checksum");
    json_hex(json, digits, sizeof digits);
}

recmap_status recmap_state_to_json(recmap_text *text, const recmap_state *state,
                                   recmap_error *error) {
    uint64_t checksum;
    recmap_status status = state_checksum(&checksum, &state->info, error);
    if (status != RECMAP_OK) return status;
    size_t before = text->size;
    json_writer json = json_begin(text);
    json_open(&json, '{');
    write_members(&json, &state->info, checksum);
    json_close(&json, '}');
    if (!json.failed) return RECMAP_OK;
    text->size = before;
    if (text->data) text->data[before] = 0;
    return fail_memory(error);
}

static bool read_number(uint64_t *number, const json_t *object, const char *key) {
    const json_t *member = json_object_get(object, key);
    if (!json_is_integer(member) || json_integer_value(member) < 0) return false;
    *number = (uint64_t)json_integer_value(member);
    return true;
}

/* Lower-case digits only, so that a value has one text. */
static bool read_hex(uint8_t *bytes, size_t size, const json_t *object, const char *key) {
    static const char digits[] = "0123456789abcdef";
    const json_t *member = json_object_get(object, key);
    if (!json_is_string(member) || json_string_length(member) != 2 * size) return false;
    const char *text = json_string_value(member);
    for (size_t i = 0; i < size; i++) {
        const char *high = strchr(digits, text[2 * i]), *low = strchr(digits, text[2 * i + 1]);
        if (!high || !low) return false;
        bytes[i] = (uint8_t)((high - digits) << 4 | (low - digits));
    }
    return true;
}

static bool read_text(const char **text, const json_t *object, const char *key) {
    const json_t *member = json_object_get(object, key);
    *text = json_string_value(member);
    return *text != NULL;
}

/* The name of a member that is missing or of another kind; NULL when all are there. */
static const char *read_members(recmap_state_info *info, uint8_t checksum[8],
                                const json_t *object) {
    if (!read_hex(info->fingerprint.bytes, sizeof info->fingerprint.bytes, object, "fingerprint"))
        return "fingerprint";
    if (!read_number(&info->record_count, object, "record_count")) return "record_count";
    if (!read_number(&info->position_count, object, "position_count")) return "position_count";
    if (!read_text(&info->order, object, "order")) return "order";
    if (!read_number(&info->epoch, object, "epoch")) return "epoch";
    if (!read_number(&info->position, object, "position")) return "position";
    if (!read_hex(checksum, 8, object, "checksum")) return "checksum";
    return NULL;
}

enum { MEMBER_COUNT = 8 };

static recmap_status create_from(recmap_state **state, const json_t *object, recmap_error *error) {
    uint64_t version, due;
    uint8_t checksum[8], due_checksum[8];
    if (!json_is_object(object)) return state_fail(error, "it is no JSON object");
    if (!read_number(&version, object, "format_version"))
        return state_fail(error, "it has no format_version");
    if (version > RECMAP_STATE_FORMAT_VERSION) return state_fail_newer(error, version);
    recmap_state_info info = {.format_version = (uint32_t)version};
    const char *bad = read_members(&info, checksum, object);
    char reason[64];
    snprintf(reason, sizeof reason, "%s is missing or no such value", bad ? bad : "");
    if (bad) return state_fail(error, reason);
    if (json_object_size(object) != MEMBER_COUNT) return state_fail(error, "it has other members");
    const char *fault = state_fault(&info);
    if (fault) return state_fail(error, fault);
    recmap_status status = state_checksum(&due, &info, error);
    if (status != RECMAP_OK) return status;
    store_digits(due_checksum, due);
    if (memcmp(checksum, due_checksum, sizeof checksum))
        return state_fail(error, "its checksum does not hold");
    return recmap_state_create(state, &info, error);
}

recmap_status recmap_state_from_json(recmap_state **state, const char *text, size_t size,
                                     recmap_error *error) {
    if (size > STATE_SIZE_MOST) return state_fail(error, "it is larger than any state");
    json_error_t found;
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &found);
    if (!object) {
        if (json_error_code(&found) == json_error_out_of_memory) return fail_memory(error);
        char reason[JSON_ERROR_TEXT_LENGTH + 32];
        snprintf(reason, sizeof reason, "it is no JSON: %s", found.text);
        return state_fail(error, reason);
    }
    recmap_status status = create_from(state, object, error);
    json_decref(object);
    return status;
}
