#include "base/core/redact.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static void append(char *buffer, size_t capacity, const char *text, size_t size) {
    size_t used = strlen(buffer), room = capacity - used - 1;
    if (size > room) size = room;
    memcpy(buffer + used, text, size);
    buffer[used + size] = 0;
}

/* The size of the scheme that ends where the text ends. */
static size_t scheme_size(const char *text, size_t size) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789+-.";
    size_t begin = size;
    while (begin && strchr(letters, text[begin - 1] | ' ') && text[begin - 1]) begin--;
    return size - begin;
}

/* Returns true if `#` is part of the name of an object, as each other character is. */
static bool has_keys(const char *scheme, size_t size) {
    static const char *const schemes[] = {"s3", "gs", "az", "hdfs", "webhdfs", "swebhdfs"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (size == strlen(schemes[i]) && !strncmp(scheme, schemes[i], size)) return true;
    return false;
}

/* The size of the URL without query and fragment. */
static size_t plain_size(const char *scheme, size_t scheme_size, const char *rest) {
    size_t size = strlen(rest);
    bool is_web = scheme_size >= 4 && !strncasecmp(scheme, "http", 4);
    const char *query = strchr(rest, '?');
    const char *fragment = has_keys(scheme, scheme_size) ? NULL : strchr(rest, '#');
    if (query && (is_web || strchr(query, '='))) size = (size_t)(query - rest);
    return fragment && (size_t)(fragment - rest) < size ? (size_t)(fragment - rest) : size;
}

/* The size of the user information with its `@`, the last one of the authority. */
static size_t user_size(const char *rest, size_t plain_size) {
    size_t size = strcspn(rest, "/?#");
    if (size > plain_size) size = plain_size;
    while (size && rest[size - 1] != '@') size--;
    return size;
}

void redact_url(char *safe_text, size_t capacity, const char *text) {
    if (!capacity) return;
    safe_text[0] = 0;
    const char *mark = strstr(text, "://");
    size_t scheme = mark ? scheme_size(text, (size_t)(mark - text)) : 0;
    if (!scheme) {
        append(safe_text, capacity, text, strlen(text));
        return;
    }
    const char *rest = mark + 3;
    size_t size = plain_size(mark - scheme, scheme, rest), user = user_size(rest, size);
    append(safe_text, capacity, text, (size_t)(rest - text));
    append(safe_text, capacity, rest + user, size - user);
    if (rest[size]) append(safe_text, capacity, rest[size] == '?' ? "?..." : "#...", 4);
}
