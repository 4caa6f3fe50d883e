#include "format/framing/custom.h"

#include <stdio.h>
#include <string.h>

#include "base/core/bytes.h"
#include "format/framing/fixed.h"

/* Reports the user's reason as a single line, whatever bytes it contains. */
static enum frame_verdict pass_on(struct frame_fault *fault, recmap_frame_fault *said) {
    said->reason[sizeof said->reason - 1] = 0;
    for (char *c = said->reason; *c; c++)
        if ((unsigned char)*c < 0x20) *c = ' ';
    const char *reason = said->reason[0] ? said->reason : "it is not a record";
    return frame_is_bad(fault, FRAME_BAD_LENGTH, "%s", reason);
}

/* Asks the application's callback, and checks that what it returned lies within the bytes that it
 * was given. */
static enum frame_verdict parse(struct frame *frame, const struct framing *framing,
                                const uint8_t *bytes, uint64_t size, enum frame_check check,
                                struct frame_fault *fault) {
    recmap_frame_fault said = {""};
    recmap_frame_place place = {0};
    if (size == 0) return FRAME_AT_END;
    switch (framing->custom->parse(&place, bytes, (size_t)size, &said, framing->custom->context)) {
    case RECMAP_FRAME_GOOD: break;
    case RECMAP_FRAME_END: return FRAME_AT_END;
    default: return pass_on(fault, &said);
    }
    if (!place.size || place.size > size ||
        !bytes_fit(place.data_offset, place.data_size, place.size))
        return frame_is_bad(fault, FRAME_BAD_LENGTH,
                            "the framing \"%s\" returned a record outside its frame or the file",
                            framing->name);
    *frame = (struct frame){place.size, place.data_offset, place.data_size, 0};
    if (check == FRAME_CHECK_STORED)
        frame->check = framing_hash(bytes + place.data_offset, place.data_size);
    return FRAME_GOOD;
}

static bool begins_frame(const struct framing *framing, const uint8_t *bytes, uint64_t size) {
    struct frame frame;
    return parse(&frame, framing, bytes, size, FRAME_CHECK_HEADER, NULL) == FRAME_GOOD;
}

static uint64_t find(const struct framing *framing, const uint8_t *bytes, uint64_t size,
                     uint64_t from, uint64_t limit, struct search_budget budget,
                     struct crc_sums *sums) {
    (void)budget;
    (void)sums;
    limit = min_u64(limit, size);
    if (from >= limit) return FRAME_NOWHERE;
    uint64_t at = framing->custom->find(bytes, (size_t)size, from, limit, framing->custom->context);
    return at >= from && at < limit ? at : FRAME_NOWHERE;
}

const char *custom_fault(const recmap_framing *table) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    struct framing own;
    if (table->version != RECMAP_FRAMING_VERSION)
        return "its version is not the one of this recmap";
    if (!table->name || !table->name[0]) return "it has no name";
    size_t size = strlen(table->name);
    if (size > CUSTOM_NAME_MAX) return "its name is longer than 63 bytes";
    if (strspn(table->name, allowed) != size)
        return "its name has characters other than letters, digits, _ and -";
    if (framing_init(&own, table->name) || !strcmp(table->name, "auto"))
        return "its name is the name of a built-in framing";
    if (!table->parse) return "it has no function `parse`";
    if (table->file_header_size > FIXED_MAX || table->file_footer_size > FIXED_MAX)
        return "its header or footer is larger than 2^48 bytes";
    return NULL;
}

struct framing custom_framing(const recmap_framing *table) {
    struct framing framing = {
        .overhead_varies = true,
        .file_header_size = table->file_header_size,
        .file_footer_size = table->file_footer_size,
        .custom = table,
        .parse = parse,
        .begins_frame = begins_frame,
        .find = table->find ? find : NULL,
        .guess = table->find ? find : NULL,
    };
    snprintf(framing.name, sizeof framing.name, "%.*s", CUSTOM_NAME_MAX, table->name);
    return framing;
}
