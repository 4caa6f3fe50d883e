#include "storage/credentials/role_services.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/file.h"
#include "storage/protocol/url.h"

#define MACHINE_ENDPOINT "http://169.254.169.254"
#define CONTAINER_ENDPOINT "http://169.254.170.2"

enum { TOKEN_SIZE = 4096 };

static const struct role_service sts = {
    "STS (web identity)", "check AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE and AWS_REGION, and the "
                          "trust policy of the role"};
static const struct role_service container = {
    "the container's credential endpoint",
    "check AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI and the role of the task or pod"};
static const struct role_service machine = {
    "the instance metadata service",
    "check the role of the instance, and the hop limit of its metadata service for containers"};

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
    size_t size = status == RECMAP_OK && stat.size < ROLE_FILE_MAX ? (size_t)stat.size : 0;
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

recmap_status role_fetch_web_identity(struct role_fetch *fetch, recmap_error *error) {
    const char *session = role_variable(fetch, ROLE_SESSION);
    char *token;
    RETURN_IF_FAILED(read_token(&token, role_variable(fetch, ROLE_TOKEN_FILE), error));
    bool fits = role_add_parameter(fetch, "Action", "AssumeRoleWithWebIdentity") &&
                role_add_parameter(fetch, "Version", "2011-06-15") &&
                role_add_parameter(fetch, "RoleArn", role_variable(fetch, ROLE_ARN)) &&
                role_add_parameter(fetch, "RoleSessionName", session[0] ? session : "recmap") &&
                role_add_parameter(fetch, "WebIdentityToken", token);
    erase_token(token);
    if (!fits) return fail(error, RECMAP_INVALID, "the web identity's token is too long");
    role_write_sts_url(fetch);
    struct exchange_request request = {.method = "POST", .url = fetch->url, .body = fetch->form};
    RETURN_IF_FAILED(role_request(fetch, &request, false, error));
    if (fetch->reply.status != 200) return role_fail_status(fetch, &sts, error);
    if (role_reply_read_xml(&fetch->credentials, fetch->reply.body, fetch->reply.size))
        return RECMAP_OK;
    return role_fail_reply(fetch, &sts, error);
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

static recmap_status check_container_url(const struct role_fetch *fetch, recmap_error *error) {
    struct url url;
    bool is_tls = !strncmp(fetch->url, "https://", 8);
    if (!url_parse(&url, fetch->url) && (is_tls || is_local_service(fetch->url))) return RECMAP_OK;
    return role_fail(fetch, &container, "its URL is neither one of this machine nor https://",
                     EACCES, error);
}

static recmap_status write_authorization(struct role_fetch *fetch, recmap_error *error) {
    const char *path = role_variable(fetch, ROLE_CONTAINER_TOKEN_FILE);
    const char *value = role_variable(fetch, ROLE_CONTAINER_TOKEN);
    char *token = NULL;
    if (path[0]) RETURN_IF_FAILED(read_token(&token, path, error));
    if (token) value = token;
    bool is_bad = has_control_character(value) || strlen(value) >= ROLE_FILE_MAX;
    if (value[0] && !is_bad)
        snprintf(fetch->header, sizeof fetch->header, "Authorization: %s", value);
    erase_token(token);
    return is_bad ? fail(error, RECMAP_INVALID, "AWS_CONTAINER_AUTHORIZATION_TOKEN is invalid")
                  : RECMAP_OK;
}

bool role_has_container(const struct role_fetch *fetch) {
    return role_variable(fetch, ROLE_CONTAINER_PATH)[0] ||
           role_variable(fetch, ROLE_CONTAINER_URL)[0];
}

recmap_status role_fetch_container(struct role_fetch *fetch, recmap_error *error) {
    const char *relative = role_variable(fetch, ROLE_CONTAINER_PATH);
    const char *full = role_variable(fetch, ROLE_CONTAINER_URL);
    snprintf(fetch->url, sizeof fetch->url, "%s%.1024s", relative[0] ? CONTAINER_ENDPOINT : "",
             relative[0] ? relative : full);
    RETURN_IF_FAILED(check_container_url(fetch, error));
    RETURN_IF_FAILED(write_authorization(fetch, error));
    struct exchange_request request = {.method = "GET",
                                       .url = fetch->url,
                                       .headers = {fetch->header[0] ? fetch->header : NULL},
                                       .is_local = is_local_service(fetch->url)};
    RETURN_IF_FAILED(role_request(fetch, &request, false, error));
    if (fetch->reply.status != 200) return role_fail_status(fetch, &container, error);
    if (role_reply_read_json(&fetch->credentials, fetch->reply.body, fetch->reply.size))
        return RECMAP_OK;
    return role_fail_reply(fetch, &container, error);
}

/* ---- Machines. */

static recmap_status get_metadata(struct role_fetch *fetch, const char *name, recmap_error *error) {
    const char *endpoint = role_variable(fetch, ROLE_MACHINE);
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
    return role_request(fetch, &request, !name, error);
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

static recmap_status fetch_of_role(struct role_fetch *fetch, recmap_error *error) {
    char name[512];
    RETURN_IF_FAILED(get_metadata(fetch, "", error));
    fetch->is_absent = fetch->reply.status == 404;
    if (fetch->is_absent) return RECMAP_OK;
    if (fetch->reply.status != 200) return role_fail_status(fetch, &machine, error);
    if (!copy_line(name, sizeof name, &fetch->reply) || strpbrk(name, "?#/%"))
        return role_fail_reply(fetch, &machine, error);
    RETURN_IF_FAILED(get_metadata(fetch, name, error));
    if (fetch->reply.status != 200) return role_fail_status(fetch, &machine, error);
    if (role_reply_read_json(&fetch->credentials, fetch->reply.body, fetch->reply.size))
        return RECMAP_OK;
    return role_fail_reply(fetch, &machine, error);
}

static bool is_machine_asked(const struct role_fetch *fetch) {
    const char *value = role_variable(fetch, ROLE_NO_MACHINE);
    return strcmp(value, "true") != 0 && strcmp(value, "True") != 0 && strcmp(value, "TRUE") != 0;
}

/* Version 2 of the service: a token first, which requests from outside the machine cannot get. */
recmap_status role_fetch_machine(struct role_fetch *fetch, recmap_error *error) {
    fetch->is_absent = !is_machine_asked(fetch);
    if (fetch->is_absent) return RECMAP_OK;
    RETURN_IF_FAILED(get_metadata(fetch, NULL, error));
    fetch->is_absent = fetch->reply.status != 200;
    if (fetch->is_absent) return RECMAP_OK;
    char token[TOKEN_SIZE];
    bool is_token = copy_line(token, sizeof token, &fetch->reply);
    if (is_token)
        snprintf(fetch->header, sizeof fetch->header, "X-aws-ec2-metadata-token: %s", token);
    explicit_bzero(token, sizeof token);
    if (!is_token) return role_fail_reply(fetch, &machine, error);
    return fetch_of_role(fetch, error);
}
