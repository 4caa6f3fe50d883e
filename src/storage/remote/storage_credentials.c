#include "storage/remote/storage_credentials.h"

#include "base/os/thread.h"
#include "storage/credentials/credential_process.h"
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

recmap_status credential_process_prepare(recmap_storage *storage, bool is_azure,
                                         recmap_error *error) {
    process_lock();
    bool is_enough = is_azure && storage->options.is_explicit[OPTION_SAS];
    process_unlock();
    if (is_enough) return RECMAP_OK;
    return identity_prepare(&storage->program, &credential_process_identity, &storage->options,
                            exchange_run, error);
}
