/* WebDataset's tar files: a record is a sample, the members that stand together and share a name up
 * to the first dot of its last part, as they lie in the archive: headers, data and padding. So a
 * record is in one piece, has its names, and is itself an archive but for the zeros at the end.
 *
 * Members that are no part of any sample (folders, links, names without such a dot, `__NAME__`)
 * belong to the record that they stand in or behind, at the archive's beginning to the first. Pure.
 */
#ifndef RECMAP_FORMAT_TAR_H
#define RECMAP_FORMAT_TAR_H

#include "format/framing.h"

enum { TAR_BLOCK_SIZE = 512 };

extern const struct framing tar_framing;

/* Whether the header of a member stands at bytes[0], with the mark of POSIX or GNU and the right
 * checksum. */
bool tar_is_likely(const uint8_t *bytes, uint64_t size);

#endif
