#include "parse/decode/raw_zlib.h"

#include <stdlib.h>

#include "base/core/bytes.h"
#include "format/deflate/inflate.h"

enum {
    RATIO_GUESS = 4,  /* the room at first, as a multiple of the stream */
    RATIO_MAX = 1100, /* deflate packs at most 1,032 bytes into one */
    ROOM_MIN = 256,
};

/* Messages of the inflater speak of a file if it ends too early. */
static const char *reason_of(const struct inflater *inflater, size_t size) {
    const struct inflate_fault *fault = inflater_fault(inflater);
    return fault->at >= size ? "it is cut off" : fault->reason;
}

static struct raw_zlib fail_stream(struct raw_zlib *value, const char *reason) {
    free(value->bytes);
    return (struct raw_zlib){.reason = reason};
}

static size_t room_of(size_t size, size_t ratio, size_t most) {
    size_t room = size > most / ratio ? most : size * ratio;
    return room < ROOM_MIN ? ROOM_MIN : room;
}

/* Inflates in rounds; the room is doubled before each but the first. One byte more than is of use
 * tells that the stream is too large. */
static struct raw_zlib inflate_rounds(struct inflater *inflater, size_t size, size_t most) {
    struct raw_zlib value = {0};
    size_t last = room_of(size, RATIO_MAX, most) + 1;
    size_t room = room_of(size, RATIO_GUESS, most) + 1;
    while (true) {
        size_t got;
        uint8_t *bytes = realloc(value.bytes, room);
        if (!bytes) return fail_stream(&value, NULL);
        value.bytes = bytes;
        enum inflate_verdict verdict =
            inflater_read(&got, inflater, bytes + value.size, room - value.size, false);
        value.size += got;
        if (verdict == INFLATE_WRONG_SUM)
            return fail_stream(&value, "its checksum does not match its bytes");
        if (verdict == INFLATE_BAD) return fail_stream(&value, reason_of(inflater, size));
        if (value.size > most || (verdict == INFLATE_OK && room == last))
            return fail_stream(&value, "it has more values than are wanted");
        if (verdict == INFLATE_END) return value;
        room = room > last / 2 ? last : room * 2;
    }
}

struct raw_zlib raw_zlib_inflate(const uint8_t *data, size_t size, size_t most) {
    const struct inflate_source source = {.bytes = data, .size = size, .read_end = size};
    if (!compression_begins(COMPRESSION_ZLIB, data, size))
        return (struct raw_zlib){.reason = "it does not begin as one"};
    struct inflater *inflater = inflater_create(COMPRESSION_ZLIB, &source);
    if (!inflater) return (struct raw_zlib){0};
    inflater_start(inflater, 0, 0);
    struct raw_zlib value = inflate_rounds(inflater, size, most);
    inflater_destroy(inflater);
    return value;
}
