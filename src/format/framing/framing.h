/* A framing is one way to store records in a file, given as a table of functions. Pure: bytes in,
 * frames out.
 *
 * A frame is a record with its header and footer. Frames follow each other without gaps; any bytes
 * between them are damage. A file may start and end with bytes that belong to no record. */
#ifndef RECMAP_FORMAT_FRAMING_FRAMING_H
#define RECMAP_FORMAT_FRAMING_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/framing.h>

#include "format/framing/crc_sums.h"

/* A parsed frame. All sizes and offsets are relative to the byte where parsing started. */
struct frame {
    uint64_t size;        /* of the whole frame */
    uint64_t data_offset; /* of the payload, from the frame's start */
    uint64_t data_size;   /* of the payload */
    uint32_t check;       /* identifies the payload: its stored CRC, or a hash of the payload */
};

enum frame_verdict {
    FRAME_GOOD,
    FRAME_AT_END,     /* no bytes are left */
    FRAME_BAD_LENGTH, /* the frame's end is unknown; nothing in `frame` is set */
    FRAME_BAD_DATA,   /* the length is valid but the payload is not; `frame` is set */
};

/* Why a frame is bad, as one line of text. Set only if the verdict is bad. */
struct frame_fault {
    char reason[160];
};

/* The key that names a record in its file. */
struct frame_key {
    uint64_t hash;
    char text[256];       /* cut to this size */
    uint64_t repeated_at; /* where in the frame a file begins that is in the record twice, or
                             FRAME_NOWHERE */
};

/* How much of a frame to check. */
enum frame_check {
    FRAME_CHECK_ALL,    /* header and payload, as far as the framing has checksums */
    FRAME_CHECK_STORED, /* the header; `check` is set to the stored checksum, unverified, or to a
                            hash of the payload if the framing stores none */
    FRAME_CHECK_HEADER, /* the header only: reads no bytes after it and leaves `check` unset */
};

#define FRAME_NOWHERE UINT64_MAX

/* Limits the cost of a search: the number of candidate offsets to examine, and the bytes of payload
 * to read. */
struct search_budget {
    uint64_t place_count;
    uint64_t payload_size;
};

static const struct search_budget SEARCH_UNBOUNDED = {UINT64_MAX, UINT64_MAX};

enum { FRAMING_NAME_SIZE = 80 };

/* A framing's functions, and the parameters they receive with every call. */
struct framing;
struct framing {
    char name[FRAMING_NAME_SIZE]; /* with its parameters, as stored in the index */

    /* The bytes that a frame adds to its payload, and how many of them precede the payload. If they
     * vary between frames, these are the minimum. */
    uint64_t overhead;
    uint64_t header_size;
    bool overhead_varies;

    /* The bytes at the start and at the end of a file that are not part of a record. */
    uint64_t file_header_size;
    uint64_t file_footer_size;

    /* Reads the key of a good frame's record. Returns false without memory. NULL if records have
     * none. */
    bool (*read_key)(struct frame_key *key, const uint8_t *frame, uint64_t size);

    char separator;       /* between the fields of a row of text; 0: records are not rows */
    bool has_quotes;      /* fields may be in quotes, with separators and line feeds in them */
    bool has_header;      /* the first frame of a file names the fields, and is not a record */
    uint64_t search_size; /* how far the end of a frame is searched for. If none is found, those
                             that begin before the search ended are single lines: see
                             scan_cursor. 0: the end is known, or always found */

    uint64_t record_size;         /* nonzero if all records have one size */
    bool has_delimiter;           /* the byte before a frame marks its start, as LF does */
    const char *missing_end;      /* "no line feed": what a file lacks that ends with the payload of
                                     its last record. NULL if such a file is complete, or damaged */
    bool can_grow;                /* after the last frame of a file, another frame can be written */
    const recmap_framing *custom; /* set for a user's framing */

    /* Parses the frame that starts at bytes[0]. `fault` may be NULL. */
    enum frame_verdict (*parse)(struct frame *frame, const struct framing *framing,
                                const uint8_t *bytes, uint64_t size, enum frame_check check,
                                struct frame_fault *fault);

    /* Verifies the payload of `frame`, which was parsed at bytes[at] with FRAME_CHECK_STORED. With
     * `sums`, bytes already read for another frame are not read again. NULL if the framing stores
     * no checksum: every payload is then valid. */
    enum frame_verdict (*check_payload)(const struct frame *frame, const uint8_t *bytes,
                                        uint64_t at, struct crc_sums *sums,
                                        struct frame_fault *fault);

    /* Returns whether the bytes start with a valid frame header, whatever follows it. */
    bool (*begins_frame)(const struct framing *framing, const uint8_t *bytes, uint64_t size);

    /* Returns the first offset in [from, limit) of `size` bytes where a complete, valid frame
     * starts, or FRAME_NOWHERE if there is none or the budget is spent. With `sums` (of the same
     * bytes as in earlier calls), no payload is read twice. NULL if frames cannot be recognized:
     * everything after damage is then lost. */
    uint64_t (*find)(const struct framing *framing, const uint8_t *bytes, uint64_t size,
                     uint64_t from, uint64_t limit, struct search_budget budget,
                     struct crc_sums *sums);

    /* Like `find`, but may be wrong: the caller uses the result only once the scan of the preceding
     * frames ends exactly there. NULL if the file can only be scanned from its start. */
    uint64_t (*guess)(const struct framing *framing, const uint8_t *bytes, uint64_t size,
                      uint64_t from, uint64_t limit, struct search_budget budget,
                      struct crc_sums *sums);
};

/* Looks up a built-in framing by its name including parameters: "tfrecord", "ofrecord", "lines",
 * "tar", "csv" with its options, or "fixed:HEADER,RECORD,FOOTER". Returns false if there is none.
 */
bool framing_init(struct framing *framing, const char *name);

/* Returns whether a frame of `frame_size` bytes can hold a payload of `data_size` bytes. */
bool framing_fits(const struct framing *framing, uint64_t frame_size, uint64_t data_size);

/* The value that replaces a stored checksum in framings without one: 32 bits of the payload's XXH3.
 */
uint32_t framing_hash(const uint8_t *data, uint64_t size);

/* Formats the reason into `fault` unless it is NULL, and returns the verdict. */
enum frame_verdict frame_is_bad(struct frame_fault *fault, enum frame_verdict verdict,
                                const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* The same with BAD_LENGTH, for a frame that the end of the file cuts: the reason adds why that may
 * be. */
enum frame_verdict frame_is_cut(struct frame_fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

#endif
