/* Objects that a client of the caller reads, as sources. */
#ifndef RECMAP_NET_CLIENT_H
#define RECMAP_NET_CLIENT_H

#include "net/remote_identity.h"
#include "net/storage.h"
#include "os/source.h"

enum { CLIENT_RANGES_MAX = 128, CLIENT_SIZE_MAX = 32 << 20 }; /* of one call of the client's read */

/* Opens an object, of which the client finds out size, time and ETag. They are compared with
 * `expected`, unless that is NULL. Holds a reference to the storage. Errors: STALE, NO_MEMORY, and
 * those of the client. */
recmap_status client_open(struct source **source, recmap_storage *storage, const char *url,
                          const struct remote_identity *expected, recmap_error *error);

#endif
