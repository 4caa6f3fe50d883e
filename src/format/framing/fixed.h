/* Consecutive records of one size with an optional header and footer per file, the format of
 * tf.data's FixedLengthRecordDataset. Pure. */
#ifndef RECMAP_FORMAT_FRAMING_FIXED_H
#define RECMAP_FORMAT_FRAMING_FIXED_H

#include "format/framing/framing.h"

/* The upper bound of each of the three sizes. */
#define FIXED_MAX ((uint64_t)1 << 48)

/* The framing "fixed:HEADER,RECORD,FOOTER". Each size is at most FIXED_MAX; the record size is not
 * 0. */
struct framing fixed_framing(uint64_t header_size, uint64_t record_size, uint64_t footer_size);

#endif
