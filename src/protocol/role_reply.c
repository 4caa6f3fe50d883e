#include "protocol/role_reply.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json_reader.h"

enum { TIME_MAX = 64 };

/* The values as texts, and where each belongs. */
struct fields {
    struct role_credentials *credentials;
    char expiration[TIME_MAX];
};

/* Credentials become parts of headers, so they are graphic ASCII. */
static bool is_graphic(const char *text) {
    if (!text[0]) return false;
    for (; *text; text++)
        if ((unsigned char)*text <= 0x20 || (unsigned char)*text >= 0x7f) return false;
    return true;
}

bool role_parse_time(int64_t *seconds, const char *text) {
    struct tm time = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &time);
    if (!end || time.tm_year < 70) return false;
    if (*end == '.') end += 1 + strspn(end + 1, "0123456789");
    *seconds = (int64_t)timegm(&time);
    return !strcmp(end, "Z") || !strcmp(end, "+00:00");
}

static bool is_complete(const struct fields *fields) {
    struct role_credentials *credentials = fields->credentials;
    return is_graphic(credentials->key) && is_graphic(credentials->secret) &&
           is_graphic(credentials->token) &&
           role_parse_time(&credentials->expires_s, fields->expiration);
}

/* ---- JSON. */

/* Where the value of a member goes; NULL: it is not one of the four. */
static char *find_field(size_t *capacity, struct fields *fields, const struct json_string *name) {
    struct role_credentials *credentials = fields->credentials;
    *capacity = ROLE_KEY_MAX;
    if (json_string_is(name, "AccessKeyId")) return credentials->key;
    if (json_string_is(name, "SecretAccessKey")) return credentials->secret;
    *capacity = ROLE_TOKEN_MAX;
    if (json_string_is(name, "Token")) return credentials->token;
    *capacity = TIME_MAX;
    return json_string_is(name, "Expiration") ? fields->expiration : NULL;
}

static bool read_member(struct fields *fields, struct json_reader *reader) {
    struct json_string name;
    size_t capacity;
    if (!json_read_string(&name, reader) || !json_take(reader, ':')) return false;
    char *field = find_field(&capacity, fields, &name);
    if (field) return json_read_text(reader, field, capacity);
    json_skip_value(reader);
    return true;
}

bool role_reply_read_json(struct role_credentials *credentials, const char *text, size_t size) {
    struct json_reader reader = {text, text + size};
    struct fields fields = {.credentials = credentials};
    memset(credentials, 0, sizeof *credentials);
    if (!json_take(&reader, '{')) return false;
    do
        if (!read_member(&fields, &reader)) return false;
    while (json_take(&reader, ','));
    return json_take(&reader, '}') && json_at_end(&reader) && is_complete(&fields);
}

/* ---- XML. */

/* Copies the text of the only element of this name. Its values have no character that XML escapes.
 */
static bool copy_element(char *field, size_t capacity, const char *text, size_t size,
                         const char *name) {
    char begin[40], end[40];
    snprintf(begin, sizeof begin, "<%s>", name);
    snprintf(end, sizeof end, "</%s>", name);
    const char *value = memmem(text, size, begin, strlen(begin));
    if (!value) return false;
    value += strlen(begin);
    const char *stop = memmem(value, (size_t)(text + size - value), end, strlen(end));
    if (!stop || (size_t)(stop - value) >= capacity) return false;
    size_t value_size = (size_t)(stop - value);
    if (memchr(value, '<', value_size) || memchr(value, '&', value_size)) return false;
    memcpy(field, value, value_size);
    field[value_size] = 0;
    return strlen(field) == value_size;
}

bool role_reply_read_xml(struct role_credentials *credentials, const char *text, size_t size) {
    struct fields fields = {.credentials = credentials};
    memset(credentials, 0, sizeof *credentials);
    return copy_element(credentials->key, sizeof credentials->key, text, size, "AccessKeyId") &&
           copy_element(credentials->secret, sizeof credentials->secret, text, size,
                        "SecretAccessKey") &&
           copy_element(credentials->token, sizeof credentials->token, text, size,
                        "SessionToken") &&
           copy_element(fields.expiration, sizeof fields.expiration, text, size, "Expiration") &&
           is_complete(&fields);
}
