/* Incremental inflating of GZIP and ZLIB streams, from the start or from a seek point.
 *
 * A seek point is the end of a deflate block. Given the bit offset of the next block and the window
 * (the last 32 KiB of output), inflating can start there without the data before it. Pure except
 * for the callback that reads the input. Sources: RFC 1950, 1951, 1952. */
#ifndef RECMAP_FORMAT_DEFLATE_INFLATE_H
#define RECMAP_FORMAT_DEFLATE_INFLATE_H

#include <recmap/status.h>

#include "format/deflate/compression.h"

enum { INFLATE_WINDOW_MAX = 32768 };

/* Compressed bytes, either in memory or read on demand. */
struct inflate_source {
    const uint8_t *bytes; /* NULL if `read` supplies the bytes */
    uint64_t size;
    uint64_t read_end; /* bytes from here on are read separately, because none may be needed */
    recmap_status (*read)(void *context, void *data, size_t size, uint64_t offset,
                          recmap_error *error);
    void *context;
};

struct seek_point {
    uint64_t bit;    /* in the compressed bytes; bit 0 is the lowest bit of byte 0 */
    uint64_t offset; /* in the output */
    const uint8_t *window;
    uint32_t window_size; /* below INFLATE_WINDOW_MAX near the start of a member */
};

enum inflate_verdict {
    INFLATE_OK,       /* the output buffer is full */
    INFLATE_AT_POINT, /* stopped at a seek point, as requested: see inflater_point */
    INFLATE_END,      /* the last member ended */
    INFLATE_BAD, /* the stream is damaged: see inflater_fault. A strict inflater has delivered the
                     output of all preceding symbols */
    INFLATE_WRONG_SUM,  /* the checksum of the member that just ended does not match its output;
                            reading can continue with the next member */
    INFLATE_UNREADABLE, /* `read` failed: see inflater_fault */
};

struct inflater;

/* Returns NULL if memory runs out. Call inflater_start or inflater_start_at before reading.
 *
 * The strict one is several times as slow. Of a sound stream, both give the same bytes. Of a
 * damaged one, the strict inflater gives exactly the output of all symbols before the first that
 * RFC 1951 forbids, and names the byte at which that symbol, or block, begins. The other one may
 * give less or more, depending on the version of ISA-L, on the processor and on the reads. */
struct inflater *inflater_create(enum compression kind, const struct inflate_source *source);
struct inflater *inflater_create_strict(enum compression kind, const struct inflate_source *source);
bool inflater_is_strict(const struct inflater *inflater);
void inflater_destroy(struct inflater *inflater);

/* Returns an independent inflater in the same state. Call it between two reads only, and not of a
 * strict inflater. With `source` NULL, the copy only saves the state and must be copied again
 * before use. Returns NULL if memory runs out. */
struct inflater *inflater_copy(const struct inflater *inflater,
                               const struct inflate_source *source);

/* Starts at the member (or ZLIB stream) whose header is at byte `at`. `offset` is the output offset
 * of its first byte. Checksums are verified. */
void inflater_start(struct inflater *inflater, uint64_t at, uint64_t offset);

/* Starts at a seek point. The checksum of the point's member is verified only if the point is the
 * member's start. Returns false if the point is outside the source. */
bool inflater_start_at(struct inflater *inflater, const struct seek_point *point);

/* Like inflater_start_at, for an inflater whose output has already reached the point's offset,
 * intact or damaged. The member continues: its checksum is verified at its end if it would have
 * been before. */
bool inflater_continue_at(struct inflater *inflater, const struct seek_point *point);

/* The output size of the current member so far. */
uint64_t inflater_member_size(const struct inflater *inflater);

/* Inflates up to `room` bytes. `size` receives the number of bytes written, whatever the verdict
 * is. Members are concatenated. With `wants_point`, stops at the next seek point, which may be the
 * current position. */
enum inflate_verdict inflater_read(size_t *size, struct inflater *inflater, uint8_t *out,
                                   size_t room, bool wants_point);

/* Returns the seek point at which the last read stopped. Up to 64 KiB of the output before it may
 * still be pending; the next reads deliver them. The window is valid until then. */
struct seek_point inflater_point(const struct inflater *inflater);

/* What is wrong, and at which byte of the compressed input. */
struct inflate_fault {
    const char *reason;
    uint64_t at;
    bool is_cut; /* the file ends early, and not in zeros; the output so far is not known to be
                     damaged */
    recmap_error error; /* from the source */
};
const struct inflate_fault *inflater_fault(const struct inflater *inflater);

/* The output offset reached so far. */
uint64_t inflater_offset(const struct inflater *inflater);

/* The input offset of the next byte to read; all bytes before it were used. */
uint64_t inflater_position(const struct inflater *inflater);

/* The input offset at which the current member, or else the last one, started. */
uint64_t inflater_member_at(const struct inflater *inflater);

/* The output offset from which on no verified checksum covers the output. */
uint64_t inflater_unverified_from(const struct inflater *inflater);

/* Returns the first offset, `from` or later, at which a GZIP member starts that inflates for at
 * least 64 KiB or to its valid end, or UINT64_MAX if there is none. Discards the current state.
 * What can be inflated is a question for a strict inflater.
 * Always UINT64_MAX for ZLIB, whose headers look like other bytes. */
uint64_t inflater_find_member(struct inflater *inflater, uint64_t from);

#endif
