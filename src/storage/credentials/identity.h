/* Credentials that are issued to this process for a limited time. Storages whose options choose the
 * same credentials share them, so a process fetches them once. */
#ifndef RECMAP_STORAGE_CREDENTIALS_IDENTITY_H
#define RECMAP_STORAGE_CREDENTIALS_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/credentials/storage_options.h"

enum { IDENTITY_CREDENTIALS_MAX = 4 };

struct identity;

/* The share of a storage in an identity. Guarded by the process lock. */
struct identity_share {
    struct identity *identity; /* whose credentials the storage has; NULL: none */
    uint64_t version;          /* of the credentials that the storage has */
};

/* Where credentials come from. */
struct identity_kind {
    /* The options of a storage that the credentials become. */
    enum storage_option credentials[IDENTITY_CREDENTIALS_MAX];
    size_t credential_count;

    /* Returns true if a storage with these options uses such credentials. The process lock is held.
     */
    bool (*is_used)(const struct storage_options *options);

    /* Fetches the credentials and when they expire, in seconds since 1970. `options` choose the
     * credentials: `credential_process` and the profile. */
    recmap_status (*fetch)(struct storage_options *credentials, int64_t *expires_s,
                           const struct storage_options *options, recmap_error *error);
};

/* Makes the credentials of a storage current, unless it does not use any of this kind. If the
 * caller gives the storage other credentials meanwhile, those stay. `share` and `options` belong to
 * the storage; the process lock guards both.
 * Errors: those of `fetch`; NO_MEMORY, CANCELLED. */
recmap_status identity_prepare(struct identity_share *share, const struct identity_kind *kind,
                               struct storage_options *options, recmap_error *error);

#endif
