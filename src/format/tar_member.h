/* A member of a tar archive: the headers that say its name and size, its data and padding. Reads
 * v7, ustar, pax and GNU's way. Pure. */
#ifndef RECMAP_FORMAT_TAR_MEMBER_H
#define RECMAP_FORMAT_TAR_MEMBER_H

#include "format/framing.h"

enum { TAR_NAME_FIELD = 100, TAR_PREFIX_FIELD = 155 };

struct tar_member {
    uint64_t size; /* with headers and padding, which may lack at an archive's end */
    bool is_file;  /* a regular one */

    /* In the archive's bytes, or in `joined`. */
    const uint8_t *name;
    uint64_t name_size;
    uint8_t joined[TAR_PREFIX_FIELD + 1 + TAR_NAME_FIELD];
};

typedef enum tar_verdict {
    TAR_MEMBER,
    TAR_END, /* a block of zeros, or no bytes are left */
    TAR_CUT, /* its name holds, but the bytes end before its data; `fault` says so */
    TAR_BAD, /* `fault` says why; nothing of the member is to be used */
} tar_verdict;

/* Looks at the member that begins at bytes[0]. `fault` may be NULL. */
tar_verdict tar_member_read(struct tar_member *member, const uint8_t *bytes, uint64_t size,
                            struct frame_fault *fault);

/* Whether the checksum of the header at bytes[0] holds. */
bool tar_header_holds(const uint8_t *bytes, uint64_t size);

#endif
