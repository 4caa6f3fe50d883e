/* Inflating GZIP and ZLIB streams piece by piece, from their beginning or from a point within.
 *
 * A point is the end of a deflate block: with the bit at which the next one begins and the window,
 * the last bytes that came out, everything behind it can be inflated without what lies before.
 * Pure, but for the function that gives the bytes. Sources: RFC 1950, 1951, 1952. */
#ifndef RECMAP_FORMAT_INFLATE_H
#define RECMAP_FORMAT_INFLATE_H

#include <recmap/status.h>

#include "format/compression.h"

enum { INFLATE_WINDOW_MAX = 32768 };

/* Compressed bytes: in memory, or read when they are needed. */
struct inflate_source {
    const uint8_t *bytes; /* NULL: `read` gives them */
    uint64_t size;
    recmap_status (*read)(void *context, void *data, size_t size, uint64_t offset,
                          recmap_error *error);
    void *context;
};

struct seek_point {
    uint64_t bit;    /* of the compressed bytes; the lowest of byte 0 is bit 0 */
    uint64_t offset; /* in what comes out */
    const uint8_t *window;
    uint32_t window_size; /* less than the most where the member began shortly before */
};

typedef enum inflate_verdict {
    INFLATE_OK,       /* the room is full */
    INFLATE_AT_POINT, /* a point was wanted, and here it is: see inflater_point */
    INFLATE_END,      /* the last member ended */
    INFLATE_BAD, /* the stream is damaged: see inflater_fault. All that comes out of the symbols
                    before came out */
    INFLATE_WRONG_SUM,  /* the checksum of the member that ended here does not hold; it can be gone
                           on with */
    INFLATE_UNREADABLE, /* `read` failed: see inflater_fault */
} inflate_verdict;

struct inflater;

/* NULL when memory is out. Nothing is started. */
struct inflater *inflater_create(compression kind, const struct inflate_source *source);
void inflater_destroy(struct inflater *inflater);

/* Another that stands where this one does, between reads, to go on by itself. With `source` NULL it
 * only keeps the place, to be copied from. NULL when memory is out. */
struct inflater *inflater_copy(const struct inflater *inflater,
                               const struct inflate_source *source);

/* Starts at a member (or ZLIB stream) whose header is at byte `at`; what comes out is counted from
 * `offset` on. Checksums are checked. */
void inflater_start(struct inflater *inflater, uint64_t at, uint64_t offset);

/* Starts at a point. The checksum of its member is checked only if the point is that member's
 * beginning. False for a point
 * that lies nowhere. */
bool inflater_start_at(struct inflater *inflater, const struct seek_point *point);

/* The same for one that came to the point's offset by inflating, well or not: its member goes on,
 * and is checked at its end if it was before. */
bool inflater_go_on_at(struct inflater *inflater, const struct seek_point *point);

/* How much of the member at hand came out. */
uint64_t inflater_member_size(const struct inflater *inflater);

/* Inflates up to `room` bytes; `size` is how many came out, whatever the verdict. Members follow
 * each other as if they were one. With `wants_point` it stops at the next point, which may be
 * where it stands. */
inflate_verdict inflater_read(size_t *size, struct inflater *inflater, uint8_t *out, size_t room,
                              bool wants_point);

/* The point at which it stopped. Up to 64 KiB before it may not have come out yet, and come with
 * the next reads. The window lives until then. */
struct seek_point inflater_point(const struct inflater *inflater);

/* What is wrong, and at which byte of the compressed ones. */
struct inflate_fault {
    const char *reason;
    uint64_t at;
    bool is_cut;   /* the file ends too early, and not in zeros; what came out so far was not seen
                      to be bad */
    bool has_size; /* of a wrong sum: as many bytes came out as there should */
    recmap_error error; /* of the source */
};
const struct inflate_fault *inflater_fault(const struct inflater *inflater);

/* How far what came out reaches. */
uint64_t inflater_offset(const struct inflater *inflater);

/* The byte that is read next: bytes before were used. */
uint64_t inflater_position(const struct inflater *inflater);

/* The byte at which the member at hand, or the last one, began. */
uint64_t inflater_member_at(const struct inflater *inflater);

/* No checksum that holds vouches for what came out from there on. */
uint64_t inflater_unsure_from(const struct inflater *inflater);

/* The first byte from `from` on at which a member begins that can be inflated for a while, or to
 * its good end; UINT64_MAX where there is none. What is started now is given up. Only GZIP's
 * headers can be told from other bytes. */
uint64_t inflater_find_member(struct inflater *inflater, uint64_t from);

#endif
