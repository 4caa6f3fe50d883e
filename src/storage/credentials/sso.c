#include "storage/credentials/sso.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/file.h"
#include "base/os/process.h"
#include "base/text/shell_word.h"
#include "storage/protocol/aws_domain.h"
#include "storage/protocol/sha1.h"
#include "storage/protocol/sso_token.h"
#include "storage/protocol/url.h"

#define CACHE ".aws/sso/cache/"

enum { VALUE_SIZE = 512, NAME_SIZE = 128, ADVICE_SIZE = 512, TOKEN_FILE_MAX = 64 << 10 };

/* One call of sso_fetch. It contains a secret: the token. */
struct visit {
    struct role_fetch *fetch;
    const struct profile_files *files;
    const char *profile;
    char session[VALUE_SIZE]; /* "": the profile itself has the start URL */
    char start_url[VALUE_SIZE], region[VALUE_SIZE], account[VALUE_SIZE], role[VALUE_SIZE];
    char service[NAME_SIZE], advice[ADVICE_SIZE];
    struct sso_token token;
};

/* ---- What the files say. */

static recmap_status fail_setting(const struct visit *visit, const char *name, const char *problem,
                                  recmap_error *error) {
    char reason[NAME_SIZE];
    snprintf(reason, sizeof reason, "%s %s", name, problem);
    return role_fail_profile(visit->profile, reason, ROLE_ADVICE_FILES, error);
}

/* Takes the value of the session. One in the profile, too, must be the same: it may be the value of
 * another login. */
static recmap_status take_session_value(char *value, const struct visit *visit, const char *name,
                                        recmap_error *error) {
    size_t size = 0;
    const char *found = profile_files_find_session(&size, visit->files, visit->session, name);
    if (!found || !size) return RECMAP_OK;
    if (value[0] && (strlen(value) != size || memcmp(value, found, size) != 0))
        return fail_setting(visit, name, "differs between the profile and its sso-session", error);
    if (size >= VALUE_SIZE) return fail_setting(visit, name, "is too long", error);
    memcpy(value, found, size);
    value[size] = 0;
    return RECMAP_OK;
}

static recmap_status take_values(struct visit *visit, recmap_error *error) {
    const struct {
        const char *name;
        char *value;
    } settings[] = {{"sso_session", visit->session},
                    {"sso_start_url", visit->start_url},
                    {"sso_region", visit->region},
                    {"sso_account_id", visit->account},
                    {"sso_role_name", visit->role}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (!profile_files_copy(settings[i].value, VALUE_SIZE, visit->files, visit->profile,
                                settings[i].name))
            return fail_setting(visit, settings[i].name, "is too long", error);
    if (!visit->session[0]) return RECMAP_OK;
    if (!profile_files_have_session(visit->files, visit->session))
        return fail_setting(visit, "the sso-session that it names", "does not exist", error);
    RETURN_IF_FAILED(take_session_value(visit->start_url, visit, "sso_start_url", error));
    return take_session_value(visit->region, visit, "sso_region", error);
}

/* The region becomes a part of a host name. */
static bool is_region(const char *text) {
    return text[0] && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")];
}

static recmap_status read_settings(struct visit *visit, recmap_error *error) {
    RETURN_IF_FAILED(take_values(visit, error));
    if (!visit->start_url[0]) return fail_setting(visit, "sso_start_url", "is missing", error);
    if (!visit->account[0]) return fail_setting(visit, "sso_account_id", "is missing", error);
    if (!visit->role[0]) return fail_setting(visit, "sso_role_name", "is missing", error);
    if (!visit->region[0]) return fail_setting(visit, "sso_region", "is missing", error);
    if (!is_region(visit->region)) return fail_setting(visit, "sso_region", "is not one", error);
    return RECMAP_OK;
}

/* ---- The token. */

/* Writes what to do when nobody is logged in. */
static void write_login_advice(struct visit *visit) {
    char word[SHELL_WORD_SIZE];
    if (!shell_word_write(word, sizeof word, visit->profile)) word[0] = 0;
    snprintf(visit->advice, sizeof visit->advice, "run `aws sso login%s%s`",
             word[0] ? " --profile " : "", word);
}

static recmap_status fail_token(const struct visit *visit, const char *path, const char *reason,
                                recmap_error *error) {
    fail(error, RECMAP_IO, "no credentials from %s: %s", visit->service, reason);
    fail_file(error, path);
    fail_advise(error, "%s", visit->advice);
    if (error) error->system_errno = EACCES;
    return RECMAP_IO;
}

static recmap_status read_file(struct visit *visit, const char *path, recmap_error *error) {
    struct file_stat stat;
    int fd;
    if (!file_stat_path(&stat, path)) return fail_token(visit, path, "nobody is logged in", error);
    RETURN_IF_FAILED(file_open(&fd, path, error));
    recmap_status status = file_get_stat(&stat, fd, path, error);
    size_t size = status == RECMAP_OK && stat.size < TOKEN_FILE_MAX ? (size_t)stat.size : 0;
    char *text = calloc(size + 1, 1);
    if (status == RECMAP_OK) status = text ? RECMAP_OK : fail_memory(error);
    if (status == RECMAP_OK) status = file_read_at(fd, text, size, 0, path, error);
    file_close(fd);
    if (status == RECMAP_OK && !sso_token_read(&visit->token, text, size))
        status = fail_token(visit, path, "the file has no token that can be understood", error);
    if (text) explicit_bzero(text, size);
    free(text);
    return status;
}

/* The file is named after the session, or else after the start URL. */
static recmap_status read_token(struct visit *visit, recmap_error *error) {
    char hex[SHA1_HEX_SIZE], name[sizeof CACHE + SHA1_HEX_SIZE + sizeof ".json"];
    const char *home = role_variable(visit->fetch, ROLE_HOME);
    sha1_write_hex(hex, visit->session[0] ? visit->session : visit->start_url);
    snprintf(name, sizeof name, CACHE "%s.json", hex);
    char *path = path_join(home[0] ? home : "/", name);
    if (!path) return fail_memory(error);
    recmap_status status = read_file(visit, path, error);
    if (status == RECMAP_OK && visit->token.expires_s <= clock_unix_s())
        status = fail_token(visit, path, "the login has expired", error);
    free(path);
    return status;
}

/* ---- The portal. */

static bool add_query(char *url, const char *name, const char *value) {
    return url_append(url, ROLE_URL_SIZE, name, strlen(name)) &&
           url_append_encoded(url, ROLE_URL_SIZE, value, strlen(value), false);
}

/* The token is not sent to where others could read it. */
static recmap_status write_url(const struct visit *visit, const struct role_service *portal,
                               recmap_error *error) {
    struct role_fetch *fetch = visit->fetch;
    const char *endpoint = role_variable(fetch, ROLE_SSO);
    struct url url;
    size_t size = strlen(endpoint);
    while (size && endpoint[size - 1] == '/') size--;
    if (size)
        snprintf(fetch->url, sizeof fetch->url, "%.*s/federation/credentials",
                 (int)(size < 1024 ? size : 1024), endpoint);
    else
        snprintf(fetch->url, sizeof fetch->url,
                 "https://portal.sso.%.64s.%s/federation/credentials", visit->region,
                 aws_domain(visit->region));
    bool is_good = !url_parse(&url, fetch->url) && url_is_private(fetch->url) &&
                   !strchr(fetch->url, '?') && !strchr(fetch->url, '#');
    if (!is_good)
        return role_fail(fetch, portal, "its URL is neither https:// nor of this machine", EACCES,
                         error);
    bool fits = add_query(fetch->url, "?role_name=", visit->role) &&
                add_query(fetch->url, "&account_id=", visit->account);
    return fits ? RECMAP_OK : fail_setting(visit, "sso_role_name", "is too long", error);
}

/* A reply with the status 401 says that the token is not valid any more. */
static recmap_status ask_portal(struct visit *visit, recmap_error *error) {
    struct role_fetch *fetch = visit->fetch;
    const struct role_service login = {visit->service, visit->advice};
    const struct role_service portal = {
        visit->service, "check sso_account_id, sso_role_name and sso_region of the profile"};
    RETURN_IF_FAILED(write_url(visit, &portal, error));
    snprintf(fetch->header, sizeof fetch->header, "x-amz-sso_bearer_token: %s", visit->token.text);
    const struct exchange_request request = {
        .method = "GET", .url = fetch->url, .headers = {fetch->header}};
    RETURN_IF_FAILED(role_request(fetch, &request, false, error));
    if (fetch->reply.status == 401) return role_fail_status(fetch, &login, error);
    if (fetch->reply.status != 200) return role_fail_status(fetch, &portal, error);
    if (role_reply_read_portal(&fetch->credentials, fetch->reply.body, fetch->reply.size))
        return RECMAP_OK;
    return role_fail_reply(fetch, &portal, error);
}

recmap_status sso_fetch(struct role_fetch *fetch, const struct profile_files *files,
                        const char *profile, recmap_error *error) {
    struct visit *visit = calloc(1, sizeof *visit);
    if (!visit) return fail_memory(error);
    visit->fetch = fetch;
    visit->files = files;
    visit->profile = profile;
    snprintf(visit->service, sizeof visit->service, "IAM Identity Center for the profile \"%.64s\"",
             profile);
    write_login_advice(visit);
    recmap_status status = read_settings(visit, error);
    if (status == RECMAP_OK) status = read_token(visit, error);
    if (status == RECMAP_OK) status = ask_portal(visit, error);
    explicit_bzero(visit, sizeof *visit);
    free(visit);
    return status;
}
