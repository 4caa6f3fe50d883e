/* The access token of the service account that a machine, container or job has at Google Cloud. It
 * is fetched from the metadata service when the first object is requested, if no credentials are
 * configured, and again before it expires. */
#ifndef RECMAP_STORAGE_CREDENTIALS_GOOGLE_TOKEN_H
#define RECMAP_STORAGE_CREDENTIALS_GOOGLE_TOKEN_H

#include "storage/credentials/identity.h"

/* A service that GCE_METADATA_HOST names must answer; otherwise there need not be one.
 * Errors: IO (EACCES: the service refuses), INVALID (the environment), CANCELLED, NO_MEMORY. */
extern const struct identity_kind google_token_identity;

#endif
