/* TFRecord: u64 length, masked CRC-32C of these 8 bytes, payload, masked CRC-32C of the payload;
 * all little-endian, nothing between frames. Source: tensorflow/core/lib/io/record_writer.h. */
#ifndef RECMAP_FORMAT_TFRECORD_H
#define RECMAP_FORMAT_TFRECORD_H

#include "format/framing.h"

enum { TFRECORD_HEADER_SIZE = 12, TFRECORD_FOOTER_SIZE = 4 };
enum { TFRECORD_OVERHEAD = TFRECORD_HEADER_SIZE + TFRECORD_FOOTER_SIZE };

extern const struct framing tfrecord_framing;

/* Also of a copy. */
static inline bool framing_is_tfrecord(const struct framing *framing) {
    return framing->parse == tfrecord_framing.parse;
}

/* Whether a frame of exactly `size` bytes lies here whose CRCs hold: that of its data only where
 * `check` is not HEADER. What is wrong where it does not, parse tells. Nothing here is chosen by
 * the frame's bytes but the answer: who knows the size before they are there can go on meanwhile.
 */
bool tfrecord_holds(const uint8_t *bytes, uint64_t size, frame_check check);

/* What stands before a payload of `size` bytes, and behind it. */
void tfrecord_make_header(uint8_t header[TFRECORD_HEADER_SIZE], uint64_t size);
void tfrecord_make_footer(uint8_t footer[TFRECORD_FOOTER_SIZE], const void *data, size_t size);

#endif
