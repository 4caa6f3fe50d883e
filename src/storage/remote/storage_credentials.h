/* The credentials of a storage that a program prints for a limited time. */
#ifndef RECMAP_STORAGE_REMOTE_STORAGE_CREDENTIALS_H
#define RECMAP_STORAGE_REMOTE_STORAGE_CREDENTIALS_H

#include "storage/remote/storage.h"

/* The stores that requests are for. */
struct credentials_use {
    bool is_amazon, is_google, is_azure;
};

/* Makes the credentials for these stores current. Of the threads that call it, one runs the
 * program. The others wait only if there are no credentials yet. Errors: see credential_process.h.
 */
recmap_status storage_prepare_credentials(recmap_storage *storage,
                                          const struct credentials_use *use, recmap_error *error);

#endif
