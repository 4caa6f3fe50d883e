/* OFRecord, OneFlow's container: the record's size as int64, little-endian, then the record.
 * Nothing tells whether a size is right but that it fits the file. Pure. */
#ifndef RECMAP_FORMAT_OFRECORD_H
#define RECMAP_FORMAT_OFRECORD_H

#include "format/framing.h"

enum { OFRECORD_HEADER_SIZE = 8 };

extern const struct framing ofrecord_framing;

/* Whether records of OneFlow begin at bytes[at]: some in a row with sizes that lead from one to the
 * next, each a message whose first field is the map of features. True by chance hardly ever, so
 * enough for advice and for a guess. */
bool ofrecord_is_likely(const uint8_t *bytes, uint64_t size, uint64_t at);

#endif
