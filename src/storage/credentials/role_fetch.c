#include "storage/credentials/role_fetch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/process.h"
#include "storage/protocol/aws_domain.h"
#include "storage/protocol/reply.h"
#include "storage/protocol/url.h"

#define NS_PER_MS 1000000ull

enum { ATTEMPTS_MAX = 3, PAUSE_MS = 100 };

const char *role_variable(const struct role_fetch *fetch, enum role_variable variable) {
    return identity_variable(fetch->identity, variable);
}

recmap_status role_fail_profile(const char *profile, const char *reason, const char *advice,
                                recmap_error *error) {
    fail(error, RECMAP_INVALID, "the profile \"%.64s\" cannot be used: %s", profile, reason);
    fail_advise(error, "%s", advice);
    return RECMAP_INVALID;
}

recmap_status role_fail(const struct role_fetch *fetch, const struct role_service *service,
                        const char *reason, int number, recmap_error *error) {
    fail(error, RECMAP_IO, "no credentials from %s: %s", service->name, reason);
    fail_file(error, fetch->url);
    fail_advise(error, "%s", service->advice);
    if (error) error->system_errno = number;
    return RECMAP_IO;
}

recmap_status role_fail_status(const struct role_fetch *fetch, const struct role_service *service,
                               recmap_error *error) {
    char code[CODE_MAX], reason[CODE_MAX + 160];
    const struct exchange_reply *reply = &fetch->reply;
    reply_find_code(code, reply->body, reply->size);
    if (reply->status)
        snprintf(reason, sizeof reason, "it answers HTTP %ld%s%s", reply->status,
                 code[0] ? " " : "", code);
    else snprintf(reason, sizeof reason, "%s", reply->reason);
    bool is_refused = reply->status >= 400 && reply->status < 500;
    return role_fail(fetch, service, reason, is_refused ? EACCES : EIO, error);
}

recmap_status role_fail_reply(const struct role_fetch *fetch, const struct role_service *service,
                              recmap_error *error) {
    return role_fail(fetch, service, "its reply cannot be understood", EIO, error);
}

static bool may_pass(const struct exchange_reply *reply) {
    return !reply->status || reply->status == 429 || reply->status >= 500;
}

recmap_status role_request(struct role_fetch *fetch, const struct exchange_request *request,
                           bool is_once, recmap_error *error) {
    for (unsigned i = 1;; i++) {
        RETURN_IF_FAILED(identity_exchange(&fetch->reply, request, fetch->identity, error));
        if (is_once || i == ATTEMPTS_MAX || !may_pass(&fetch->reply)) return RECMAP_OK;
        sleep_ns((uint64_t)PAUSE_MS * NS_PER_MS << (i - 1));
    }
}

void role_write_sts_url(struct role_fetch *fetch) {
    const char *endpoint = role_variable(fetch, ROLE_STS);
    const char *region = storage_options_get(identity_options(fetch->identity), OPTION_REGION);
    if (endpoint[0]) snprintf(fetch->url, sizeof fetch->url, "%.1024s", endpoint);
    else if (region[0])
        snprintf(fetch->url, sizeof fetch->url, "https://sts.%.64s.%s/", region,
                 aws_domain(region));
    else snprintf(fetch->url, sizeof fetch->url, "https://sts.amazonaws.com/");
}

bool role_add_parameter(struct role_fetch *fetch, const char *name, const char *value) {
    char *form = fetch->form;
    size_t capacity = sizeof fetch->form;
    return url_append(form, capacity, form[0] ? "&" : "", form[0] ? 1 : 0) &&
           url_append(form, capacity, name, strlen(name)) && url_append(form, capacity, "=", 1) &&
           url_append_encoded(form, capacity, value, strlen(value), false);
}
