#include "storage/credentials/role.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "storage/credentials/role_fetch.h"
#include "storage/credentials/role_profile.h"
#include "storage/credentials/role_services.h"

/* A profile, a service that the environment names, or else the machine's. One that fails is not
 * replaced by the next: its identity would be another one. */
static recmap_status fetch(struct role_fetch *fetch, recmap_error *error) {
    const char *profile =
        storage_options_get(identity_options(fetch->identity), OPTION_ROLE_PROFILE);
    if (profile[0]) return role_fetch_profile(fetch, profile, error);
    if (role_variable(fetch, ROLE_TOKEN_FILE)[0] && role_variable(fetch, ROLE_ARN)[0])
        return role_fetch_web_identity(fetch, error);
    if (role_has_container(fetch)) return role_fetch_container(fetch, error);
    return role_fetch_machine(fetch, error);
}

/* A profile that was named and has no credentials is not replaced by another identity. */
static bool is_used(const struct storage_options *options, const struct identity_share *share) {
    bool has_other_keys = options->values[OPTION_KEY] ||
                          (options->values[OPTION_AMAZON_KEY] && !share->is_managed);
    bool has_other_profile = options->values[OPTION_PROFILE] &&
                             !options->values[OPTION_ROLE_PROFILE];
    return !storage_options_is_on(options, OPTION_ANONYMOUS) && !has_other_profile &&
           !has_other_keys && !options->values[OPTION_CREDENTIAL_PROCESS];
}

/* The values become parts of headers. They are graphic ASCII: see role_reply.h. */
static recmap_status keep(struct storage_options *credentials, const struct role_credentials *role,
                          recmap_error *error) {
    RETURN_IF_FAILED(storage_options_keep(credentials, OPTION_AMAZON_KEY, role->key, error));
    RETURN_IF_FAILED(storage_options_keep(credentials, OPTION_AMAZON_SECRET, role->secret, error));
    return storage_options_keep(credentials, OPTION_AMAZON_TOKEN, role->token, error);
}

static recmap_status fetch_credentials(struct storage_options *credentials, int64_t *expires_s,
                                       const struct identity *identity, recmap_error *error) {
    struct role_fetch *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->identity = identity;
    recmap_status status = fetch(fresh, error);
    if (status == RECMAP_OK && !fresh->is_absent) {
        status = keep(credentials, &fresh->credentials, error);
        *expires_s = fresh->credentials.expires_s;
    }
    explicit_bzero(fresh, sizeof *fresh);
    free(fresh);
    return status;
}

/* The order of `enum role_variable`. */
const struct identity_kind role_identity = {
    .variables = {"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME",
                  "AWS_ENDPOINT_URL_STS", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                  "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                  "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_EC2_METADATA_SERVICE_ENDPOINT",
                  "AWS_EC2_METADATA_DISABLED", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                  "AWS_SESSION_TOKEN", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "HOME",
                  "AWS_ENDPOINT_URL_SSO"},
    .credentials = {OPTION_AMAZON_KEY, OPTION_AMAZON_SECRET, OPTION_AMAZON_TOKEN},
    .credential_count = 3,
    .is_used = is_used,
    .fetch = fetch_credentials};
