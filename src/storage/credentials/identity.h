/* Credentials that a service of the platform issues to this process. Storages that would ask the
 * same service for the same credentials share them, so a process fetches them once. */
#ifndef RECMAP_STORAGE_CREDENTIALS_IDENTITY_H
#define RECMAP_STORAGE_CREDENTIALS_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/credentials/exchange.h"
#include "storage/credentials/storage_options.h"

enum { IDENTITY_VARIABLES_MAX = 17, IDENTITY_CREDENTIALS_MAX = 4 };

struct identity;

/* The share of a storage in an identity. Guarded by the process lock. */
struct identity_share {
    struct identity *identity; /* NULL: not chosen yet */
    uint64_t version;          /* of the credentials that the storage has */
    bool is_managed;           /* the storage has credentials of the identity */
};

/* What one kind of service issues. */
struct identity_kind {
    /* Variables of the environment that choose the service and what it issues. The end is NULL. */
    const char *variables[IDENTITY_VARIABLES_MAX + 1];

    /* The options of a storage that the credentials become. */
    enum storage_option credentials[IDENTITY_CREDENTIALS_MAX];
    size_t credential_count;

    /* Whether a storage with these options uses such credentials. The process lock is held. */
    bool (*is_used)(const struct storage_options *options, const struct identity_share *share);

    /* Fetches the credentials and when they expire, in seconds since 1970. `*expires_s` stays
     * RENEWAL_NONE if the platform has no service that issues any, which is not an error. */
    recmap_status (*fetch)(struct storage_options *credentials, int64_t *expires_s,
                           const struct identity *identity, recmap_error *error);
};

/* Makes the credentials of a storage current, unless it does not use any of this kind. The
 * environment chooses the identity, and does so again when its credentials are to be renewed. If
 * the caller gives the storage other credentials meanwhile, those stay. `share` and `options`
 * belong to the storage; the process lock guards both. `exchange` makes the requests to services.
 * Errors: those of `fetch`; NO_MEMORY, CANCELLED. */
recmap_status identity_prepare(struct identity_share *share, const struct identity_kind *kind,
                               struct storage_options *options, exchange_function *exchange,
                               recmap_error *error);

/* The value of the kind's variable when the identity was chosen, or "". */
const char *identity_variable(const struct identity *identity, size_t index);

/* The options for requests to the service: region, proxy and authorities, and the profile that
 * names the source of the credentials. */
const struct storage_options *identity_options(const struct identity *identity);

/* Makes a request to the service with these options: see exchange_function. */
recmap_status identity_exchange(struct exchange_reply *reply,
                                const struct exchange_request *request,
                                const struct identity *identity, recmap_error *error);

#endif
