/* A storage: its options, its idle connections, and how many requests may be in flight. */
#ifndef RECMAP_STORAGE_REMOTE_STORAGE_H
#define RECMAP_STORAGE_REMOTE_STORAGE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <recmap/storage.h>

#include "storage/credentials/identity.h"
#include "storage/credentials/storage_options.h"
#include "storage/remote/retry.h"
#include "storage/remote/signed_urls.h"
#include "storage/remote/storage_figures.h"

struct transfer;

struct recmap_storage {
    atomic_uint references;
    recmap_client client;           /* without functions: this library makes the requests */
    struct storage_options options; /* the credentials among them: guarded by the process lock */
    atomic_bool has_answered;       /* a server replied: the endpoint exists */
    atomic_bool has_served;         /* a request got the range that it asked for */
    atomic_bool has_listed;         /* a request got the text that it asked for */
    /* Guarded by the process lock. */
    struct signed_urls urls;
    bool is_complete;              /* the environment was read */
    struct identity_share program; /* see credential_process.h */
    struct request_window window;
    struct storage_figures figures;
    unsigned run_count; /* calls of transfer_run that share the window, in `process` */
    long process;
    struct transfer *idle; /* connections for the next call */
};

/* Returns true if a client of the caller reaches the objects. NULL has none. */
bool storage_has_client(const recmap_storage *storage);

/* Another reference to the storage, or a new one with the defaults if it is NULL.
 * recmap_storage_release releases it. */
recmap_status storage_retain(recmap_storage **reference, recmap_storage *storage,
                             recmap_error *error);

/* Copies the options, including the present credentials; the caller frees them with
 * storage_options_deinit. On failure there is nothing to free. Errors: NO_MEMORY. */
recmap_status storage_copy_options(struct storage_options *copy, recmap_storage *storage,
                                   recmap_error *error);

/* Copies the options again if they have changed since the copy was made. A zeroed copy is of none.
 * Errors: NO_MEMORY; the copy then has no options. */
recmap_status storage_refresh_options(struct storage_options *copy, recmap_storage *storage,
                                      recmap_error *error);

/* Copies the query that requests for a web URL need; NULL if there is none. The caller erases and
 * frees it. Errors: NO_MEMORY. */
recmap_status storage_copy_query(char **query, recmap_storage *storage, const char *url,
                                 recmap_error *error);

/* Reads the environment on first use. Errors: INVALID, IO, NO_MEMORY. */
recmap_status storage_prepare(recmap_storage *storage, recmap_error *error);

#endif
