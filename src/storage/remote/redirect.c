#include "storage/remote/redirect.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "storage/remote/blocked.h"

#ifndef CURL_IGNORE_DEPRECATION /* since libcurl 7.87 */
#define CURL_IGNORE_DEPRECATION(statements) statements
#endif

/* libcurl 7.85 replaced these options. Recmap may run with another libcurl than the one whose
 * headers it was compiled with, so both kinds are set: libcurl refuses the one that it does not
 * know. */
void redirect_limit_protocols(CURL *easy, bool is_https) {
    const long both = CURLPROTO_HTTP | CURLPROTO_HTTPS;
    const long next = is_https ? CURLPROTO_HTTPS : both;
    CURL_IGNORE_DEPRECATION(libcurl.easy_setopt(easy, CURLOPT_PROTOCOLS, both);)
    CURL_IGNORE_DEPRECATION(libcurl.easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS, next);)
#if LIBCURL_VERSION_NUM >= 0x075500
    libcurl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    libcurl.easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, is_https ? "https" : "http,https");
#endif
}

static const char header_name[] = "location:";
enum { NAME_SIZE = sizeof header_name - 1 };

static bool is_location(const char *line, size_t size) {
    return size >= NAME_SIZE && !strncasecmp(line, header_name, NAME_SIZE);
}

/* The value of the header, which the caller frees; NULL if memory runs out. */
static char *copy_value(const char *line, size_t size) {
    size_t begin = NAME_SIZE;
    while (begin < size && strchr(" \t", line[begin])) begin++;
    while (size > begin && strchr(" \t\r\n", line[size - 1])) size--;
    return strndup(line + begin, size - begin);
}

/* The host is the one that libcurl sends: an international name in its ASCII form, in which digits
 * and dots of other scripts have become plain ones. A libcurl that cannot convert it, or is older,
 * leaves characters that are refused. */
static bool url_is_blocked(CURLU *url) {
    char *host;
    if (libcurl.url_get(url, CURLUPART_HOST, &host, CURLU_PUNYCODE) != CURLUE_OK) return true;
    bool is_blocked = host_refusal(host) != NULL;
    libcurl.free(host);
    return is_blocked;
}

/* libcurl parses the location as it will when it follows the redirect, so that both see the same
 * host, however it is written. */
static bool location_is_blocked(CURL *easy, const char *location) {
    const unsigned flags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_PATH_AS_IS;
    char *base = NULL;
    CURLU *url = libcurl.url();
    libcurl.easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &base);
    bool is_blocked = !url || !base ||
                      libcurl.url_set(url, CURLUPART_URL, base, flags) != CURLUE_OK ||
                      libcurl.url_set(url, CURLUPART_URL, location, flags) != CURLUE_OK ||
                      url_is_blocked(url);
    libcurl.url_cleanup(url);
    return is_blocked;
}

bool redirect_is_blocked(CURL *easy, const char *line, size_t size) {
    if (!is_location(line, size)) return false;
    char *location = copy_value(line, size);
    bool is_blocked = !location || (location[0] && location_is_blocked(easy, location));
    free(location);
    return is_blocked;
}
