#include "storage/credentials/google_token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/process.h"
#include "storage/protocol/access_token.h"
#include "storage/protocol/url.h"

#define METADATA_HOST "169.254.169.254"
#define METADATA_NAME "metadata.google.internal"
#define TOKEN_PATH "/computeMetadata/v1/instance/service-accounts/default/token"
#define NS_PER_MS 1000000ull

enum {
    ATTEMPTS_MAX = 3,
    PAUSE_MS = 100,
    URL_SIZE = 512,
};

/* What is found out in one call of `fetch`. It contains secrets. */
struct fetch {
    const struct identity *identity;
    struct exchange_reply reply;
    char url[URL_SIZE];
    struct access_token token;
    bool is_absent; /* there is no service, or it has no account */
};

/* The order of the variables of the identity. */
enum { VARIABLE_HOST, VARIABLE_NO_CHECK, VARIABLE_FILE };

/* ---- The request. */

static recmap_status fail_service(const struct fetch *fetch, const char *reason, int number,
                                  recmap_error *error) {
    fail(error, RECMAP_IO, "no credentials from the metadata service of Google Cloud: %s", reason);
    fail_file(error, fetch->url);
    fail_advise(error, "check the service account of the machine or pod, and GCE_METADATA_HOST");
    if (error) error->system_errno = number;
    return RECMAP_IO;
}

static recmap_status fail_answer(const struct fetch *fetch, recmap_error *error) {
    char reason[64];
    long status = fetch->reply.status;
    if (!status) return fail_service(fetch, fetch->reply.reason, EIO, error);
    snprintf(reason, sizeof reason, "it answers HTTP %ld", status);
    return fail_service(fetch, reason, status >= 400 && status < 500 ? EACCES : EIO, error);
}

/* The name of the service is not looked up: an address that a name leads to may not be link-local.
 */
static recmap_status write_url(struct fetch *fetch, recmap_error *error) {
    struct url url;
    const char *host = identity_variable(fetch->identity, VARIABLE_HOST);
    if (!host[0] || !strcmp(host, METADATA_NAME)) host = METADATA_HOST;
    int size = snprintf(fetch->url, sizeof fetch->url, "http://%s" TOKEN_PATH, host);
    if (size < (int)sizeof fetch->url && !url_parse(&url, fetch->url) &&
        url.host_size == strlen(host))
        return RECMAP_OK;
    fail(error, RECMAP_INVALID, "GCE_METADATA_HOST is not a host");
    fail_advise(error, "set it to HOST or HOST:PORT, or unset it");
    return RECMAP_INVALID;
}

static bool may_pass(const struct exchange_reply *reply) {
    return !reply->status || reply->status == 429 || reply->status >= 500;
}

/* A machine outside Google Cloud has no such service: it is tried once there. */
static recmap_status request_often(struct fetch *fetch, bool is_named, recmap_error *error) {
    const struct exchange_request request = {.method = "GET",
                                             .url = fetch->url,
                                             .headers = {"Metadata-Flavor: Google"},
                                             .is_local = true};
    for (unsigned i = 0;; i++) {
        RETURN_IF_FAILED(identity_exchange(&fetch->reply, &request, fetch->identity, error));
        bool is_silent = !fetch->reply.status && !is_named;
        if (i + 1 == ATTEMPTS_MAX || is_silent || !may_pass(&fetch->reply)) return RECMAP_OK;
        sleep_ns((uint64_t)PAUSE_MS * NS_PER_MS << i);
    }
}

/* Credentials that the environment names are not replaced by those of the machine: its identity
 * would be another one. */
static recmap_status check_environment(const struct identity *identity, recmap_error *error) {
    if (!identity_variable(identity, VARIABLE_FILE)[0]) return RECMAP_OK;
    fail(error, RECMAP_INVALID,
         "GOOGLE_APPLICATION_CREDENTIALS names a file, which recmap does not read");
    fail_advise(error,
                "pass a token from a callable (credentials=), or the storage options key and "
                "secret; or unset the variable to use the account of the machine");
    return RECMAP_INVALID;
}

static recmap_status fetch(struct fetch *fetch, recmap_error *error) {
    const char *no_check = identity_variable(fetch->identity, VARIABLE_NO_CHECK);
    bool is_named = identity_variable(fetch->identity, VARIABLE_HOST)[0];
    RETURN_IF_FAILED(check_environment(fetch->identity, error));
    fetch->is_absent = !strcmp(no_check, "true") && !is_named;
    if (fetch->is_absent) return RECMAP_OK;
    RETURN_IF_FAILED(write_url(fetch, error));
    RETURN_IF_FAILED(request_often(fetch, is_named, error));
    fetch->is_absent = !is_named && fetch->reply.status < 500 && fetch->reply.status != 200;
    if (fetch->is_absent) return RECMAP_OK;
    if (fetch->reply.status != 200) return fail_answer(fetch, error);
    if (access_token_read(&fetch->token, fetch->reply.body, fetch->reply.size)) return RECMAP_OK;
    return fail_service(fetch, "its reply cannot be understood", EIO, error);
}

/* ---- The token of a storage. */

/* Whether nobody on the network can read what is sent to the endpoint. The user did not choose to
 * send the account of the machine there in clear text. */
static bool is_private(const struct storage_options *options) {
    const char *endpoint = storage_options_get(options, OPTION_ENDPOINT);
    return !options->is_explicit[OPTION_ENDPOINT] || !endpoint[0] || url_is_private(endpoint);
}

static bool is_used(const struct storage_options *options, const struct identity_share *share) {
    (void)share;
    return !storage_options_is_on(options, OPTION_ANONYMOUS) && !options->is_explicit[OPTION_KEY] &&
           !options->is_explicit[OPTION_TOKEN] && !options->values[OPTION_CREDENTIAL_PROCESS] &&
           is_private(options);
}

static recmap_status fetch_token(struct storage_options *credentials, int64_t *expires_s,
                                 const struct identity *identity, recmap_error *error) {
    struct fetch *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->identity = identity;
    recmap_status status = fetch(fresh, error);
    if (status == RECMAP_OK && !fresh->is_absent) {
        status = storage_options_keep(credentials, OPTION_GOOGLE_TOKEN, fresh->token.text, error);
        *expires_s = clock_unix_s() + (int64_t)fresh->token.lifetime_s;
    }
    explicit_bzero(fresh, sizeof *fresh);
    free(fresh);
    return status;
}

const struct identity_kind google_token_identity = {
    .variables = {"GCE_METADATA_HOST", "NO_GCE_CHECK", "GOOGLE_APPLICATION_CREDENTIALS"},
    .credentials = {OPTION_GOOGLE_TOKEN},
    .credential_count = 1,
    .is_used = is_used,
    .fetch = fetch_token};
