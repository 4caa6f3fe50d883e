#include "storage/credentials/identity.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/process.h"
#include "base/os/thread.h"
#include "storage/credentials/renewal.h"

static const enum storage_option own_options[] = {OPTION_REGION, OPTION_PROXY, OPTION_CA_BUNDLE,
                                                  OPTION_ROLE_PROFILE, OPTION_CREDENTIAL_PROCESS};
enum { OWN_COUNT = sizeof own_options / sizeof *own_options };

/* An identity is never freed: a storage that is opened later can use its credentials. Its
 * kind, variables, options and exchange never change; the rest is guarded by the process lock. */
struct identity {
    struct identity *next;
    const struct identity_kind *kind;
    char *variables[IDENTITY_VARIABLES_MAX];
    struct storage_options options;
    exchange_function *exchange;
    struct renewal renewal;
    struct storage_options credentials;
    uint64_t version; /* changes with the credentials */
};

static struct identity *identities; /* guarded by the process lock */

const char *identity_variable(const struct identity *identity, size_t index) {
    return identity->variables[index];
}

const struct storage_options *identity_options(const struct identity *identity) {
    return &identity->options;
}

recmap_status identity_exchange(struct exchange_reply *reply,
                                const struct exchange_request *request,
                                const struct identity *identity, recmap_error *error) {
    return identity->exchange(reply, request, &identity->options, error);
}

/* ---- The identity of a storage. */

/* A variable can be a secret: the token of a container. */
static void erase(char *variable) {
    if (variable) explicit_bzero(variable, strlen(variable));
    free(variable);
}

static void destroy(struct identity *identity) {
    for (size_t i = 0; i < IDENTITY_VARIABLES_MAX; i++) erase(identity->variables[i]);
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

/* What the environment and the options choose now. */
static recmap_status create(struct identity **identity, const struct identity_kind *kind,
                            const struct storage_options *options, exchange_function *exchange,
                            recmap_error *error) {
    struct identity *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->kind = kind;
    fresh->exchange = exchange;
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && kind->variables[i]; i++) {
        const char *value = getenv(kind->variables[i]);
        if (!(fresh->variables[i] = strdup(value ? value : ""))) status = fail_memory(error);
    }
    process_lock();
    if (status == RECMAP_OK)
        status = copy_options(&fresh->options, own_options, OWN_COUNT, options, error);
    process_unlock();
    if (status == RECMAP_OK) *identity = fresh;
    else destroy(fresh);
    return status;
}

static bool is_equal(const struct identity *a, const struct identity *b) {
    if (a->kind != b->kind) return false;
    for (size_t i = 0; a->kind->variables[i]; i++)
        if (strcmp(a->variables[i], b->variables[i]) != 0) return false;
    for (size_t i = 0; i < OWN_COUNT; i++)
        if (strcmp(storage_options_get(&a->options, own_options[i]),
                   storage_options_get(&b->options, own_options[i])) != 0)
            return false;
    return true;
}

/* The identity of the process that equals a fresh one, which is added or destroyed. */
static struct identity *find(struct identity *fresh) {
    process_lock();
    struct identity *found = identities;
    while (found && !is_equal(found, fresh)) found = found->next;
    if (!found) {
        fresh->next = identities;
        identities = fresh;
    }
    process_unlock();
    if (found) destroy(fresh);
    return found ? found : fresh;
}

/* One call of identity_prepare. */
struct visit {
    struct identity_share *share;
    struct identity *identity;
    struct storage_options *options;
    exchange_function *exchange;
};

/* Whether the storage needs another look at the environment. */
static bool is_due(const struct identity_share *share, int64_t now) {
    return !share->identity || now >= share->identity->renewal.renew_at_s;
}

/* `visit->identity` stays NULL if the storage needs none. */
static recmap_status choose(struct visit *visit, const struct identity_kind *kind,
                            recmap_error *error) {
    struct identity *fresh = NULL;
    int64_t now = clock_unix_s();
    process_lock();
    bool is_used = kind->is_used(visit->options, visit->share);
    bool needs_choice = is_due(visit->share, now);
    if (is_used && !needs_choice) visit->identity = visit->share->identity;
    process_unlock();
    if (!is_used || !needs_choice) return RECMAP_OK;
    RETURN_IF_FAILED(create(&fresh, kind, visit->options, visit->exchange, error));
    visit->identity = find(fresh);
    return RECMAP_OK;
}

/* ---- Its credentials. */

static bool is_used(const void *context) {
    const struct visit *visit = context;
    return visit->identity->kind->is_used(visit->options, visit->share);
}

/* The old credentials are erased after the lock is released. */
static void replace(struct identity *identity, struct storage_options *fresh) {
    struct storage_options former = identity->credentials;
    identity->credentials = *fresh;
    identity->version++;
    *fresh = former;
}

static recmap_status fetch(int64_t *expires_s, void *context, recmap_error *error) {
    struct identity *identity = ((struct visit *)context)->identity;
    struct storage_options fresh = {0};
    recmap_status status = identity->kind->fetch(&fresh, expires_s, identity, error);
    if (status == RECMAP_OK && *expires_s != RENEWAL_NONE) {
        process_lock();
        replace(identity, &fresh);
        process_unlock();
    }
    storage_options_deinit(&fresh);
    return status;
}

static void clear(void *context) {
    struct storage_options none = {0};
    replace(((struct visit *)context)->identity, &none);
    storage_options_deinit(&none);
}

static const struct renewal_kind renewal_kind = {is_used, fetch, clear};

/* Gives the storage what the identity has now. Whether the storage still uses it is decided under
 * the lock that guards its credentials: credentials that the caller has set since then stay, and do
 * not count as those of the identity. */
static recmap_status install(const struct visit *visit, recmap_error *error) {
    struct identity_share *share = visit->share;
    struct identity *identity = visit->identity;
    const struct identity_kind *kind = identity->kind;
    struct storage_options fresh = {0};
    recmap_status status = RECMAP_OK;
    process_lock();
    bool is_current = share->identity == identity && share->version == identity->version;
    bool has_credentials = identity->renewal.is_managed;
    bool is_installed = is_current && share->is_managed == has_credentials;
    if (!is_installed && kind->is_used(visit->options, share)) {
        if (has_credentials)
            status = copy_options(&fresh, kind->credentials, kind->credential_count,
                                  &identity->credentials, error);
        bool is_changed = status == RECMAP_OK && (has_credentials || share->is_managed);
        for (size_t i = 0; is_changed && i < kind->credential_count; i++)
            storage_options_swap(visit->options, &fresh, kind->credentials[i]);
        if (status == RECMAP_OK)
            *share = (struct identity_share){identity, identity->version, has_credentials};
    }
    process_unlock();
    storage_options_deinit(&fresh);
    return status;
}

recmap_status identity_prepare(struct identity_share *share, const struct identity_kind *kind,
                               struct storage_options *options, exchange_function *exchange,
                               recmap_error *error) {
    struct visit visit = {.share = share, .options = options, .exchange = exchange};
    RETURN_IF_FAILED(choose(&visit, kind, error));
    if (!visit.identity) return RECMAP_OK;
    RETURN_IF_FAILED(renewal_prepare(&visit.identity->renewal, &renewal_kind, &visit, error));
    return install(&visit, error);
}
