/* The credentials of a storage that services of a platform issue for a limited time. */
#ifndef RECMAP_STORAGE_REMOTE_STORAGE_CREDENTIALS_H
#define RECMAP_STORAGE_REMOTE_STORAGE_CREDENTIALS_H

#include "storage/remote/storage.h"

/* Makes the credentials for Amazon, or the token for Google, current. Of the threads that call it,
 * one fetches them. The others wait only if there are none yet. Errors: see role.h and
 * google_token.h. */
recmap_status role_prepare(recmap_storage *storage, recmap_error *error);
recmap_status google_token_prepare(recmap_storage *storage, recmap_error *error);

#endif
