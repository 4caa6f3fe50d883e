/* Objects that a client of the caller reads, as sources. */
#ifndef RECMAP_STORAGE_REMOTE_CLIENT_H
#define RECMAP_STORAGE_REMOTE_CLIENT_H

#include "base/os/source.h"
#include "storage/remote/remote_identity.h"
#include "storage/remote/storage.h"

enum { CLIENT_RANGES_MAX = 128, CLIENT_SIZE_MAX = 32 << 20 }; /* of one call of the client's read */

/* Opens an object, of which the client finds out size, time and ETag. They are compared with
 * `expected`, unless that is NULL. Holds a reference to the storage. Errors: STALE, NO_MEMORY, and
 * those of the client. */
recmap_status client_open(struct source **source, recmap_storage *storage, const char *url,
                          const struct remote_identity *expected, recmap_error *error);

#endif
