/* TFRecord: u64 length, masked CRC-32C of these 8 bytes, payload, masked CRC-32C of the payload.
 * All integers are little-endian and frames follow each other directly. Source:
 * tensorflow/core/lib/io/record_writer.h. */
#ifndef RECMAP_FORMAT_FRAMING_TFRECORD_H
#define RECMAP_FORMAT_FRAMING_TFRECORD_H

#include "format/framing/framing.h"

enum { TFRECORD_HEADER_SIZE = 12, TFRECORD_FOOTER_SIZE = 4 };
enum { TFRECORD_OVERHEAD = TFRECORD_HEADER_SIZE + TFRECORD_FOOTER_SIZE };

extern const struct framing tfrecord_framing;

/* True for copies of tfrecord_framing as well. */
static inline bool framing_is_tfrecord(const struct framing *framing) {
    return framing->parse == tfrecord_framing.parse;
}

/* Returns whether a frame of exactly `size` bytes is here with valid CRCs; the payload's CRC is
 * ignored for FRAME_CHECK_HEADER. To learn what is wrong, call `parse`. The function computes the
 * expected header from the known size instead of reading the length, so the CPU need not wait for
 * the frame's bytes to choose its path and can run ahead to the next record. */
bool tfrecord_holds(const uint8_t *bytes, uint64_t size, enum frame_check check);

/* Compute the bytes that precede and follow a payload of `size` bytes. */
void tfrecord_make_header(uint8_t header[TFRECORD_HEADER_SIZE], uint64_t size);
void tfrecord_make_footer(uint8_t footer[TFRECORD_FOOTER_SIZE], const void *data, size_t size);

#endif
