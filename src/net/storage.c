#include "net/storage.h"

#include <stdlib.h>

#include "base/error.h"
#include "net/transfer.h"
#include "os/thread.h"

enum { REQUESTS_FIRST = 32, REQUESTS_MAX = 128 };

recmap_status recmap_storage_create(recmap_storage **storage, recmap_error *error) {
    recmap_storage *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    atomic_init(&fresh->references, 1);
    window_init(&fresh->window, REQUESTS_FIRST, REQUESTS_MAX);
    *storage = fresh;
    return RECMAP_OK;
}

recmap_status storage_retain(recmap_storage **retained, recmap_storage *storage,
                             recmap_error *error) {
    if (!storage) return recmap_storage_create(retained, error);
    atomic_fetch_add(&storage->references, 1);
    *retained = storage;
    return RECMAP_OK;
}

void recmap_storage_destroy(recmap_storage *storage) {
    if (!storage || atomic_fetch_sub(&storage->references, 1) > 1) return;
    transfers_destroy(storage->idle);
    storage_options_deinit(&storage->options);
    free(storage);
}

recmap_status recmap_storage_set(recmap_storage *storage, const char *name, const char *value,
                                 recmap_error *error) {
    return storage_options_set(&storage->options, name, value, error);
}

int recmap_storage_is_supported(void) {
    return transfer_is_supported();
}

recmap_status storage_prepare(recmap_storage *storage, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    process_lock();
    if (!storage->is_complete) {
        status = storage_options_complete(&storage->options, error);
        storage->is_complete = status == RECMAP_OK;
    }
    process_unlock();
    return status;
}
