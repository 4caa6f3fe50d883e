/* WebDataset's tar files. A record is a sample: the consecutive members that share a name up to the
 * first dot of its last path component, exactly as stored, with headers, data and padding. A record
 * is therefore contiguous, contains its names, and is itself a tar archive except for the zeros at
 * the end.
 *
 * Members that belong to no sample (folders, links, names without such a dot, `__NAME__`) become
 * part of the record that contains or precedes them, or of the first record at the start of the
 * archive. Pure. */
#ifndef RECMAP_FORMAT_FRAMING_TAR_H
#define RECMAP_FORMAT_FRAMING_TAR_H

#include "format/framing/framing.h"

enum { TAR_BLOCK_SIZE = 512 };

extern const struct framing tar_framing;

/* Returns whether a valid member header with the magic of POSIX or GNU is at bytes[0]. */
bool tar_is_likely(const uint8_t *bytes, uint64_t size);

#endif
