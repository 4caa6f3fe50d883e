/* Records of one size behind each other, as tf.data's FixedLengthRecordDataset has them, with a
 * header and a footer once a file. Pure. */
#ifndef RECMAP_FORMAT_FIXED_H
#define RECMAP_FORMAT_FIXED_H

#include "format/framing.h"

/* The largest header, record and footer. */
#define FIXED_MAX ((uint64_t)1 << 48)

/* "fixed:HEADER,RECORD,FOOTER": sizes up to FIXED_MAX, of the record not 0. */
struct framing fixed_framing(uint64_t header_size, uint64_t record_size, uint64_t footer_size);

#endif
