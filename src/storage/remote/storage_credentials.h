/* The credentials of a storage that services of a platform issue for a limited time. */
#ifndef RECMAP_STORAGE_REMOTE_STORAGE_CREDENTIALS_H
#define RECMAP_STORAGE_REMOTE_STORAGE_CREDENTIALS_H

#include "storage/remote/storage.h"

/* Makes the credentials for Amazon, or the token for Google, current. Of the threads that call it,
 * one fetches them. The others wait only if there are none yet. Errors: see role.h and
 * google_token.h. */
recmap_status role_prepare(recmap_storage *storage, recmap_error *error);
recmap_status google_token_prepare(recmap_storage *storage, recmap_error *error);

/* The same for the option `credential_process`. With `is_azure`, the requests are for Azure only,
 * and a shared access signature that was passed is enough. Errors: see credential_process.h. */
recmap_status credential_process_prepare(recmap_storage *storage, bool is_azure,
                                         recmap_error *error);

#endif
