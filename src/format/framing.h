/* A framing: how records lie in a file, behind one table of functions. Pure: bytes in, frames out.
 *
 * A frame is a record with what stands around it. Frames follow each other without a gap; bytes
 * that are no frame are damage. */
#ifndef RECMAP_FORMAT_FRAMING_H
#define RECMAP_FORMAT_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/crc_sums.h"

/* A frame found in bytes: sizes and places are relative to where parsing began. */
typedef struct frame {
    uint64_t size;        /* of the whole frame */
    uint64_t data_offset; /* of the payload, from the frame's start */
    uint64_t data_size;   /* of the payload */
    uint32_t check;       /* identifies the payload: its stored CRC, or a hash of it */
} frame;

typedef enum frame_verdict {
    FRAME_GOOD,
    FRAME_AT_END,     /* no bytes are left */
    FRAME_BAD_LENGTH, /* where it would end is unknown; nothing of `frame` is set */
    FRAME_BAD_DATA,   /* its length holds, its payload does not; `frame` is set */
} frame_verdict;

/* Why a frame is bad: one line, for people. Written only with a bad verdict. */
typedef struct frame_fault {
    char reason[160];
} frame_fault;

/* How much of a frame is checked. */
typedef enum frame_check {
    FRAME_CHECK_ALL,    /* header and payload */
    FRAME_CHECK_STORED, /* header; the stored check is read, but not held against the payload */
    FRAME_CHECK_HEADER, /* header alone: no byte behind it is touched, and `check` is not set */
} frame_check;

#define FRAME_NOWHERE UINT64_MAX

/* What a search may cost: places that must be looked at one by one, and payload that is read. */
typedef struct search_budget {
    uint64_t place_count;
    uint64_t payload_size;
} search_budget;

static const search_budget SEARCH_UNBOUNDED = {UINT64_MAX, UINT64_MAX};

typedef struct framing {
    const char *name; /* as it stands in the index */

    /* Bytes that a frame has beside its payload, and how many of them stand before it. */
    uint64_t overhead;
    uint64_t header_size;

    /* Looks at the frame that begins at bytes[0]. `fault` may be NULL. */
    frame_verdict (*parse)(frame *found, const uint8_t *bytes, uint64_t size, frame_check check,
                           frame_fault *fault);

    /* Whether the payload of `found`, parsed at bytes[at] with FRAME_CHECK_STORED, holds. With
     * `sums` bytes that were read for another frame are not read again. */
    frame_verdict (*check_payload)(const frame *found, const uint8_t *bytes, uint64_t at,
                                   crc_sums *sums, frame_fault *fault);

    /* Whether the bytes begin like a frame: its header holds, whatever follows. */
    bool (*begins_frame)(const uint8_t *bytes, uint64_t size);

    /* The first place in [from, limit) of `size` bytes where a whole good frame begins, or
     * FRAME_NOWHERE. It gives up rather than go over its budget; with `sums` (of the same bytes as
     * before) it reads no payload twice. */
    uint64_t (*find)(const uint8_t *bytes, uint64_t size, uint64_t from, uint64_t limit,
                     search_budget budget, crc_sums *sums);
} framing;

/* The framing of that name, or NULL. */
const framing *framing_by_name(const char *name);

#endif
