#include "storage/credentials/role_profile.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/core/error.h"
#include "base/os/process.h"
#include "storage/credentials/credential_process.h"
#include "storage/credentials/profile_files.h"
#include "storage/credentials/role_services.h"
#include "storage/credentials/sso.h"
#include "storage/protocol/profile.h"
#include "storage/protocol/signature.h"
#include "storage/protocol/url.h"

#define CONTENT_TYPE "application/x-www-form-urlencoded"

enum {
    NAME_SIZE = 128,
    VALUE_SIZE = 2048,
    HOST_SIZE = 320,
    COMMAND_SIZE = 8192,
    DURATION_MIN = 900,
    DURATION_MAX = 43200,
};

/* Each profile assumes its role with the credentials of the next one, and the last one with those
 * of the source: a profile with keys or another source besides a role, or a service. Without
 * profiles, the credentials are those of the source. */
struct chain {
    const struct profile_files *files;
    char profiles[ROLE_CHAIN_MAX][NAME_SIZE];
    size_t count;
    char source[NAME_SIZE];
    bool is_service; /* the source */
};

/* ---- What the files say. */

static recmap_status fail_profile(const char *profile, const char *reason, const char *advice,
                                  recmap_error *error) {
    fail(error, RECMAP_INVALID, "the role of the profile \"%.64s\" cannot be assumed: %s", profile,
         reason);
    fail_advise(error, "%s", advice);
    return RECMAP_INVALID;
}

#define ADVICE_MFA                                                                                 \
    "use a profile with SSO, or keys from `aws sts get-session-token --token-code CODE`"
#define ADVICE_CALLABLE "pass credentials from a callable (credentials=), for example with boto3"

/* Settings that need more than STS and keys. They are not ignored: credentials that were obtained
 * without them could be those of another identity. */
static recmap_status check_settings(const struct chain *chain, const char *profile,
                                    recmap_error *error) {
    if (profile_files_have_value(chain->files, profile, "mfa_serial"))
        return fail_profile(profile,
                            "mfa_serial is not supported: nobody types a code during a run",
                            ADVICE_MFA, error);
    if (profile_files_have_value(chain->files, profile, "web_identity_token_file"))
        return fail_profile(profile, "web_identity_token_file is not supported", ADVICE_CALLABLE,
                            error);
    if (!profile_files_have_value(chain->files, profile, "role_arn"))
        return fail_profile(profile, "it has no role_arn", ROLE_ADVICE_FILES, error);
    bool has_profile = profile_files_have_value(chain->files, profile, "source_profile");
    bool has_service = profile_files_have_value(chain->files, profile, "credential_source");
    if (has_profile != has_service) return RECMAP_OK;
    return fail_profile(profile,
                        has_profile ? "it has both source_profile and credential_source"
                                    : "it has neither source_profile nor credential_source",
                        ROLE_ADVICE_FILES, error);
}

static bool is_in_chain(const struct chain *chain, const char *profile) {
    for (size_t i = 0; i < chain->count; i++)
        if (!strcmp(chain->profiles[i], profile)) return true;
    return false;
}

/* A profile may be its own source if it has keys. */
static recmap_status check_source(const struct chain *chain, const char *profile, bool is_complete,
                                  recmap_error *error) {
    char reason[NAME_SIZE + 128];
    const char *source = chain->source;
    if (!profile_files_have(chain->files, source))
        snprintf(reason, sizeof reason, "there is no profile \"%.64s\", its source", source);
    else if (is_in_chain(chain, source) && (strcmp(source, profile) != 0 || !is_complete))
        snprintf(reason, sizeof reason, "its source_profile leads back to \"%.64s\"", source);
    else if (!is_complete && !profile_files_have_value(chain->files, source, "role_arn"))
        snprintf(reason, sizeof reason,
                 "its source \"%.64s\" has neither keys nor a role_arn, SSO or credential_process",
                 source);
    else if (!is_complete && chain->count == ROLE_CHAIN_MAX)
        snprintf(reason, sizeof reason, "more than %d roles are assumed one after the other",
                 ROLE_CHAIN_MAX);
    else return RECMAP_OK;
    return fail_profile(profile, reason, ROLE_ADVICE_FILES, error);
}

/* Whether the profile that is a source needs no role: as for the tools of AWS, a role comes after
 * keys there, but before other sources. */
static bool is_last(const struct chain *chain, const char *profile) {
    if (profile_files_with_key(chain->files, profile)) return true;
    return profile_files_source(chain->files, profile) != PROFILE_NOTHING &&
           !profile_files_have_value(chain->files, profile, "role_arn");
}

/* Adds the profile, and finds its source. `is_complete` says that this is no further role. */
static recmap_status add_profile(struct chain *chain, bool *is_complete, const char *profile,
                                 recmap_error *error) {
    assert(chain->count < ROLE_CHAIN_MAX);
    snprintf(chain->profiles[chain->count++], NAME_SIZE, "%s", profile);
    const char *added = chain->profiles[chain->count - 1];
    RETURN_IF_FAILED(check_settings(chain, added, error));
    chain->is_service = profile_files_have_value(chain->files, added, "credential_source");
    const char *name = chain->is_service ? "credential_source" : "source_profile";
    if (!profile_files_copy(chain->source, sizeof chain->source, chain->files, added, name))
        return fail_profile(added, "the name of its source is too long", ROLE_ADVICE_FILES, error);
    *is_complete = chain->is_service;
    if (chain->is_service) return RECMAP_OK;
    *is_complete = is_last(chain, chain->source);
    return check_source(chain, added, *is_complete, error);
}

static recmap_status find_chain(struct chain *chain, const char *profile, recmap_error *error) {
    bool is_complete = false;
    if (strlen(profile) >= NAME_SIZE)
        return fail_profile(profile, "its name is too long", ROLE_ADVICE_FILES, error);
    snprintf(chain->source, sizeof chain->source, "%s", profile);
    is_complete = profile_files_source(chain->files, profile) != PROFILE_NOTHING &&
                  !profile_files_have_value(chain->files, profile, "role_arn");
    while (!is_complete) {
        char next[NAME_SIZE];
        memcpy(next, chain->source, sizeof next);
        RETURN_IF_FAILED(add_profile(chain, &is_complete, next, error));
    }
    return RECMAP_OK;
}

/* ---- The first credentials. */

/* They become parts of headers. */
static bool is_graphic(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text <= 0x20 || (unsigned char)*text >= 0x7f) return false;
    return true;
}

static bool copy_key(char *value, size_t capacity, const char *text, size_t size) {
    if (size >= capacity) return false;
    memcpy(value, text, size);
    value[size] = 0;
    return is_graphic(value);
}

static bool copy_profile_key(char *value, size_t capacity, const struct chain *chain,
                             const char *name) {
    size_t size = 0;
    bool has_section;
    const char *text = profile_files_with_key(chain->files, chain->source);
    const char *found = profile_find(&size, &has_section, text, chain->source, name);
    return copy_key(value, capacity, found ? found : "", size);
}

static recmap_status use_profile_keys(struct role_fetch *fetch, const struct chain *chain,
                                      recmap_error *error) {
    struct role_credentials *keys = &fetch->credentials;
    bool is_good =
        copy_profile_key(keys->key, sizeof keys->key, chain, "aws_access_key_id") &&
        copy_profile_key(keys->secret, sizeof keys->secret, chain, "aws_secret_access_key") &&
        copy_profile_key(keys->token, sizeof keys->token, chain, "aws_session_token");
    keys->expires_s = ROLE_NEVER;
    if (is_good && keys->key[0] && keys->secret[0]) return RECMAP_OK;
    return role_fail_profile(chain->source, "its keys are not usable",
                             "give its aws_access_key_id and aws_secret_access_key in one file",
                             error);
}

static bool copy_variable(char *value, size_t capacity, const struct role_fetch *fetch,
                          enum role_variable variable) {
    const char *text = role_variable(fetch, variable);
    return copy_key(value, capacity, text, strlen(text));
}

static recmap_status use_environment(struct role_fetch *fetch, const char *profile,
                                     recmap_error *error) {
    struct role_credentials *keys = &fetch->credentials;
    bool is_good = copy_variable(keys->key, sizeof keys->key, fetch, ROLE_KEY) &&
                   copy_variable(keys->secret, sizeof keys->secret, fetch, ROLE_SECRET) &&
                   copy_variable(keys->token, sizeof keys->token, fetch, ROLE_TOKEN);
    if (is_good && keys->key[0] && keys->secret[0]) return RECMAP_OK;
    return fail_profile(profile, "the environment has no usable keys",
                        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", error);
}

static recmap_status use_machine(struct role_fetch *fetch, const char *profile,
                                 recmap_error *error) {
    RETURN_IF_FAILED(role_fetch_machine(fetch, error));
    if (!fetch->is_absent) return RECMAP_OK;
    return fail_profile(profile, "there is no instance metadata service, or it has no role",
                        "run it on an EC2 instance with a role, without AWS_EC2_METADATA_DISABLED",
                        error);
}

static recmap_status use_container(struct role_fetch *fetch, const char *profile,
                                   recmap_error *error) {
    if (role_has_container(fetch)) return role_fetch_container(fetch, error);
    return fail_profile(profile, "the environment names no endpoint of a container",
                        "run it in a task or pod with a role, which sets "
                        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI",
                        error);
}

static recmap_status use_service(struct role_fetch *fetch, const struct chain *chain,
                                 recmap_error *error) {
    const char *profile = chain->profiles[chain->count - 1];
    if (!strcasecmp(chain->source, "Environment")) return use_environment(fetch, profile, error);
    if (!strcasecmp(chain->source, "Ec2InstanceMetadata"))
        return use_machine(fetch, profile, error);
    if (!strcasecmp(chain->source, "EcsContainer")) return use_container(fetch, profile, error);
    return fail_profile(profile, "its credential_source is unknown",
                        "the credential_source is Environment, Ec2InstanceMetadata or EcsContainer",
                        error);
}

static recmap_status use_process(struct role_fetch *fetch, const struct chain *chain,
                                 recmap_error *error) {
    char command[COMMAND_SIZE];
    struct process_credentials printed = {0};
    if (!profile_files_copy(command, sizeof command, chain->files, chain->source,
                            "credential_process"))
        return role_fail_profile(chain->source, "its credential_process is too long",
                                 "write a shorter command", error);
    recmap_status status = credential_process_run(&printed, command, chain->source, error);
    if (status == RECMAP_OK && !printed.key[0])
        status = role_fail_profile(chain->source, "its credential_process prints no keys",
                                   ROLE_ADVICE_FILES, error);
    memcpy(fetch->credentials.key, printed.key, sizeof printed.key);
    memcpy(fetch->credentials.secret, printed.secret, sizeof printed.secret);
    memcpy(fetch->credentials.token, printed.token, sizeof printed.token);
    fetch->credentials.expires_s = printed.expires_s;
    explicit_bzero(&printed, sizeof printed);
    explicit_bzero(command, sizeof command);
    return status;
}

static recmap_status use_source(struct role_fetch *fetch, const struct chain *chain,
                                recmap_error *error) {
    if (chain->is_service) return use_service(fetch, chain, error);
    switch (profile_files_source(chain->files, chain->source)) {
    case PROFILE_SSO: return sso_fetch(fetch, chain->files, chain->source, error);
    case PROFILE_PROCESS: return use_process(fetch, chain, error);
    case PROFILE_KEYS:
    case PROFILE_NOTHING: break;
    }
    return use_profile_keys(fetch, chain, error);
}

/* ---- Assuming a role. */

static bool is_duration(const char *text) {
    size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 5 || text[digits]) return false;
    unsigned long seconds = strtoul(text, NULL, 10);
    return seconds >= DURATION_MIN && seconds <= DURATION_MAX;
}

/* Adds a setting of the profile to the form, if it has it. */
static bool add_setting(struct role_fetch *fetch, const struct chain *chain, const char *profile,
                        const char *setting, const char *parameter) {
    char value[VALUE_SIZE];
    return profile_files_copy(value, sizeof value, chain->files, profile, setting) &&
           (!value[0] || role_add_parameter(fetch, parameter, value));
}

static bool add_session(struct role_fetch *fetch, const struct chain *chain, const char *profile) {
    const char *variable = role_variable(fetch, ROLE_SESSION);
    if (profile_files_have_value(chain->files, profile, "role_session_name"))
        return add_setting(fetch, chain, profile, "role_session_name", "RoleSessionName");
    return role_add_parameter(fetch, "RoleSessionName", variable[0] ? variable : "recmap");
}

static recmap_status write_form(struct role_fetch *fetch, const struct chain *chain,
                                const char *profile, recmap_error *error) {
    char duration[VALUE_SIZE];
    fetch->form[0] = 0;
    bool fits =
        role_add_parameter(fetch, "Action", "AssumeRole") &&
        role_add_parameter(fetch, "Version", "2011-06-15") &&
        add_setting(fetch, chain, profile, "role_arn", "RoleArn") &&
        add_session(fetch, chain, profile) &&
        add_setting(fetch, chain, profile, "external_id", "ExternalId") &&
        add_setting(fetch, chain, profile, "duration_seconds", "DurationSeconds") &&
        profile_files_copy(duration, sizeof duration, chain->files, profile, "duration_seconds");
    if (!fits)
        return fail_profile(profile, "one of its values is too long", ROLE_ADVICE_FILES, error);
    if (!duration[0] || is_duration(duration)) return RECMAP_OK;
    return fail_profile(profile, "its duration_seconds is not a number from 900 to 43200",
                        ROLE_ADVICE_FILES, error);
}

/* The headers of a signed request. They contain credentials. */
struct signed_lines {
    char authorization[AUTHORIZATION_MAX + 32];
    char date[64];
};

static void hash_form(char hex[2 * SHA256_SIZE + 1], const char *form) {
    struct sha256 sha;
    uint8_t digest[SHA256_SIZE];
    sha256_init(&sha);
    sha256_update(&sha, form, strlen(form));
    sha256_finish(digest, &sha);
    sha256_write_hex(hex, digest);
}

/* Signs the form with the credentials that were obtained so far. The token goes to `fetch->header`.
 */
static bool sign(struct signed_lines *lines, struct role_fetch *fetch) {
    char host[HOST_SIZE], path[ROLE_URL_SIZE], time[SIGNATURE_TIME_SIZE], value[AUTHORIZATION_MAX];
    char payload_hash[2 * SHA256_SIZE + 1];
    const struct role_credentials *keys = &fetch->credentials;
    const char *region = storage_options_get(identity_options(fetch->identity), OPTION_REGION);
    size_t host_size;
    if (!url_copy_host(host, sizeof host, &host_size, fetch->url)) return false;
    snprintf(path, sizeof path, "%s", strstr(fetch->url, "://") + 3 + host_size);
    signature_write_time(time, clock_unix_s());
    hash_form(payload_hash, fetch->form);
    const struct signed_header headers[] = {{"content-type", CONTENT_TYPE},
                                            {"host", host},
                                            {"x-amz-date", time},
                                            {"x-amz-security-token", keys->token}};
    struct signature_input input = {.method = "POST",
                                    .payload_hash = payload_hash,
                                    .path = path[0] ? path : "/",
                                    .query = "",
                                    .headers = headers,
                                    .header_count = keys->token[0] ? 4 : 3,
                                    .region = region[0] ? region : "us-east-1",
                                    .service = "sts",
                                    .key = keys->key,
                                    .secret = keys->secret,
                                    .time = time};
    if (!signature_write(value, &input)) return false;
    snprintf(lines->authorization, sizeof lines->authorization, "Authorization: %s", value);
    snprintf(lines->date, sizeof lines->date, "X-Amz-Date: %s", time);
    snprintf(fetch->header, sizeof fetch->header, "X-Amz-Security-Token: %s", keys->token);
    return true;
}

static recmap_status send_form(struct role_fetch *fetch, const struct role_service *service,
                               recmap_error *error) {
    struct signed_lines lines;
    struct url url;
    role_write_sts_url(fetch);
    bool is_web = !url_parse(&url, fetch->url) && !url_has_listing(url.scheme);
    if (!is_web || strchr(fetch->url, '?') || !sign(&lines, fetch))
        return role_fail(fetch, service, "the request to this URL cannot be signed", EIO, error);
    struct exchange_request request = {
        .method = "POST",
        .url = fetch->url,
        .headers = {"Content-Type: " CONTENT_TYPE, lines.authorization, lines.date,
                    fetch->credentials.token[0] ? fetch->header : NULL},
        .body = fetch->form};
    recmap_status status = role_request(fetch, &request, false, error);
    explicit_bzero(&lines, sizeof lines);
    return status;
}

/* Replaces the credentials by those of the role. */
static recmap_status assume(struct role_fetch *fetch, const struct chain *chain,
                            const char *profile, recmap_error *error) {
    char name[NAME_SIZE];
    const struct role_service sts = {name, "check role_arn, external_id and the source of the "
                                           "profile, AWS_REGION, and the trust policy of the role"};
    snprintf(name, sizeof name, "STS for the profile \"%.64s\"", profile);
    RETURN_IF_FAILED(write_form(fetch, chain, profile, error));
    RETURN_IF_FAILED(send_form(fetch, &sts, error));
    if (fetch->reply.status != 200) return role_fail_status(fetch, &sts, error);
    if (role_reply_read_xml(&fetch->credentials, fetch->reply.body, fetch->reply.size))
        return RECMAP_OK;
    return role_fail_reply(fetch, &sts, error);
}

static recmap_status assume_all(struct role_fetch *fetch, const struct profile_files *files,
                                const char *profile, recmap_error *error) {
    struct chain chain = {.files = files};
    RETURN_IF_FAILED(find_chain(&chain, profile, error));
    RETURN_IF_FAILED(use_source(fetch, &chain, error));
    for (size_t i = chain.count; i > 0; i--)
        RETURN_IF_FAILED(assume(fetch, &chain, chain.profiles[i - 1], error));
    return RECMAP_OK;
}

recmap_status role_fetch_profile(struct role_fetch *fetch, const char *profile,
                                 recmap_error *error) {
    const struct profile_places places = {
        .credentials = role_variable(fetch, ROLE_CREDENTIALS_FILE),
        .config = role_variable(fetch, ROLE_CONFIG_FILE),
        .home = role_variable(fetch, ROLE_HOME)};
    struct profile_files files;
    recmap_status status = profile_files_read(&files, &places, error);
    if (status == RECMAP_OK) status = assume_all(fetch, &files, profile, error);
    profile_files_deinit(&files);
    return status;
}
