/* A credential that is issued for a limited time, and whose turn it is to fetch it. Of the threads
 * that need the credential, one fetches it. */
#ifndef RECMAP_STORAGE_CREDENTIALS_RENEWAL_H
#define RECMAP_STORAGE_CREDENTIALS_RENEWAL_H

#include <stdbool.h>
#include <stdint.h>

#include <recmap/status.h>

/* When one credential is fetched, and by whom. Guarded by the process lock. */
struct renewal {
    bool is_managed;    /* there is a credential that was fetched */
    int64_t renew_at_s; /* when it is fetched; seconds since 1970 */
    int64_t expires_s;
    long fetching_process; /* of the thread that fetches it; 0: none does */
    uint64_t turn_count;   /* fetches that have ended */
    recmap_error failure;  /* of the last one; its status is OK if that did not fail */
};

/* One kind of credential. */
struct renewal_kind {
    /* Returns true if the caller uses this credential. The process lock is held. */
    bool (*is_used)(const void *context);

    /* Fetches the credential and keeps it. */
    recmap_status (*fetch)(int64_t *expires_s, void *context, recmap_error *error);
};

/* Makes the credential current. Threads wait for the one that fetches it only if there is no valid
 * credential meanwhile, and if the fetch fails, they fail with the same error. A credential that
 * cannot be renewed is used until it expires. `context` is passed to the functions of the kind.
 * Errors: those of `fetch`; CANCELLED: the thread's interrupt stopped the wait. */
recmap_status renewal_prepare(struct renewal *renewal, const struct renewal_kind *kind,
                              void *context, recmap_error *error);

#endif
