/* A state as protobuf bytes. The checksum is the last field, so it is checked before anything is
 * parsed. The parsed values must serialise to exactly the same bytes. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/proto.h"
#include "base/text/json.h"
#include "loader/state/state.h"
#include "state.pb-c.h"

/* Tag and value of the last field. */
enum { CHECKSUM_TAG = 8 << 3 | 1, CHECKSUM_SIZE = 1 + 8 };

/* Serialises the values with their checksum into malloc'ed bytes. Returns NULL without memory. */
static uint8_t *pack(size_t *size, uint64_t *checksum, const recmap_state_info *info) {
    Recmap__State message = RECMAP__STATE__INIT;
    message.format_version = info->format_version;
    message.fingerprint =
        (ProtobufCBinaryData){sizeof info->fingerprint.bytes, (uint8_t *)info->fingerprint.bytes};
    message.record_count = info->record_count;
    message.position_count = info->position_count;
    message.order = (char *)info->order;
    message.epoch = info->epoch;
    message.position = info->position;
    size_t values_size;
    uint8_t *bytes = proto_pack(&values_size, &message.base, CHECKSUM_SIZE);
    if (!bytes) return NULL;
    *checksum = XXH3_64bits(bytes, values_size);
    bytes[values_size] = CHECKSUM_TAG;
    store64(bytes + values_size + 1, *checksum);
    *size = values_size + CHECKSUM_SIZE;
    return bytes;
}

recmap_status state_checksum(uint64_t *checksum, const recmap_state_info *info,
                             recmap_error *error) {
    size_t size;
    uint8_t *bytes = pack(&size, checksum, info);
    free(bytes);
    return bytes ? RECMAP_OK : fail_memory(error);
}

recmap_status recmap_state_to_bytes(recmap_text *text, const recmap_state *state,
                                    recmap_error *error) {
    size_t size;
    uint64_t checksum;
    uint8_t *packed = pack(&size, &checksum, &state->info);
    bool appended = packed && text_append(text, (const char *)packed, size);
    free(packed);
    return appended ? RECMAP_OK : fail_memory(error);
}

static bool checksum_holds(const uint8_t *bytes, size_t size) {
    if (size < CHECKSUM_SIZE || bytes[size - CHECKSUM_SIZE] != CHECKSUM_TAG) return false;
    return load64(bytes + size - 8) == XXH3_64bits(bytes, size - CHECKSUM_SIZE);
}

/* Rejects unknown or repeated fields and other encodings: recmap does not write them. */
static recmap_status check_same(const recmap_state *state, const uint8_t *bytes, size_t size,
                                recmap_error *error) {
    size_t packed_size;
    uint64_t checksum;
    uint8_t *packed = pack(&packed_size, &checksum, &state->info);
    if (!packed) return fail_memory(error);
    bool is_same = packed_size == size && !memcmp(packed, bytes, size);
    free(packed);
    return is_same ? RECMAP_OK : state_fail(error, "its fields are not as a state has them");
}

static recmap_status create_from(recmap_state **state, const Recmap__State *message,
                                 recmap_error *error) {
    recmap_state_info info = {
        .format_version = message->format_version,
        .record_count = message->record_count,
        .position_count = message->position_count,
        .epoch = message->epoch,
        .position = message->position,
        .order = message->order,
    };
    if (info.format_version > RECMAP_STATE_FORMAT_VERSION)
        return state_fail_newer(error, info.format_version);
    if (message->fingerprint.len != sizeof info.fingerprint.bytes)
        return state_fail(error, "fingerprint is not 16 bytes");
    memcpy(info.fingerprint.bytes, message->fingerprint.data, sizeof info.fingerprint.bytes);
    const char *fault = state_fault(&info);
    return fault ? state_fail(error, fault) : state_allocate(state, &info, error);
}

recmap_status recmap_state_from_bytes(recmap_state **state, const void *bytes, size_t size,
                                      recmap_error *error) {
    if (!size) return state_fail(error, "it is empty");
    if (size > STATE_SIZE_MAX) return state_fail(error, "it is larger than any state");
    if (!checksum_holds(bytes, size)) return state_fail(error, "its checksum does not hold");
    bool out_of_memory;
    Recmap__State *message = proto_unpack(&out_of_memory, &recmap__state__descriptor, bytes, size);
    if (!message && out_of_memory) return fail_memory(error);
    if (!message) return state_fail(error, "it is not a protobuf message");
    recmap_state *fresh = NULL;
    recmap_status status = create_from(&fresh, message, error);
    recmap__state__free_unpacked(message, NULL);
    if (status == RECMAP_OK) status = check_same(fresh, bytes, size, error);
    if (status == RECMAP_OK) *state = fresh;
    else recmap_state_destroy(fresh);
    return status;
}
