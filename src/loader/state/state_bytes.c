/* The checksum of a state, and reading states as protobuf bytes: recmap 0.2.0 wrote them, and
 * version 1 reads them. The checksum is the last field, so it is checked before anything is
 * parsed. The parsed values must serialise to bytes with the same checksum. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/proto.h"
#include "loader/state/state.h"
#include "state.pb-c.h"

/* Tag and value of the last field. */
enum { CHECKSUM_TAG = 8 << 3 | 1, CHECKSUM_SIZE = 1 + 8 };

recmap_status state_checksum(uint64_t *checksum, const recmap_state_info *info,
                             recmap_error *error) {
    Recmap__State message = RECMAP__STATE__INIT;
    message.format_version = info->format_version;
    message.fingerprint =
        (ProtobufCBinaryData){sizeof info->fingerprint.bytes, (uint8_t *)info->fingerprint.bytes};
    message.record_count = info->record_count;
    message.position_count = info->position_count;
    message.order = (char *)info->order;
    message.epoch = info->epoch;
    message.position = info->position;
    Recmap__Draws draws = RECMAP__DRAWS__INIT;
    draws.seed = info->draw_seed;
    if (info->has_draws) message.draws = &draws;
    size_t size;
    uint8_t *bytes = proto_pack(&size, &message.base, 0);
    if (!bytes) return fail_memory(error);
    *checksum = XXH3_64bits(bytes, size);
    free(bytes);
    return RECMAP_OK;
}

static bool checksum_holds(const uint8_t *bytes, size_t size) {
    if (size < CHECKSUM_SIZE || bytes[size - CHECKSUM_SIZE] != CHECKSUM_TAG) return false;
    return load64(bytes + size - 8) == XXH3_64bits(bytes, size - CHECKSUM_SIZE);
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
    return state_create_read(state, &info, message->checksum, error);
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
    recmap_status status = create_from(state, message, error);
    recmap__state__free_unpacked(message, NULL);
    return status;
}
