#include "storage/remote/storage_credentials.h"

#include "base/os/thread.h"
#include "storage/credentials/credential_process.h"

/* The program of a profile is for Amazon only. For Azure, a shared access signature that was passed
 * is enough. */
static bool needs_program(const struct storage_options *options,
                          const struct credentials_use *use) {
    if (use->is_amazon) return true;
    if (!options->values[OPTION_CREDENTIAL_PROCESS]) return false;
    return use->is_google || (use->is_azure && !options->is_explicit[OPTION_SAS]);
}

recmap_status storage_prepare_credentials(recmap_storage *storage,
                                          const struct credentials_use *use, recmap_error *error) {
    process_lock();
    bool is_needed = needs_program(&storage->options, use);
    process_unlock();
    if (!is_needed) return RECMAP_OK;
    return identity_prepare(&storage->program, &credential_process_identity, &storage->options,
                            error);
}
