#include "storage/remote/storage_credentials.h"

#include "storage/credentials/google_token.h"
#include "storage/credentials/role.h"
#include "storage/remote/exchange_run.h"

recmap_status role_prepare(recmap_storage *storage, recmap_error *error) {
    return identity_prepare(&storage->role, &role_identity, &storage->options, exchange_run, error);
}

recmap_status google_token_prepare(recmap_storage *storage, recmap_error *error) {
    return identity_prepare(&storage->google, &google_token_identity, &storage->options,
                            exchange_run, error);
}
