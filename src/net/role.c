#include "net/role.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "net/exchange.h"
#include "os/file.h"
#include "os/process.h"
#include "protocol/reply.h"
#include "protocol/role_reply.h"
#include "protocol/url.h"

#define MACHINE_ENDPOINT "http://169.254.169.254"
#define CONTAINER_ENDPOINT "http://169.254.170.2"
#define NS_PER_MS 1000000ull

enum {
    ATTEMPTS_MAX = 3,
    PAUSE_MS = 100,
    FILE_MAX = 16 << 10,
    TOKEN_SIZE = 4096,
    URL_SIZE = 2048,
    HEADER_SIZE = FILE_MAX + 64,
    FORM_SIZE = 3 * FILE_MAX + 4096,
};

/* A service that issues credentials, for messages. */
struct role_service {
    const char *name;
    const char *advice;
};

static const struct role_service sts = {
    "STS (web identity)", "check AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE and AWS_REGION, and the "
                          "trust policy of the role"};
static const struct role_service container = {
    "the container's credential endpoint",
    "check AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI and the role of the task or pod"};
static const struct role_service machine = {
    "the instance metadata service",
    "check the role of the instance, and the hop limit of its metadata service for containers"};

/* What is found out in one call of `fetch`. It contains secrets. */
struct fetch {
    const struct identity *identity;
    struct exchange_reply reply;
    char url[URL_SIZE], header[HEADER_SIZE], form[FORM_SIZE];
    struct role_credentials credentials;
    bool is_absent; /* there is no service, or it has no role */
};

/* The order of `kind.variables`. */
enum variable {
    VARIABLE_TOKEN_FILE,
    VARIABLE_ROLE,
    VARIABLE_SESSION,
    VARIABLE_STS,
    VARIABLE_CONTAINER_PATH,
    VARIABLE_CONTAINER_URL,
    VARIABLE_CONTAINER_TOKEN,
    VARIABLE_CONTAINER_TOKEN_FILE,
    VARIABLE_MACHINE,
    VARIABLE_NO_MACHINE,
};

static const char *variable(const struct fetch *fetch, enum variable index) {
    return identity_variable(fetch->identity, index);
}

/* ---- Requests. */

static recmap_status fail_service(const struct role_service *service, const char *reason,
                                  const char *url, int number, recmap_error *error) {
    char name[1024];
    url_redact(name, sizeof name, url);
    fail(error, RECMAP_IO, "no credentials from %s: %s", service->name, reason);
    fail_file(error, name);
    fail_advise(error, "%s", service->advice);
    if (error) error->system_errno = number;
    return RECMAP_IO;
}

static recmap_status fail_answer(const struct fetch *fetch, const struct role_service *service,
                                 recmap_error *error) {
    char code[CODE_MAX], reason[CODE_MAX + 160];
    const struct exchange_reply *reply = &fetch->reply;
    reply_find_code(code, reply->body, reply->size);
    if (reply->status)
        snprintf(reason, sizeof reason, "it answers HTTP %ld%s%s", reply->status,
                 code[0] ? " " : "", code);
    else snprintf(reason, sizeof reason, "%s", reply->reason);
    bool is_refused = reply->status >= 400 && reply->status < 500;
    return fail_service(service, reason, fetch->url, is_refused ? EACCES : EIO, error);
}

static recmap_status fail_reply(const struct fetch *fetch, const struct role_service *service,
                                recmap_error *error) {
    return fail_service(service, "its reply cannot be understood", fetch->url, EIO, error);
}

static bool may_pass(const struct exchange_reply *reply) {
    return !reply->status || reply->status == 429 || reply->status >= 500;
}

/* Makes a request, and repeats it after failures that may pass. */
static recmap_status request_often(struct fetch *fetch, const struct exchange_request *request,
                                   unsigned attempts, recmap_error *error) {
    for (unsigned i = 0;; i++) {
        RETURN_IF_FAILED(
            exchange_run(&fetch->reply, request, identity_options(fetch->identity), error));
        if (i + 1 >= attempts || !may_pass(&fetch->reply)) return RECMAP_OK;
        sleep_ns((uint64_t)PAUSE_MS * NS_PER_MS << i);
    }
}

static bool has_control_character(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) return true;
    return false;
}

/* Reads a token from a file, without the line end. The caller erases and frees it. */
static recmap_status read_token(char **token, const char *path, recmap_error *error) {
    struct file_stat stat;
    int fd;
    RETURN_IF_FAILED(file_open(&fd, path, error));
    recmap_status status = file_get_stat(&stat, fd, path, error);
    size_t size = status == RECMAP_OK && stat.size < FILE_MAX ? (size_t)stat.size : 0;
    char *text = calloc(size + 1, 1);
    if (status == RECMAP_OK) status = text ? RECMAP_OK : fail_memory(error);
    if (status == RECMAP_OK) status = file_read_at(fd, text, size, 0, path, error);
    file_close(fd);
    while (status == RECMAP_OK && size && strchr("\r\n", text[size - 1])) text[--size] = 0;
    if (status == RECMAP_OK && (!size || has_control_character(text))) {
        status = fail(error, RECMAP_INVALID, "is not a file with a token");
        fail_file(error, path);
        fail_advise(error, "name the file of the token in the environment");
    }
    if (status == RECMAP_OK) *token = text;
    else free(text);
    return status;
}

static void erase_token(char *token) {
    if (token) explicit_bzero(token, strlen(token));
    free(token);
}

/* ---- Web identity. */

static bool add_parameter(char form[FORM_SIZE], const char *name, const char *value) {
    return url_append(form, FORM_SIZE, form[0] ? "&" : "", form[0] ? 1 : 0) &&
           url_append(form, FORM_SIZE, name, strlen(name)) && url_append(form, FORM_SIZE, "=", 1) &&
           url_append_encoded(form, FORM_SIZE, value, strlen(value), false);
}

static void write_sts_url(struct fetch *fetch) {
    const char *endpoint = variable(fetch, VARIABLE_STS);
    const char *region = storage_options_get(identity_options(fetch->identity), OPTION_REGION);
    if (endpoint[0]) snprintf(fetch->url, sizeof fetch->url, "%.1024s", endpoint);
    else if (region[0])
        snprintf(fetch->url, sizeof fetch->url, "https://sts.%.64s.amazonaws.com/", region);
    else snprintf(fetch->url, sizeof fetch->url, "https://sts.amazonaws.com/");
}

static recmap_status fetch_by_identity(struct fetch *fetch, recmap_error *error) {
    const char *session = variable(fetch, VARIABLE_SESSION);
    char *token;
    RETURN_IF_FAILED(read_token(&token, variable(fetch, VARIABLE_TOKEN_FILE), error));
    bool fits = add_parameter(fetch->form, "Action", "AssumeRoleWithWebIdentity") &&
                add_parameter(fetch->form, "Version", "2011-06-15") &&
                add_parameter(fetch->form, "RoleArn", variable(fetch, VARIABLE_ROLE)) &&
                add_parameter(fetch->form, "RoleSessionName", session[0] ? session : "recmap") &&
                add_parameter(fetch->form, "WebIdentityToken", token);
    erase_token(token);
    if (!fits) return fail(error, RECMAP_INVALID, "the web identity's token is too long");
    write_sts_url(fetch);
    struct exchange_request request = {.method = "POST", .url = fetch->url, .body = fetch->form};
    RETURN_IF_FAILED(request_often(fetch, &request, ATTEMPTS_MAX, error));
    if (fetch->reply.status != 200) return fail_answer(fetch, &sts, error);
    if (role_reply_read_xml(&fetch->credentials, fetch->reply.body, fetch->reply.size))
        return RECMAP_OK;
    return fail_reply(fetch, &sts, error);
}

/* ---- Containers. */

/* Whether a URL leads to this machine, or to the endpoint of ECS or EKS. Others must use TLS. */
static bool is_local_service(const char *url) {
    static const char *const prefixes[] = {
        "http://127.0.0.1",      "http://localhost",      "http://[::1]",  "http://169.254.170.2",
        "http://169.254.170.23", "http://[fd00:ec2::23]", MACHINE_ENDPOINT};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t size = strlen(prefixes[i]);
        if (!strncmp(url, prefixes[i], size) && (!url[size] || strchr(":/", url[size])))
            return true;
    }
    return false;
}

static recmap_status check_container_url(const struct fetch *fetch, recmap_error *error) {
    struct url url;
    bool is_tls = !strncmp(fetch->url, "https://", 8);
    if (!url_parse(&url, fetch->url) && (is_tls || is_local_service(fetch->url))) return RECMAP_OK;
    return fail_service(&container, "its URL is neither one of this machine nor https://",
                        fetch->url, EACCES, error);
}

static recmap_status write_authorization(struct fetch *fetch, recmap_error *error) {
    const char *path = variable(fetch, VARIABLE_CONTAINER_TOKEN_FILE);
    const char *value = variable(fetch, VARIABLE_CONTAINER_TOKEN);
    char *token = NULL;
    if (path[0]) RETURN_IF_FAILED(read_token(&token, path, error));
    if (token) value = token;
    bool is_bad = has_control_character(value) || strlen(value) >= FILE_MAX;
    if (value[0] && !is_bad)
        snprintf(fetch->header, sizeof fetch->header, "Authorization: %s", value);
    erase_token(token);
    return is_bad ? fail(error, RECMAP_INVALID, "AWS_CONTAINER_AUTHORIZATION_TOKEN is invalid")
                  : RECMAP_OK;
}

static recmap_status fetch_of_container(struct fetch *fetch, recmap_error *error) {
    const char *relative = variable(fetch, VARIABLE_CONTAINER_PATH);
    const char *full = variable(fetch, VARIABLE_CONTAINER_URL);
    snprintf(fetch->url, sizeof fetch->url, "%s%.1024s", relative[0] ? CONTAINER_ENDPOINT : "",
             relative[0] ? relative : full);
    RETURN_IF_FAILED(check_container_url(fetch, error));
    RETURN_IF_FAILED(write_authorization(fetch, error));
    struct exchange_request request = {.method = "GET",
                                       .url = fetch->url,
                                       .headers = {fetch->header[0] ? fetch->header : NULL},
                                       .is_local = is_local_service(fetch->url)};
    RETURN_IF_FAILED(request_often(fetch, &request, ATTEMPTS_MAX, error));
    if (fetch->reply.status != 200) return fail_answer(fetch, &container, error);
    if (role_reply_read_json(&fetch->credentials, fetch->reply.body, fetch->reply.size))
        return RECMAP_OK;
    return fail_reply(fetch, &container, error);
}

/* ---- Machines. */

static recmap_status get_metadata(struct fetch *fetch, const char *name, recmap_error *error) {
    const char *endpoint = variable(fetch, VARIABLE_MACHINE);
    size_t size = strlen(endpoint);
    while (size && endpoint[size - 1] == '/') size--;
    snprintf(fetch->url, sizeof fetch->url, "%.*s/latest/%s%.512s",
             size ? (int)(size < 1024 ? size : 1024) : (int)strlen(MACHINE_ENDPOINT),
             size ? endpoint : MACHINE_ENDPOINT,
             name ? "meta-data/iam/security-credentials/" : "api/token", name ? name : "");
    struct exchange_request request = {
        .method = name ? "GET" : "PUT",
        .url = fetch->url,
        .headers = {name ? fetch->header : "X-aws-ec2-metadata-token-ttl-seconds: 300",
                    name ? NULL : "Content-Length: 0"},
        .is_local = true};
    return request_often(fetch, &request, name ? ATTEMPTS_MAX : 1, error);
}

/* Copies the first line of the reply, which may become a part of a URL or header. */
static bool copy_line(char *line, size_t capacity, const struct exchange_reply *reply) {
    size_t size = strcspn(reply->body, "\r\n");
    if (!size || size >= capacity) return false;
    memcpy(line, reply->body, size);
    line[size] = 0;
    for (const char *c = line; *c; c++)
        if ((unsigned char)*c <= 0x20 || (unsigned char)*c >= 0x7f) return false;
    return true;
}

static recmap_status fetch_of_role(struct fetch *fetch, recmap_error *error) {
    char name[512];
    RETURN_IF_FAILED(get_metadata(fetch, "", error));
    fetch->is_absent = fetch->reply.status == 404;
    if (fetch->is_absent) return RECMAP_OK;
    if (fetch->reply.status != 200) return fail_answer(fetch, &machine, error);
    if (!copy_line(name, sizeof name, &fetch->reply) || strpbrk(name, "?#/%"))
        return fail_reply(fetch, &machine, error);
    RETURN_IF_FAILED(get_metadata(fetch, name, error));
    if (fetch->reply.status != 200) return fail_answer(fetch, &machine, error);
    if (role_reply_read_json(&fetch->credentials, fetch->reply.body, fetch->reply.size))
        return RECMAP_OK;
    return fail_reply(fetch, &machine, error);
}

/* Version 2 of the service: a token first, which requests from outside the machine cannot get. */
static recmap_status fetch_of_machine(struct fetch *fetch, recmap_error *error) {
    RETURN_IF_FAILED(get_metadata(fetch, NULL, error));
    fetch->is_absent = fetch->reply.status != 200;
    if (fetch->is_absent) return RECMAP_OK;
    char token[TOKEN_SIZE];
    bool is_token = copy_line(token, sizeof token, &fetch->reply);
    if (is_token)
        snprintf(fetch->header, sizeof fetch->header, "X-aws-ec2-metadata-token: %s", token);
    explicit_bzero(token, sizeof token);
    if (!is_token) return fail_reply(fetch, &machine, error);
    return fetch_of_role(fetch, error);
}

/* ---- The choice. */

static bool is_machine_asked(const struct fetch *fetch) {
    const char *value = variable(fetch, VARIABLE_NO_MACHINE);
    return strcmp(value, "true") != 0 && strcmp(value, "True") != 0 && strcmp(value, "TRUE") != 0;
}

/* A service that the environment names, or else the machine's. One that fails is not replaced by
 * the next: its identity would be another one. */
static recmap_status fetch(struct fetch *fetch, recmap_error *error) {
    if (variable(fetch, VARIABLE_TOKEN_FILE)[0] && variable(fetch, VARIABLE_ROLE)[0])
        return fetch_by_identity(fetch, error);
    if (variable(fetch, VARIABLE_CONTAINER_PATH)[0] || variable(fetch, VARIABLE_CONTAINER_URL)[0])
        return fetch_of_container(fetch, error);
    fetch->is_absent = !is_machine_asked(fetch);
    return fetch->is_absent ? RECMAP_OK : fetch_of_machine(fetch, error);
}

/* ---- The credentials of a storage. */

/* A profile that was named and has no keys is not replaced by another identity. */
static bool is_used(const recmap_storage *storage) {
    const struct storage_options *options = &storage->options;
    bool has_other_keys = options->values[OPTION_KEY] ||
                          (options->values[OPTION_AMAZON_KEY] && !storage->role.is_managed);
    return !storage_options_is_on(options, OPTION_ANONYMOUS) && !options->values[OPTION_PROFILE] &&
           !has_other_keys;
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
    struct fetch *fresh = calloc(1, sizeof *fresh);
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

static const struct identity_kind kind = {
    .variables = {"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME",
                  "AWS_ENDPOINT_URL_STS", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                  "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                  "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_EC2_METADATA_SERVICE_ENDPOINT",
                  "AWS_EC2_METADATA_DISABLED"},
    .credentials = {OPTION_AMAZON_KEY, OPTION_AMAZON_SECRET, OPTION_AMAZON_TOKEN},
    .credential_count = 3,
    .is_used = is_used,
    .fetch = fetch_credentials};

recmap_status role_prepare(recmap_storage *storage, recmap_error *error) {
    return identity_prepare(&storage->role, &kind, storage, error);
}
