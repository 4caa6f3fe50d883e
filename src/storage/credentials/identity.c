#include "storage/credentials/identity.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/thread.h"
#include "storage/credentials/renewal.h"

/* The options that choose the credentials. A program may read AWS_PROFILE. */
static const enum storage_option own_options[] = {OPTION_CREDENTIAL_PROCESS, OPTION_PROFILE_PROCESS,
                                                  OPTION_PROFILE};
enum { OWN_COUNT = sizeof own_options / sizeof *own_options };

/* An identity is never freed: a storage that is opened later can use its credentials. Its kind and
 * options never change; the rest is guarded by the process lock. */
struct identity {
    struct identity *next;
    const struct identity_kind *kind;
    struct storage_options options;
    struct renewal renewal;
    struct storage_options credentials;
    uint64_t version; /* changes with the credentials */
};

static struct identity *identities; /* guarded by the process lock */

/* ---- The identity of a storage. */

static void destroy(struct identity *identity) {
    storage_options_deinit(&identity->options);
    free(identity);
}

static recmap_status copy_options(struct storage_options *copy, const enum storage_option *options,
                                  size_t count, const struct storage_options *source,
                                  recmap_error *error) {
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < count; i++)
        if (source->values[options[i]])
            status = storage_options_keep(copy, options[i], source->values[options[i]], error);
    return status;
}

/* The process lock is held. */
static recmap_status create(struct identity **identity, const struct identity_kind *kind,
                            const struct storage_options *options, recmap_error *error) {
    struct identity *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->kind = kind;
    recmap_status status = copy_options(&fresh->options, own_options, OWN_COUNT, options, error);
    if (status == RECMAP_OK) *identity = fresh;
    else destroy(fresh);
    return status;
}

static bool is_chosen(const struct identity *identity, const struct identity_kind *kind,
                      const struct storage_options *options) {
    if (identity->kind != kind) return false;
    for (size_t i = 0; i < OWN_COUNT; i++)
        if (strcmp(storage_options_get(&identity->options, own_options[i]),
                   storage_options_get(options, own_options[i])) != 0)
            return false;
    return true;
}

/* The identity of the process that the options choose, which is added if there is none. The process
 * lock is held. */
static recmap_status find(struct identity **identity, const struct identity_kind *kind,
                          const struct storage_options *options, recmap_error *error) {
    struct identity *found = identities;
    while (found && !is_chosen(found, kind, options)) found = found->next;
    if (!found) {
        RETURN_IF_FAILED(create(&found, kind, options, error));
        found->next = identities;
        identities = found;
    }
    *identity = found;
    return RECMAP_OK;
}

/* One call of identity_prepare. */
struct visit {
    struct identity_share *share;
    struct identity *identity; /* NULL: the storage needs none */
    struct storage_options *options;
};

static recmap_status choose(struct visit *visit, const struct identity_kind *kind,
                            recmap_error *error) {
    recmap_status status = RECMAP_OK;
    process_lock();
    if (kind->is_used(visit->options)) {
        visit->identity = visit->share->identity;
        if (!visit->identity) status = find(&visit->identity, kind, visit->options, error);
    }
    process_unlock();
    return status;
}

/* ---- Its credentials. */

static bool is_used(const void *context) {
    const struct visit *visit = context;
    return visit->identity->kind->is_used(visit->options);
}

/* The old credentials are erased after the lock is released. */
static recmap_status fetch(int64_t *expires_s, void *context, recmap_error *error) {
    struct identity *identity = ((struct visit *)context)->identity;
    struct storage_options fresh = {0};
    recmap_status status = identity->kind->fetch(&fresh, expires_s, &identity->options, error);
    if (status == RECMAP_OK) {
        process_lock();
        struct storage_options former = identity->credentials;
        identity->credentials = fresh;
        identity->version++;
        process_unlock();
        fresh = former;
    }
    storage_options_deinit(&fresh);
    return status;
}

static const struct renewal_kind renewal_kind = {is_used, fetch};

/* Gives the storage what the identity has now. Holds the lock that guards the credentials of the
 * storage: those that the caller has set meanwhile stay, and do not count as the identity's. */
static recmap_status install(const struct visit *visit, recmap_error *error) {
    struct identity_share *share = visit->share;
    struct identity *identity = visit->identity;
    const struct identity_kind *kind = identity->kind;
    struct storage_options fresh = {0};
    recmap_status status = RECMAP_OK;
    process_lock();
    bool is_current = share->identity == identity && share->version == identity->version;
    if (!is_current && identity->renewal.is_managed && kind->is_used(visit->options)) {
        status = copy_options(&fresh, kind->credentials, kind->credential_count,
                              &identity->credentials, error);
        for (size_t i = 0; status == RECMAP_OK && i < kind->credential_count; i++)
            storage_options_swap(visit->options, &fresh, kind->credentials[i]);
        if (status == RECMAP_OK) *share = (struct identity_share){identity, identity->version};
    }
    process_unlock();
    storage_options_deinit(&fresh);
    return status;
}

recmap_status identity_prepare(struct identity_share *share, const struct identity_kind *kind,
                               struct storage_options *options, recmap_error *error) {
    struct visit visit = {.share = share, .options = options};
    RETURN_IF_FAILED(choose(&visit, kind, error));
    if (!visit.identity) return RECMAP_OK;
    RETURN_IF_FAILED(renewal_prepare(&visit.identity->renewal, &renewal_kind, &visit, error));
    return install(&visit, error);
}
