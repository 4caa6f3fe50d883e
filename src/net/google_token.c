#include "net/google_token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "net/exchange.h"
#include "os/process.h"
#include "os/thread.h"
#include "protocol/access_token.h"
#include "protocol/url.h"

#define METADATA_HOST "169.254.169.254"
#define METADATA_NAME "metadata.google.internal"
#define TOKEN_PATH "/computeMetadata/v1/instance/service-accounts/default/token"
#define NS_PER_MS 1000000ull

enum {
    ATTEMPTS_MAX = 3,
    PAUSE_MS = 100,
    WAIT_MS = 20,
    AHEAD_S = 300, /* a token is renewed this long before it expires */
    AGAIN_S = 30,  /* after a renewal that failed */
    URL_SIZE = 512,
};

/* What is found out in one call of `fetch`. It contains secrets. */
struct fetch {
    struct storage_options options;
    struct exchange_reply reply;
    char url[URL_SIZE];
    struct access_token token;
    bool is_absent; /* there is no service, or it has no account */
};

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

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
    const char *host = variable("GCE_METADATA_HOST");
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
        RETURN_IF_FAILED(exchange_run(&fetch->reply, &request, &fetch->options, error));
        bool is_silent = !fetch->reply.status && !is_named;
        if (i + 1 == ATTEMPTS_MAX || is_silent || !may_pass(&fetch->reply)) return RECMAP_OK;
        sleep_ns((uint64_t)PAUSE_MS * NS_PER_MS << i);
    }
}

/* Credentials that the environment names are not replaced by those of the machine: its identity
 * would be another one. */
static recmap_status check_environment(recmap_error *error) {
    if (!variable("GOOGLE_APPLICATION_CREDENTIALS")[0]) return RECMAP_OK;
    fail(error, RECMAP_INVALID,
         "GOOGLE_APPLICATION_CREDENTIALS names a file, which recmap does not read");
    fail_advise(error,
                "pass a token from a callable (credentials=), or the storage options key and "
                "secret; or unset the variable to use the account of the machine");
    return RECMAP_INVALID;
}

static recmap_status fetch(struct fetch *fetch, recmap_error *error) {
    bool is_named = variable("GCE_METADATA_HOST")[0];
    RETURN_IF_FAILED(check_environment(error));
    fetch->is_absent = !strcmp(variable("NO_GCE_CHECK"), "true") && !is_named;
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

enum turn { TURN_NONE, TURN_FETCH, TURN_WAIT };

/* Whether the text is the whole host of a URL, perhaps with a port. */
static bool is_host(const char *text, const char *host) {
    size_t size = strlen(host);
    if (strncmp(text, host, size) != 0) return false;
    text += size;
    if (*text == ':') text += 1 + strspn(text + 1, "0123456789");
    return !*text || *text == '/';
}

/* Whether nobody on the network can read what is sent to the endpoint. The user did not choose to
 * send the account of the machine there in clear text. */
static bool is_private(const struct storage_options *options) {
    const char *endpoint = storage_options_get(options, OPTION_ENDPOINT);
    if (!options->is_explicit[OPTION_ENDPOINT] || !endpoint[0]) return true;
    if (!strncmp(endpoint, "https://", 8)) return true;
    if (strncmp(endpoint, "http://", 7) != 0) return false;
    return is_host(endpoint + 7, "localhost") || is_host(endpoint + 7, "127.0.0.1") ||
           is_host(endpoint + 7, "[::1]");
}

static bool needs_token(const struct storage_options *options) {
    return !storage_options_is_on(options, OPTION_ANONYMOUS) && !options->is_explicit[OPTION_KEY] &&
           !options->is_explicit[OPTION_TOKEN] && is_private(options);
}

/* What the calling thread has to do. The process of the thread that fetches is noted, because after
 * a fork the child has no such thread. */
static enum turn take_turn(recmap_storage *storage) {
    struct role_state *google = &storage->google;
    int64_t now = clock_unix_s();
    enum turn turn = TURN_NONE;
    process_lock();
    if (needs_token(&storage->options) && now >= google->renew_at_s) {
        bool is_fetching = google->fetching_process == process_id();
        if (!is_fetching) turn = TURN_FETCH;
        else if (!google->is_managed || now >= google->expires_s) turn = TURN_WAIT;
        if (!is_fetching) google->fetching_process = process_id();
    }
    process_unlock();
    return turn;
}

/* Half of the time if there is little: the service hands out the same token until shortly before it
 * expires. */
static int64_t find_renewal(int64_t now, int64_t expires) {
    int64_t half = now + (expires - now) / 2, ahead = expires - AHEAD_S;
    int64_t renewal = ahead > half ? ahead : half;
    return renewal > now ? renewal : now + 1;
}

/* When to ask again if there was no new token: at the latest when the present one expires. */
static int64_t find_retry(const struct role_state *google, int64_t now) {
    bool is_earlier = google->is_managed && google->expires_s < now + AGAIN_S;
    return is_earlier ? google->expires_s : now + AGAIN_S;
}

/* Ends the turn. A token that could not be renewed is used until it expires. After that, if the
 * service has disappeared, there is none. */
static recmap_status finish_turn(recmap_storage *storage, const struct fetch *fetch,
                                 recmap_status status, recmap_error *error) {
    int64_t now = clock_unix_s();
    bool is_new = status == RECMAP_OK && !fetch->is_absent;
    struct role_state *google = &storage->google;
    bool is_over = status == RECMAP_OK && !is_new && now >= google->expires_s;
    if (is_new) status = storage_set_google_token(storage, fetch->token.text, error);
    if (is_over) storage_clear_google_token(storage);
    process_lock();
    google->fetching_process = 0;
    google->is_managed &= !is_over;
    if (is_new && status == RECMAP_OK) {
        google->is_managed = true;
        google->expires_s = now + (int64_t)fetch->token.lifetime_s;
        google->renew_at_s = find_renewal(now, google->expires_s);
    } else if (status == RECMAP_OK || (google->is_managed && now < google->expires_s)) {
        google->renew_at_s = find_retry(google, now);
        if (status != RECMAP_CANCELLED) status = RECMAP_OK;
    }
    process_unlock();
    return status;
}

static void end_turn(recmap_storage *storage) {
    process_lock();
    storage->google.fetching_process = 0;
    process_unlock();
}

static recmap_status take_token(recmap_storage *storage, recmap_error *error) {
    struct fetch *fresh = calloc(1, sizeof *fresh);
    recmap_status status = fresh ? storage_copy_options(&fresh->options, storage, error)
                                 : fail_memory(error);
    if (status == RECMAP_OK) {
        status = fetch(fresh, error);
        status = finish_turn(storage, fresh, status, error);
        storage_options_deinit(&fresh->options);
    } else {
        end_turn(storage);
    }
    if (fresh) explicit_bzero(fresh, sizeof *fresh);
    free(fresh);
    return status;
}

recmap_status google_token_prepare(recmap_storage *storage, recmap_error *error) {
    for (;;) {
        enum turn turn = take_turn(storage);
        if (turn == TURN_NONE) return RECMAP_OK;
        if (turn == TURN_FETCH) return take_token(storage, error);
        if (!interrupt_continues(thread_interrupt(), INTERRUPT_WORK)) return interrupt_fail(error);
        sleep_ns(WAIT_MS * NS_PER_MS);
    }
}
