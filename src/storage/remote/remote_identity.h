/* The version of an object that is expected when it is read. */
#ifndef RECMAP_STORAGE_REMOTE_REMOTE_IDENTITY_H
#define RECMAP_STORAGE_REMOTE_REMOTE_IDENTITY_H

#include <stdint.h>

struct remote_identity {
    uint64_t size;
    int64_t mtime_ns;
    const char *etag; /* "": not known */
};

#endif
