#include "storage/protocol/url.h"

#include <string.h>
#include <strings.h>

#include "base/words/character.h"
#include "base/words/url_prefix.h"

static const struct {
    const char *prefix;
    enum url_scheme scheme;
} schemes[] = {
    {"http://", URL_HTTP}, {"https://", URL_HTTPS}, {"s3://", URL_S3},
    {"gs://", URL_GS},     {"az://", URL_AZ},
};

static bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
}

bool url_has_listing(enum url_scheme scheme) {
    return scheme != URL_HTTP && scheme != URL_HTTPS;
}

bool url_is_hadoop(const char *text) {
    static const char *const prefixes[] = {"hdfs://", "webhdfs://", "swebhdfs://"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(text, prefixes[i], strlen(prefixes[i]))) return true;
    return false;
}

static bool is_web(enum url_scheme scheme) {
    return scheme == URL_HTTP || scheme == URL_HTTPS;
}

static bool has_control_character(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) return true;
    return false;
}

static bool consists_of(const char *text, size_t size, const char *others) {
    for (size_t i = 0; i < size; i++)
        if (!is_alphanumeric(text[i]) && (!text[i] || !strchr(others, text[i]))) return false;
    return true;
}

/* The size of the host without its port: up to the bracket that ends an IPv6 address, or else up to
 * the colon. */
static size_t size_without_port(const char *host, size_t size) {
    bool is_v6 = host[0] == '[';
    const char *end = memchr(host, is_v6 ? ']' : ':', size);
    return end ? (size_t)(end - host) + is_v6 : size;
}

static bool is_port(const char *text, size_t size) {
    return !size || (text[0] == ':' && strspn(text + 1, "0123456789") >= size - 1);
}

/* Letters, digits, `-`, `.`, `_`. A host may have a port, and may be an IPv6 address in brackets.
 */
static bool is_host(const struct url *url) {
    const char *host = url->host;
    size_t size = url->host_size;
    if (!size || size > 255 || host[0] == '.') return false;
    if (is_web(url->scheme)) {
        size = size_without_port(host, size);
        if (!size || !is_port(host + size, url->host_size - size)) return false;
        if (host[0] == '[') return host[size - 1] == ']' && consists_of(host + 1, size - 2, ":.");
    }
    return consists_of(host, size, "-._");
}

/* The text between the scheme and the first slash contains `@`: HTTP credentials. */
static bool has_user(const char *host) {
    size_t size = strcspn(host, "/?#");
    return memchr(host, '@', size) != NULL;
}

/* The size of the `.` that the text begins with, plain or percent-encoded; 0: it is another one. */
static size_t dot_size(const char *text) {
    if (*text == '.') return 1;
    return !strncasecmp(text, "%2e", 3) ? 3 : 0;
}

/* Returns true if a part of the path is `.` or `..`. A server may decode it and leave the folder.
 */
static bool has_dot_part(const char *path) {
    for (;;) {
        const char *end = path + dot_size(path);
        if (end > path) end += dot_size(end);
        if (end > path && (!*end || strchr("/?#", *end))) return true;
        path += strcspn(path, "/?#");
        if (*path != '/') return false;
        path++;
    }
}

static const char *check_web_path(const char *key) {
    if (has_dot_part(key)) return "a part of its path is . or ..";
    if (strpbrk(key, " \\\"<>")) return "it contains a character that must be percent-encoded";
    if (strchr(key, '#')) return "it has a fragment (#...)";
    return NULL;
}

static bool find_scheme(enum url_scheme *scheme, const char *text) {
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (strncmp(text, schemes[i].prefix, strlen(schemes[i].prefix)) != 0) continue;
        *scheme = schemes[i].scheme;
        return true;
    }
    return false;
}

const char *url_parse(struct url *url, const char *text) {
    size_t prefix_size = url_prefix_size(text);
    struct url parsed;
    if (url_is_hadoop(text)) return "recmap reads hdfs:// and webhdfs:// in Python only";
    if (!prefix_size || !find_scheme(&parsed.scheme, text))
        return "its scheme is not one of s3, gs, az, http and https";
    if (strlen(text) > URL_MAX) return "it is longer than 4096 bytes";
    if (has_control_character(text)) return "it contains a control character";
    parsed.host = text + prefix_size;
    if (has_user(parsed.host)) return "it contains a user name or password";
    parsed.host_size = strcspn(parsed.host, is_web(parsed.scheme) ? "/?#" : "/");
    parsed.key = parsed.host + parsed.host_size;
    if (*parsed.key == '/') parsed.key++;
    if (!is_host(&parsed))
        return is_web(parsed.scheme) ? "its host name is invalid" : "its bucket name is invalid";
    const char *reason = is_web(parsed.scheme) ? check_web_path(parsed.key) : NULL;
    if (!reason) *url = parsed;
    return reason;
}

const char *url_parse_any(struct url *url, const char *text) {
    size_t prefix_size = url_prefix_size(text);
    const char *host = text + prefix_size;
    if (!prefix_size) return "it has no scheme";
    if (strlen(text) > URL_MAX) return "it is longer than 4096 bytes";
    if (has_control_character(text)) return "it contains a control character";
    if (has_user(host)) return "it contains a user name or password";
    if (has_dot_part(host)) return "a part of its path is . or ..";
    url->host = host;
    url->host_size = strcspn(host, "/");
    url->key = host + url->host_size;
    if (*url->key == '/') url->key++;
    return NULL;
}

bool url_copy_host(char *host, size_t capacity, size_t *size, const char *text) {
    const char *start = strstr(text, "://");
    if (!start) return false;
    start += 3;
    size_t kept_size = *size = strcspn(start, "/?");
    const char *default_port = !strncmp(text, "https", 5) ? ":443" : ":80";
    size_t port_size = strlen(default_port);
    if (kept_size > port_size && !memcmp(start + kept_size - port_size, default_port, port_size))
        kept_size -= port_size;
    if (!kept_size || kept_size >= capacity) return false;
    memcpy(host, start, kept_size);
    host[kept_size] = 0;
    return true;
}

bool url_append(char *buffer, size_t capacity, const char *text, size_t size) {
    size_t used = strlen(buffer);
    if (size >= capacity - used) return false;
    memcpy(buffer + used, text, size);
    buffer[used + size] = 0;
    return true;
}

bool url_append_encoded(char *buffer, size_t capacity, const char *text, size_t size,
                        bool keeps_slash) {
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        char encoded[3] = {'%', digits[c >> 4], digits[c & 15]};
        bool is_plain = is_alphanumeric(text[i]) || (c && strchr("-._~", c)) ||
                        (c == '/' && keeps_slash);
        if (!url_append(buffer, capacity, is_plain ? text + i : encoded, is_plain ? 1 : 3))
            return false;
    }
    return true;
}

/* Returns true if the text begins with the whole host of a URL, perhaps with a port. */
static bool starts_host(const char *text, const char *host) {
    size_t size = strlen(host);
    if (strncmp(text, host, size) != 0) return false;
    text += size;
    if (*text == ':') text += 1 + strspn(text + 1, "0123456789");
    return !*text || *text == '/';
}

bool url_is_private(const char *text) {
    if (!strncmp(text, "https://", 8)) return true;
    if (strncmp(text, "http://", 7) != 0) return false;
    return starts_host(text + 7, "localhost") || starts_host(text + 7, "127.0.0.1") ||
           starts_host(text + 7, "[::1]");
}
