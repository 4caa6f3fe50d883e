/* A state as JSON: one object. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/text/json.h"
#include "base/text/json_reader.h"
#include "loader/state/state.h"

/* A number as bytes, most significant first, as its digits are written. */
static void store_digits(uint8_t bytes[8], uint64_t value) {
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (56 - 8 * i));
}

static uint64_t load_digits(const uint8_t bytes[8]) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | bytes[i];
    return value;
}

/* The members have a fixed order, so that equal states are equal texts. */
static void write_members(struct json_writer *json, const recmap_state_info *info,
                          uint64_t checksum) {
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
    if (info->has_draws) {
        json_key(json, "draws");
        json_open(json, '{');
        json_key(json, "seed");
        json_uint64(json, info->draw_seed);
        json_close(json, '}');
    }
    json_key(json, "checksum");
    json_hex(json, digits, sizeof digits);
}

recmap_status recmap_state_to_json(recmap_text *text, const recmap_state *state,
                                   recmap_error *error) {
    uint64_t checksum;
    RETURN_IF_FAILED(state_checksum(&checksum, &state->info, error));
    struct json_writer json = json_begin(text);
    json_open(&json, '{');
    write_members(&json, &state->info, checksum);
    json_close(&json, '}');
    return json_end(&json, error);
}

/* The members, in the order in which they are written, but for DRAWS, which a state may lack. */
enum {
    VERSION,
    FINGERPRINT,
    RECORDS,
    POSITIONS,
    ORDER,
    EPOCH,
    POSITION,
    CHECKSUM,
    REQUIRED_COUNT,
    DRAWS = REQUIRED_COUNT,
    MEMBER_COUNT
};

static const char *const names[MEMBER_COUNT] = {
    "format_version", "fingerprint", "record_count", "position_count", "order",
    "epoch",          "position",    "checksum",     "draws",
};

/* The members read so far. */
struct reading {
    struct json_reader reader;
    uint64_t numbers[MEMBER_COUNT]; /* the values of numeric members */
    uint8_t fingerprint[16];
    uint8_t checksum[8];
    char *order; /* `capacity` bytes */
    size_t capacity;
    bool is_there[MEMBER_COUNT];
    const char *bad; /* the first invalid member */
    bool is_other;   /* an unknown member was read */
};

/* Accepts lower-case digits only, so that a value has a single text. */
static bool read_hex(uint8_t *bytes, size_t size, struct json_reader *reader) {
    static const char digits[] = "0123456789abcdef";
    char text[33];
    if (!json_read_text(reader, text, sizeof text) || strlen(text) != 2 * size) return false;
    for (size_t i = 0; i < size; i++) {
        const char *high = strchr(digits, text[2 * i]), *low = strchr(digits, text[2 * i + 1]);
        if (!high || !low) return false;
        bytes[i] = (uint8_t)((high - digits) << 4 | (low - digits));
    }
    return true;
}

/* {"seed": 7} */
static bool read_draws(uint64_t *seed, struct json_reader *reader) {
    char name[8];
    return json_take(reader, '{') && json_read_text(reader, name, sizeof name) &&
           !strcmp(name, "seed") && json_take(reader, ':') && json_read_uint64(reader, seed) &&
           json_take(reader, '}');
}

static bool read_value(struct reading *reading, int member) {
    switch (member) {
    case DRAWS: return read_draws(&reading->numbers[DRAWS], &reading->reader);
    case FINGERPRINT:
        return read_hex(reading->fingerprint, sizeof reading->fingerprint, &reading->reader);
    case CHECKSUM: return read_hex(reading->checksum, sizeof reading->checksum, &reading->reader);
    case ORDER: return json_read_text(&reading->reader, reading->order, reading->capacity);
    default: return json_read_uint64(&reading->reader, &reading->numbers[member]);
    }
}

/* Reads one member. An invalid value is only noted, because the version, which decides about the
 * error, may follow it. */
static bool read_member(struct reading *reading) {
    char name[32];
    if (!json_read_text(&reading->reader, name, sizeof name) || !json_take(&reading->reader, ':'))
        return false;
    int member = 0;
    while (member < MEMBER_COUNT && strcmp(name, names[member])) member++;
    if (member == MEMBER_COUNT) {
        reading->is_other = true;
        json_skip_value(&reading->reader);
        return true;
    }
    const char *value = reading->reader.at;
    if (!reading->is_there[member] && read_value(reading, member)) {
        reading->is_there[member] = true;
        return true;
    }
    if (!reading->bad) reading->bad = names[member];
    reading->reader.at = value;
    json_skip_value(&reading->reader);
    return true;
}

static bool read_object(struct reading *reading) {
    if (!json_take(&reading->reader, '{')) return false;
    if (!json_take(&reading->reader, '}')) {
        do
            if (!read_member(reading)) return false;
        while (json_take(&reading->reader, ','));
        if (!json_take(&reading->reader, '}')) return false;
    }
    return json_at_end(&reading->reader);
}

static recmap_status check_members(struct reading *reading, recmap_error *error) {
    char reason[64];
    if (!reading->is_there[VERSION]) return state_fail(error, "it has no format_version");
    if (reading->numbers[VERSION] > RECMAP_STATE_FORMAT_VERSION)
        return state_fail_newer(error, reading->numbers[VERSION]);
    for (int i = 0; !reading->bad && i < REQUIRED_COUNT; i++)
        if (!reading->is_there[i]) reading->bad = names[i];
    snprintf(reason, sizeof reason, "%s is missing or no such value",
             reading->bad ? reading->bad : "");
    if (reading->bad) return state_fail(error, reason);
    return reading->is_other ? state_fail(error, "it has other members") : RECMAP_OK;
}

static recmap_status create_from(recmap_state **state, const struct reading *reading,
                                 recmap_error *error) {
    recmap_state_info info = {
        .format_version = (uint32_t)reading->numbers[VERSION],
        .record_count = reading->numbers[RECORDS],
        .position_count = reading->numbers[POSITIONS],
        .epoch = reading->numbers[EPOCH],
        .position = reading->numbers[POSITION],
        .order = reading->order,
        .has_draws = reading->is_there[DRAWS],
        .draw_seed = reading->is_there[DRAWS] ? reading->numbers[DRAWS] : 0,
    };
    assert(strlen(info.order) < reading->capacity);
    memcpy(info.fingerprint.bytes, reading->fingerprint, sizeof reading->fingerprint);
    return state_create_read(state, &info, load_digits(reading->checksum), error);
}

static recmap_status read_state(recmap_state **state, struct reading *reading,
                                recmap_error *error) {
    if (!read_object(reading)) return state_fail(error, "it is not the JSON object of a state");
    RETURN_IF_FAILED(check_members(reading, error));
    return create_from(state, reading, error);
}

recmap_status recmap_state_from_json(recmap_state **state, const char *text, size_t size,
                                     recmap_error *error) {
    if (size > STATE_SIZE_MAX) return state_fail(error, "it is larger than any state");
    struct reading reading = {.reader = {text, text + size}, .capacity = size + 1};
    reading.order = malloc(reading.capacity);
    if (!reading.order) return fail_memory(error);
    recmap_status status = read_state(state, &reading, error);
    free(reading.order);
    return status;
}
