/* One member of a tar archive: headers with its name and size, data and padding. Reads v7, ustar,
 * pax and GNU archives. Pure. */
#ifndef RECMAP_FORMAT_FRAMING_TAR_MEMBER_H
#define RECMAP_FORMAT_FRAMING_TAR_MEMBER_H

#include "format/framing/framing.h"

enum { TAR_NAME_FIELD = 100, TAR_PREFIX_FIELD = 155 };

struct tar_member {
    uint64_t
        size; /* with headers and padding; the padding may be missing at the end of an archive */
    bool is_file; /* a regular file */

    /* Points into the archive's bytes or into `joined`. */
    const uint8_t *name;
    uint64_t name_size;
    uint8_t joined[TAR_PREFIX_FIELD + 1 + TAR_NAME_FIELD];
};

enum tar_verdict {
    TAR_MEMBER,
    TAR_END, /* a block of zeros, or no bytes left */
    TAR_CUT, /* the name is valid, but the bytes end inside the data; `fault` is set */
    TAR_BAD, /* `fault` says why; `member` is unusable */
};

/* Parses the member that starts at bytes[0]. `fault` may be NULL. */
enum tar_verdict tar_member_read(struct tar_member *member, const uint8_t *bytes, uint64_t size,
                                 struct frame_fault *fault);

/* Returns whether the checksum of the header at bytes[0] is right. */
bool tar_header_holds(const uint8_t *bytes, uint64_t size);

#endif
