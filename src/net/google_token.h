/* The access token of the service account that a machine, container or job has at Google Cloud. It
 * is fetched from the metadata service when the first object is requested, if no credentials are
 * configured, and again before it expires. */
#ifndef RECMAP_NET_GOOGLE_TOKEN_H
#define RECMAP_NET_GOOGLE_TOKEN_H

#include "net/storage.h"

/* Makes the token of the storage current. Of the threads that call it, one fetches it. The others
 * wait only if there is no token yet. A service that GCE_METADATA_HOST names must answer; otherwise
 * there need not be one.
 * Errors: IO (EACCES: the service refuses), INVALID (the environment), CANCELLED, NO_MEMORY. */
recmap_status google_token_prepare(recmap_storage *storage, recmap_error *error);

#endif
