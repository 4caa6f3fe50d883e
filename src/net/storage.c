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

void recmap_storage_retain(recmap_storage *storage) {
    atomic_fetch_add(&storage->references, 1);
}

recmap_status storage_retain(recmap_storage **retained, recmap_storage *storage,
                             recmap_error *error) {
    if (!storage) return recmap_storage_create(retained, error);
    recmap_storage_retain(storage);
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

static recmap_status set_if_given(struct storage_options *options, const char *name,
                                  const char *value, recmap_error *error) {
    return value ? storage_options_set(options, name, value, error) : RECMAP_OK;
}

static recmap_status take_credentials(struct storage_options *options,
                                      const recmap_credentials *credentials, recmap_error *error) {
    RETURN_IF_FAILED(set_if_given(options, "key", credentials->key, error));
    RETURN_IF_FAILED(set_if_given(options, "secret", credentials->secret, error));
    RETURN_IF_FAILED(set_if_given(options, "token", credentials->token, error));
    return set_if_given(options, "sas", credentials->sas, error);
}

/* The new values are complete before the lock is taken, and the old ones are freed after it. */
recmap_status recmap_storage_renew(recmap_storage *storage, const recmap_credentials *credentials,
                                   recmap_error *error) {
    struct storage_options fresh = {0};
    recmap_status status = take_credentials(&fresh, credentials, error);
    if (status == RECMAP_OK) {
        process_lock();
        if (credentials->key || credentials->secret || credentials->token) {
            storage_options_swap(&storage->options, &fresh, OPTION_KEY);
            storage_options_swap(&storage->options, &fresh, OPTION_SECRET);
            storage_options_swap(&storage->options, &fresh, OPTION_TOKEN);
        }
        if (credentials->sas) storage_options_swap(&storage->options, &fresh, OPTION_SAS);
        process_unlock();
    }
    storage_options_deinit(&fresh);
    return status;
}

recmap_status storage_copy_options(struct storage_options *copy, recmap_storage *storage,
                                   recmap_error *error) {
    process_lock();
    recmap_status status = storage_options_copy(copy, &storage->options, error);
    process_unlock();
    return status;
}

int recmap_storage_is_used(const recmap_storage *storage) {
    return atomic_load(&storage->references) > 1;
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
