#include "storage/remote/address.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/core/error.h"
#include "base/words/shell_word.h"
#include "storage/protocol/aws_domain.h"

#define GOOGLE_ENDPOINT "https://storage.googleapis.com"

static recmap_status fail_long(recmap_error *error) {
    return fail(error, RECMAP_INVALID, "the URL, or an option for it, is too long");
}

static bool add(struct address *address, const char *text) {
    return url_append(address->url, sizeof address->url, text, strlen(text));
}

static bool add_encoded(struct address *address, const char *text, size_t size, bool keeps_slash) {
    return url_append_encoded(address->url, sizeof address->url, text, size, keeps_slash);
}

static const char *region_of(const struct storage_options *options, enum url_scheme scheme) {
    const char *region = storage_options_get(options, OPTION_REGION);
    if (scheme == URL_GS) return "auto";
    return region[0] ? region : "us-east-1";
}

/* Virtual addressing puts the bucket into the host name. Certificates do not cover a bucket with
 * dots, and the host of an endpoint of one's own may have no such names. */
static bool is_virtual(const struct storage_options *options, const struct url *url) {
    const char *addressing = storage_options_get(options, OPTION_ADDRESSING);
    if (url->scheme != URL_S3) return false;
    if (addressing[0]) return !strcmp(addressing, "virtual");
    return !storage_options_get(options, OPTION_ENDPOINT)[0] &&
           !memchr(url->host, '.', url->host_size);
}

/* Notes where the path begins, and the host as it is in the header Host. */
static bool note_host(struct address *address) {
    size_t size;
    if (!url_copy_host(address->host, sizeof address->host, &size, address->url)) return false;
    address->path_offset = (size_t)(strstr(address->url, "://") + 3 - address->url) + size;
    return true;
}

/* The endpoint without a slash at its end. */
static bool add_endpoint(struct address *address, const char *endpoint) {
    size_t size = strlen(endpoint);
    while (size && endpoint[size - 1] == '/') size--;
    return url_append(address->url, sizeof address->url, endpoint, size);
}

static recmap_status check_endpoint(const char *endpoint, recmap_error *error) {
    struct url url;
    if (!endpoint[0]) return RECMAP_OK;
    const char *reason = url_parse(&url, endpoint);
    if (!reason && (url.scheme == URL_HTTP || url.scheme == URL_HTTPS) && !strchr(url.key, '?'))
        return RECMAP_OK;
    fail(error, RECMAP_INVALID, "the storage option endpoint is not an HTTP URL");
    fail_advise(error, "write it as https://HOST or http://HOST:PORT");
    return RECMAP_INVALID;
}

static bool add_amazon(struct address *address, const struct storage_options *options,
                       const struct url *url) {
    const char *endpoint = storage_options_get(options, OPTION_ENDPOINT);
    char standard[128];
    const char *region = region_of(options, url->scheme);
    snprintf(standard, sizeof standard, "https://s3.%.64s.%s", region, aws_domain(region));
    if (!endpoint[0]) endpoint = standard;
    if (!is_virtual(options, url)) {
        return add_endpoint(address, endpoint) && note_host(address) && add(address, "/") &&
               add_encoded(address, url->host, url->host_size, false);
    }
    const char *host = strstr(endpoint, "://") + 3;
    return url_append(address->url, sizeof address->url, endpoint, (size_t)(host - endpoint)) &&
           url_append(address->url, sizeof address->url, url->host, url->host_size) &&
           add(address, ".") && add_endpoint(address, host) && note_host(address);
}

static bool add_google(struct address *address, const struct storage_options *options,
                       const struct url *url) {
    /* The endpoint in the environment is for S3. */
    const char *endpoint = options->is_explicit[OPTION_ENDPOINT]
                               ? storage_options_get(options, OPTION_ENDPOINT)
                               : GOOGLE_ENDPOINT;
    return add_endpoint(address, endpoint) && note_host(address) && add(address, "/") &&
           add_encoded(address, url->host, url->host_size, false);
}

static bool add_azure(struct address *address, const struct storage_options *options,
                      const struct url *url) {
    char standard[128];
    snprintf(standard, sizeof standard, "https://%.64s.blob.core.windows.net",
             storage_options_get(options, OPTION_ACCOUNT));
    const char *endpoint = options->is_explicit[OPTION_ENDPOINT]
                               ? storage_options_get(options, OPTION_ENDPOINT)
                               : standard;
    return add_endpoint(address, endpoint) && note_host(address) && add(address, "/") &&
           add_encoded(address, url->host, url->host_size, false);
}

static recmap_status add_container(struct address *address, const struct storage_options *options,
                                   const struct url *url, recmap_error *error) {
    /* An endpoint of the environment or of a profile of AWS concerns s3:// only. */
    if (url->scheme == URL_S3 || options->is_explicit[OPTION_ENDPOINT])
        RETURN_IF_FAILED(check_endpoint(storage_options_get(options, OPTION_ENDPOINT), error));
    if (url->scheme == URL_AZ) RETURN_IF_FAILED(storage_options_check_azure(options, error));
    if (url->scheme == URL_AZ && !options->is_explicit[OPTION_ENDPOINT] &&
        !storage_options_get(options, OPTION_ACCOUNT)[0]) {
        fail(error, RECMAP_INVALID, "az:// needs the name of a storage account");
        fail_advise(error, "pass the storage option account, or set AZURE_STORAGE_ACCOUNT");
        return RECMAP_INVALID;
    }
    address->scheme = url->scheme;
    bool fits = url->scheme == URL_S3   ? add_amazon(address, options, url)
                : url->scheme == URL_GS ? add_google(address, options, url)
                                        : add_azure(address, options, url);
    return fits ? RECMAP_OK : fail_long(error);
}

/* The token for gs:// or az://: that was passed, or else one that was issued. */
static const char *find_token(const struct storage_options *options) {
    if (options->is_explicit[OPTION_TOKEN]) return storage_options_get(options, OPTION_TOKEN);
    return storage_options_get(options, OPTION_ISSUED_TOKEN);
}

/* The token for az://, or "". One that was passed with a key belongs to the key; a shared access
 * signature that was passed comes first. */
static const char *azure_token(const struct storage_options *options) {
    bool has_other = options->is_explicit[OPTION_KEY] || options->is_explicit[OPTION_SAS] ||
                     storage_options_is_on(options, OPTION_ANONYMOUS);
    return has_other ? "" : find_token(options);
}

/* A shared access signature is a query of its own. */
static bool add_signature_query(struct address *address, const struct storage_options *options,
                                char separator) {
    const char *sas = storage_options_get(options, OPTION_SAS);
    const char text[2] = {separator, 0};
    bool is_unused = address->scheme != URL_AZ || !sas[0] || azure_token(options)[0] ||
                     storage_options_is_on(options, OPTION_ANONYMOUS);
    if (is_unused) return true;
    return add(address, text) && add(address, sas + (sas[0] == '?'));
}

static void note_query(struct address *address) {
    size_t path = address->path_offset, size = strcspn(address->url + path, "?");
    address->query_offset = path + size + (address->url[path + size] == '?');
}

static recmap_status address_of_web(struct address *address, const struct url *url,
                                    recmap_error *error) {
    /* Everything from the scheme on is used as it is. */
    const char *text = url->host - (url->scheme == URL_HTTPS ? 8 : 7);
    address->scheme = url->scheme;
    if (!add(address, text) || !note_host(address)) return fail_long(error);
    note_query(address);
    return RECMAP_OK;
}

recmap_status address_of_object(struct address *address, const struct storage_options *options,
                                const struct url *url, recmap_error *error) {
    address->url[0] = 0;
    address->is_listing = false;
    if (!url_has_listing(url->scheme)) return address_of_web(address, url, error);
    RETURN_IF_FAILED(add_container(address, options, url, error));
    if (!add(address, "/") || !add_encoded(address, url->key, strlen(url->key), true) ||
        !add_signature_query(address, options, '?'))
        return fail_long(error);
    note_query(address);
    return RECMAP_OK;
}

recmap_status address_add_query(struct address *address, const char *query, recmap_error *error) {
    if (!add(address, "?") || !add(address, query)) return fail_long(error);
    note_query(address);
    return RECMAP_OK;
}

/* The parameters are sorted by name, as the signature requires. */
static bool add_s3_query(struct address *address, const char *prefix, size_t prefix_size,
                         bool is_flat, const char *next) {
    return add(address, "?") &&
           (!next || (add(address, "continuation-token=") &&
                      add_encoded(address, next, strlen(next), false) && add(address, "&"))) &&
           (!is_flat || add(address, "delimiter=%2F&")) && add(address, "list-type=2&prefix=") &&
           add_encoded(address, prefix, prefix_size, false);
}

static bool add_azure_query(struct address *address, const struct storage_options *options,
                            const char *prefix, size_t prefix_size, bool is_flat,
                            const char *next) {
    return add(address, "?comp=list") && (!is_flat || add(address, "&delimiter=%2F")) &&
           (!next ||
            (add(address, "&marker=") && add_encoded(address, next, strlen(next), false))) &&
           add(address, "&prefix=") && add_encoded(address, prefix, prefix_size, false) &&
           add(address, "&restype=container") && add_signature_query(address, options, '&');
}

recmap_status address_of_listing(struct address *address, const struct storage_options *options,
                                 const struct url *url, const char *prefix, size_t prefix_size,
                                 bool is_flat, const char *next, recmap_error *error) {
    address->url[0] = 0;
    address->is_listing = true;
    RETURN_IF_FAILED(add_container(address, options, url, error));
    bool needs_slash = !address->url[address->path_offset];
    bool fits = (!needs_slash || add(address, "/")) &&
                (url->scheme == URL_AZ
                     ? add_azure_query(address, options, prefix, prefix_size, is_flat, next)
                     : add_s3_query(address, prefix, prefix_size, is_flat, next));
    if (!fits) return fail_long(error);
    note_query(address);
    return RECMAP_OK;
}

/* ---- Authorization. */

static bool add_line(struct authorization *authorization, const char *name, const char *value) {
    size_t capacity = sizeof authorization->lines[0];
    int size =
        snprintf(authorization->lines[authorization->count++], capacity, "%s: %s", name, value);
    return size > 0 && (size_t)size < capacity;
}

#define EXPORT "aws configure export-credentials"

/* The keys of a role, or of IAM Identity Center, are left to the tools of AWS. */
static recmap_status fail_other_profile(const char *profile, recmap_error *error) {
    char word[SHELL_WORD_SIZE];
    fail(error, RECMAP_INVALID,
         "no credentials are configured: the profile \"%.64s\" has a role or SSO, which the tools "
         "of AWS get keys for",
         profile);
    if (!shell_word_write(word, sizeof word, profile)) snprintf(word, sizeof word, "PROFILE");
    fail_advise(error,
                "set RECMAP_CREDENTIAL_PROCESS to `" EXPORT " --profile %.200s --format process`; "
                "in Python, `pip install recmap[aws]`",
                word);
    return RECMAP_INVALID;
}

/* `profile` is the one that should have them, or "". */
static recmap_status fail_no_keys(const struct storage_options *options, enum url_scheme scheme,
                                  const char *profile, recmap_error *error) {
    const char *other = storage_options_get(options, OPTION_OTHER_PROFILE);
    if (scheme == URL_S3 && other[0]) return fail_other_profile(other, error);
    fail(error, RECMAP_INVALID, "no credentials are configured");
    if (storage_options_get(options, OPTION_CREDENTIAL_PROCESS)[0])
        fail(error, RECMAP_INVALID, "the credential_process prints no %s",
             scheme == URL_GS ? "token, as gs:// needs" : "keys, as s3:// needs");
    else if (profile[0])
        fail(error, RECMAP_INVALID,
             "no credentials are configured: there is no profile \"%.64s\" with keys or "
             "credential_process in ~/.aws",
             profile);
    fail_advise(
        error, scheme == URL_GS
                   ? "set RECMAP_CREDENTIAL_PROCESS to `gcloud config config-helper "
                     "--format=json`, or pass the storage options key and secret (an HMAC key), or "
                     "token (as `gcloud auth print-access-token` prints it), or anonymous=true for "
                     "a public bucket; in Python, `pip install recmap[google]`"
                   : "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                     "RECMAP_CREDENTIAL_PROCESS to `" EXPORT
                     " --format process`, or pass the storage options key and secret, or "
                     "anonymous=true for "
                     "a public bucket; in Python, `pip install recmap[aws]`");
    return RECMAP_INVALID;
}

struct keys {
    const char *key, *secret, *token;
};

/* Keys that were passed, or for S3 keys from the environment, a profile or a program. They belong
 * together: a token that was passed by itself is one of Google. */
static struct keys find_keys(const struct storage_options *options, enum url_scheme scheme) {
    bool is_passed = options->values[OPTION_KEY] || options->values[OPTION_SECRET];
    bool is_amazon = scheme == URL_S3 && !is_passed;
    return (struct keys){
        storage_options_get(options, is_amazon ? OPTION_AMAZON_KEY : OPTION_KEY),
        storage_options_get(options, is_amazon ? OPTION_AMAZON_SECRET : OPTION_SECRET),
        storage_options_get(options, is_amazon ? OPTION_AMAZON_TOKEN : OPTION_TOKEN)};
}

/* Signs the request (AWS Signature Version 4). Each header that is signed must also be sent, so
 * both come from one list; `host` is sent by libcurl. The path is signed as it is in the URL,
 * already percent-encoded. */
static recmap_status sign(struct authorization *authorization, const struct address *address,
                          const struct storage_options *options, const struct keys *keys,
                          struct signing_key *kept, int64_t seconds, recmap_error *error) {
    char time[SIGNATURE_TIME_SIZE], value[AUTHORIZATION_MAX], path[ADDRESS_MAX];
    struct signed_header headers[HEADERS_MAX] = {{"host", address->host},
                                                 {"x-amz-content-sha256", SIGNATURE_EMPTY_HASH},
                                                 {"x-amz-date", time}};
    size_t count = 3;
    if (storage_options_is_on(options, OPTION_REQUESTER_PAYS))
        headers[count++] = (struct signed_header){"x-amz-request-payer", "requester"};
    if (keys->token[0])
        headers[count++] = (struct signed_header){"x-amz-security-token", keys->token};
    signature_write_time(time, seconds);
    const char *query = address->url + address->query_offset;
    size_t path_size = strcspn(address->url + address->path_offset, "?");
    memcpy(path, address->url + address->path_offset, path_size);
    path[path_size] = 0;
    struct signature_input input = {.path = path_size ? path : "/",
                                    .query = query,
                                    .headers = headers,
                                    .header_count = count,
                                    .region = region_of(options, address->scheme),
                                    .service = "s3",
                                    .key = keys->key,
                                    .secret = keys->secret,
                                    .time = time,
                                    .kept = kept};
    bool fits = signature_write(value, &input) && add_line(authorization, "Authorization", value);
    for (size_t i = 1; fits && i < count; i++)
        fits = add_line(authorization, headers[i].name, headers[i].value);
    return fits ? RECMAP_OK : fail_long(error);
}

static recmap_status add_bearer(struct authorization *authorization, const char *token,
                                recmap_error *error) {
    char bearer[sizeof authorization->lines[0] - sizeof "Authorization: "];
    int size = snprintf(bearer, sizeof bearer, "Bearer %s", token);
    bool fits = size < (int)sizeof bearer && add_line(authorization, "Authorization", bearer);
    explicit_bzero(bearer, sizeof bearer);
    return fits ? RECMAP_OK : fail_long(error);
}

/* Without a token, the query has the signature, or the container is public. */
static recmap_status authorize_azure(struct authorization *authorization,
                                     const struct storage_options *options, int64_t seconds,
                                     recmap_error *error) {
    const char *token = azure_token(options);
    char date[HTTP_DATE_SIZE];
    signature_write_http_date(date, seconds);
    bool fits = add_line(authorization, "x-ms-version", "2021-08-06");
    if (fits && token[0]) fits = add_line(authorization, "x-ms-date", date);
    if (!fits) return fail_long(error);
    return token[0] ? add_bearer(authorization, token, error) : RECMAP_OK;
}

recmap_status address_authorize(struct authorization *authorization, const struct address *address,
                                const struct storage_options *options, struct signing_key *kept,
                                int64_t seconds, recmap_error *error) {
    authorization->count = 0;
    if (address->scheme == URL_AZ) return authorize_azure(authorization, options, seconds, error);
    if (!url_has_listing(address->scheme) || storage_options_is_on(options, OPTION_ANONYMOUS))
        return RECMAP_OK;
    struct keys keys = find_keys(options, address->scheme);
    const char *token = find_token(options);
    if (keys.key[0] && keys.secret[0])
        return sign(authorization, address, options, &keys, kept, seconds, error);
    bool lacks_both = address->scheme == URL_S3 && !keys.key[0] && !keys.secret[0];
    const char *profile = lacks_both ? storage_options_get(options, OPTION_PROFILE) : "";
    if (address->scheme != URL_GS || !token[0])
        return fail_no_keys(options, address->scheme, profile, error);
    return add_bearer(authorization, token, error);
}

void authorization_erase(struct authorization *authorization) {
    for (size_t i = 0; i < authorization->count; i++)
        explicit_bzero(authorization->lines[i], strlen(authorization->lines[i]));
    authorization->count = 0;
}
