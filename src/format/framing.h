/* A framing: how records lie in a file, behind one table of functions. Pure: bytes in, frames out.
 *
 * A frame is a record with what stands around it. Frames follow each other without a gap; bytes
 * between them that are no frame are damage. A file may begin and end with bytes of its own. */
#ifndef RECMAP_FORMAT_FRAMING_H
#define RECMAP_FORMAT_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/framing.h>

#include "format/crc_sums.h"

/* A frame found in bytes: sizes and places are relative to where parsing began. */
struct frame {
    uint64_t size;        /* of the whole frame */
    uint64_t data_offset; /* of the payload, from the frame's start */
    uint64_t data_size;   /* of the payload */
    uint32_t check;       /* identifies the payload: its stored CRC, or a hash of it */
};

typedef enum frame_verdict {
    FRAME_GOOD,
    FRAME_AT_END,     /* no bytes are left */
    FRAME_BAD_LENGTH, /* where it would end is unknown; nothing of `frame` is set */
    FRAME_BAD_DATA,   /* its length holds, its payload does not; `frame` is set */
} frame_verdict;

/* Why a frame is bad: one line, for people. Written only with a bad verdict. */
struct frame_fault {
    char reason[160];
};

/* How much of a frame is checked. */
typedef enum frame_check {
    FRAME_CHECK_ALL,    /* header and payload, as far as the framing has checks */
    FRAME_CHECK_STORED, /* header; the stored check is read, but not held against the payload. Where
                           none is stored `check` is a hash of the payload */
    FRAME_CHECK_HEADER, /* header alone: no byte behind it is touched, and `check` is not set */
} frame_check;

#define FRAME_NOWHERE UINT64_MAX

/* What a search may cost: places that must be looked at one by one, and payload that is read. */
struct search_budget {
    uint64_t place_count;
    uint64_t payload_size;
};

static const struct search_budget SEARCH_UNBOUNDED = {UINT64_MAX, UINT64_MAX};

enum { FRAMING_NAME_SIZE = 80 };

/* Functions, and the parameters that they get with every call. */
struct framing;
struct framing {
    char name[FRAMING_NAME_SIZE]; /* with its parameters, as it stands in the index */

    /* Bytes that a frame has beside its payload, and how many of them stand before it. Where that
     * differs from frame to frame these are the least. */
    uint64_t overhead;
    uint64_t header_size;
    bool overhead_varies;

    /* Bytes at the beginning and at the end of a file that are no record. */
    uint64_t file_header_size;
    uint64_t file_footer_size;

    uint64_t record_size;         /* where all have one size */
    bool begins_behind;           /* what stands before a frame tells that it begins, as LF does */
    const recmap_framing *custom; /* where a user wrote it */

    /* Looks at the frame that begins at bytes[0]. `fault` may be NULL. */
    frame_verdict (*parse)(struct frame *frame, const struct framing *framing, const uint8_t *bytes,
                           uint64_t size, frame_check check, struct frame_fault *fault);

    /* Whether the payload of `found`, parsed at bytes[at] with FRAME_CHECK_STORED, holds. With
     * `sums` bytes that were read for another frame are not read again. NULL: no check is stored,
     * so any payload holds. */
    frame_verdict (*check_payload)(const struct frame *frame, const uint8_t *bytes, uint64_t at,
                                   struct crc_sums *sums, struct frame_fault *fault);

    /* Whether the bytes begin like a frame: its header holds, whatever follows. */
    bool (*begins_frame)(const struct framing *framing, const uint8_t *bytes, uint64_t size);

    /* The first place in [from, limit) of `size` bytes where a whole good frame begins, or
     * FRAME_NOWHERE. It gives up rather than go over its budget; with `sums` (of the same bytes as
     * before) it reads no payload twice. NULL: nothing tells; what follows damage is lost. */
    uint64_t (*find)(const struct framing *framing, const uint8_t *bytes, uint64_t size,
                     uint64_t from, uint64_t limit, struct search_budget budget,
                     struct crc_sums *sums);

    /* The same where a wrong answer does no harm, since it is only believed when the frames before
     * lead there. NULL: a file is walked from its beginning only. */
    uint64_t (*guess)(const struct framing *framing, const uint8_t *bytes, uint64_t size,
                      uint64_t from, uint64_t limit, struct search_budget budget,
                      struct crc_sums *sums);
};

/* The framing that recmap has under that name, parameters included: "tfrecord", "ofrecord",
 * "lines", "tar", "fixed:HEADER,RECORD,FOOTER". False: it has none. */
bool framing_make(struct framing *framing, const char *name);

/* Whether a frame of that size may hold a payload of that size. */
bool framing_fits(const struct framing *framing, uint64_t frame_size, uint64_t data_size);

/* What stands for the check of a payload where none is stored: 32 bits of its XXH3. */
uint32_t framing_hash(const uint8_t *data, uint64_t size);

/* Says why a frame is bad, where somebody asks, and returns the verdict. */
frame_verdict frame_is_bad(struct frame_fault *fault, frame_verdict verdict, const char *format,
                           ...) __attribute__((format(printf, 3, 4), cold));

#endif
