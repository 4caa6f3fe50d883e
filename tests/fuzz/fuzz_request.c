/* Any text as storage options and a URL: refused, or a request that contains nothing but what a
 * request may contain, whatever the options are.
 *
 * The input's first line is the URL; the others are options, NAME=VALUE. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/redact.h"
#include "base/words/url_prefix.h"
#include "fuzz/fuzz.h"
#include "storage/remote/address.h"

static void check(bool holds) {
    if (!holds) abort();
}

static bool is_graphic(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text <= 0x20 || (unsigned char)*text >= 0x7f) return false;
    return true;
}

/* A line end in a header would add a header. */
static void check_headers(const struct authorization *authorization) {
    check(authorization->count <= HEADERS_MAX);
    for (size_t i = 0; i < authorization->count; i++) {
        check(!strpbrk(authorization->lines[i], "\r\n"));
        check(strstr(authorization->lines[i], ": ") != NULL);
    }
}

static void check_address(const struct address *address, const struct storage_options *options) {
    struct authorization authorization;
    size_t size = strlen(address->url);
    check(address->path_offset <= size && address->query_offset <= size);
    /* A web URL may have no path, or a query in its place. */
    bool is_web = !url_has_listing(address->scheme);
    char first = address->url[address->path_offset];
    check(first == '/' || !first || address->is_listing || (is_web && first == '?'));
    if (url_has_listing(address->scheme)) check(is_graphic(address->url + address->path_offset));
    check(!strpbrk(address->host, "\r\n"));
    if (address_authorize(&authorization, address, options, NULL, 1700000000, NULL) == RECMAP_OK)
        check_headers(&authorization);
}

static void check_redacted(const char *text) {
    char redacted[64], whole[2 * URL_MAX];
    redact_url(redacted, sizeof redacted, text);
    check(strlen(redacted) < sizeof redacted);
    if (!url_is_url(text) || strlen(text) >= URL_MAX) return;
    redact_url(whole, sizeof whole, text);
    check(strlen(whole) <= strlen(text) + 4);
    const char *query = strchr(whole, '?');
    if (!strncmp(text, "http", 4) && query) check(!strcmp(query, "?..."));
}

static void check_url(const char *text, const struct storage_options *options) {
    struct url url;
    struct address address;
    check_redacted(text);
    if (url_parse(&url, text)) return;
    check(url.host > text && url.host_size > 0);
    check(url.key >= url.host + url.host_size && url.key <= text + strlen(text));
    if (address_of_object(&address, options, &url, NULL) == RECMAP_OK)
        check_address(&address, options);
    if (!url_has_listing(url.scheme)) return;
    size_t prefix_size = strcspn(url.key, "*?[");
    if (address_of_listing(&address, options, &url, url.key, prefix_size, prefix_size % 2,
                           prefix_size % 3 ? url.key : NULL, NULL) == RECMAP_OK)
        check_address(&address, options);
}

static void set_option(struct storage_options *options, char *line) {
    recmap_error error = RECMAP_ERROR_INIT;
    char *equals = strchr(line, '=');
    if (!equals) return;
    *equals = 0;
    if (storage_options_set(options, line, equals + 1, &error) == RECMAP_OK) return;
    check(error.status == RECMAP_INVALID || error.status == RECMAP_NO_MEMORY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct storage_options options = {0};
    char *text = malloc(size + 1), *rest = text;
    check(text != NULL);
    if (size) memcpy(text, data, size);
    text[size] = 0;
    const char *url = strsep(&rest, "\n");
    for (char *line; (line = strsep(&rest, "\n"));) set_option(&options, line);
    check_url(url, &options);
    storage_options_deinit(&options);
    free(text);
    return 0;
}
