/* One attempt to get the credentials of a role: what is known so far, its requests and its errors.
 * Internal to role.c, role_services.c, role_profile.c, sso.c and credential_process.c. */
#ifndef RECMAP_STORAGE_CREDENTIALS_ROLE_FETCH_H
#define RECMAP_STORAGE_CREDENTIALS_ROLE_FETCH_H

#include <stdbool.h>

#include <recmap/status.h>

#include "storage/credentials/exchange.h"
#include "storage/credentials/identity.h"
#include "storage/protocol/role_reply.h"

#define ROLE_ADVICE_FILES "correct the profile in ~/.aws/config"

enum {
    ROLE_FILE_MAX = 16 << 10, /* of a file with a token */
    ROLE_URL_SIZE = 2048,
    ROLE_HEADER_SIZE = ROLE_FILE_MAX + 64,
    ROLE_FORM_SIZE = 3 * ROLE_FILE_MAX + 4096,
};

/* A service that issues credentials, for messages. */
struct role_service {
    const char *name;
    const char *advice;
};

/* It contains secrets. */
struct role_fetch {
    const struct identity *identity;
    struct exchange_reply reply;
    char url[ROLE_URL_SIZE], header[ROLE_HEADER_SIZE], form[ROLE_FORM_SIZE];
    struct role_credentials credentials;
    bool is_absent; /* there is no service, or it has no role */
};

/* Variables of the environment, in the order of the names in role.c. */
enum role_variable {
    ROLE_TOKEN_FILE,
    ROLE_ARN,
    ROLE_SESSION,
    ROLE_STS,
    ROLE_CONTAINER_PATH,
    ROLE_CONTAINER_URL,
    ROLE_CONTAINER_TOKEN,
    ROLE_CONTAINER_TOKEN_FILE,
    ROLE_MACHINE,
    ROLE_NO_MACHINE,
    ROLE_KEY,
    ROLE_SECRET,
    ROLE_TOKEN,
    ROLE_CREDENTIALS_FILE,
    ROLE_CONFIG_FILE,
    ROLE_HOME,
    ROLE_SSO,
};

/* The value when the identity was chosen, or "". */
const char *role_variable(const struct role_fetch *fetch, enum role_variable variable);

/* The error of a profile that cannot be used as it is. */
recmap_status role_fail_profile(const char *profile, const char *reason, const char *advice,
                                recmap_error *error);

/* Errors of the service at `fetch->url`: for a reason, for the reply's status, for a reply that
 * cannot be understood. No message quotes a reply. */
recmap_status role_fail(const struct role_fetch *fetch, const struct role_service *service,
                        const char *reason, int number, recmap_error *error);
recmap_status role_fail_status(const struct role_fetch *fetch, const struct role_service *service,
                               recmap_error *error);
recmap_status role_fail_reply(const struct role_fetch *fetch, const struct role_service *service,
                              recmap_error *error);

/* Makes a request, and repeats it a few times after failures that may pass; with `is_once`, it is
 * made once. The reply may have any status. */
recmap_status role_request(struct role_fetch *fetch, const struct exchange_request *request,
                           bool is_once, recmap_error *error);

/* Writes the URL of STS: the environment's, or that of the region. */
void role_write_sts_url(struct role_fetch *fetch);

/* Adds a parameter to the form. Returns false if it is too long. */
bool role_add_parameter(struct role_fetch *fetch, const char *name, const char *value);

#endif
