/* OFRecord, OneFlow's container: the record's size as a little-endian int64, then the record. It
 * has no checksums, so the only check of a size is that the record fits in the file. Pure. */
#ifndef RECMAP_FORMAT_FRAMING_OFRECORD_H
#define RECMAP_FORMAT_FRAMING_OFRECORD_H

#include "format/framing/framing.h"

enum { OFRECORD_HEADER_SIZE = 8 };

extern const struct framing ofrecord_framing;

/* Returns whether OneFlow records seem to start at bytes[at]: up to four in a row whose sizes lead
 * from one to the next, each a message whose first field is the feature map. False positives are
 * rare enough for advice and for a guess. */
bool ofrecord_is_likely(const uint8_t *bytes, uint64_t size, uint64_t at);

#endif
