#include "storage/protocol/role_reply.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text/json_reader.h"

enum { TIME_MAX = 64 };

/* The names of the values in one kind of JSON. */
struct dialect {
    const char *key, *secret, *token, *expiration;
    bool has_milliseconds; /* `expiration` is a number of milliseconds since 1970, not a text */
};

static const struct dialect metadata = {"AccessKeyId", "SecretAccessKey", "Token", "Expiration",
                                        false};
static const struct dialect portal = {"accessKeyId", "secretAccessKey", "sessionToken",
                                      "expiration", true};

/* The values as texts, and where each belongs. */
struct fields {
    struct role_credentials *credentials;
    const struct dialect *dialect;
    char expiration[TIME_MAX];
    uint64_t milliseconds;
};

/* Credentials become parts of headers, so they are graphic ASCII. */
static bool is_graphic(const char *text) {
    if (!text[0]) return false;
    for (; *text; text++)
        if ((unsigned char)*text <= 0x20 || (unsigned char)*text >= 0x7f) return false;
    return true;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The seconds that the time is ahead of UTC. */
static bool parse_zone(int64_t *seconds, const char *text) {
    *seconds = 0;
    if (!strcmp(text, "Z") || !strcmp(text, "UTC")) return true;
    if ((text[0] != '+' && text[0] != '-') || strlen(text) != sizeof "+00:00" - 1) return false;
    if (!is_digit(text[1]) || !is_digit(text[2]) || text[3] != ':' || !is_digit(text[4]) ||
        !is_digit(text[5]))
        return false;
    int hours = (text[1] - '0') * 10 + text[2] - '0',
        minutes = (text[4] - '0') * 10 + text[5] - '0';
    *seconds = (text[0] == '-' ? -1 : 1) * (int64_t)(hours * 3600 + minutes * 60);
    return hours < 24 && minutes < 60;
}

bool role_parse_time(int64_t *seconds, const char *text) {
    struct tm time = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &time);
    if (!end || time.tm_year < 70) return false;
    if (*end == '.') end += 1 + strspn(end + 1, "0123456789");
    int64_t ahead_s;
    if (!parse_zone(&ahead_s, end)) return false;
    *seconds = (int64_t)timegm(&time) - ahead_s;
    return true;
}

static bool find_expiry(const struct fields *fields) {
    int64_t *expires_s = &fields->credentials->expires_s;
    const struct dialect *dialect = fields->dialect;
    if (dialect && dialect->has_milliseconds) *expires_s = (int64_t)(fields->milliseconds / 1000);
    else return role_parse_time(expires_s, fields->expiration);
    return *expires_s > 0;
}

static bool is_complete(const struct fields *fields) {
    struct role_credentials *credentials = fields->credentials;
    return is_graphic(credentials->key) && is_graphic(credentials->secret) &&
           is_graphic(credentials->token) && find_expiry(fields);
}

/* ---- JSON. */

/* Where the text of a member goes; NULL: it is not one of them. */
static char *find_field(size_t *capacity, struct fields *fields, const struct json_string *name) {
    struct role_credentials *credentials = fields->credentials;
    const struct dialect *dialect = fields->dialect;
    *capacity = ROLE_KEY_MAX;
    if (json_string_is(name, dialect->key)) return credentials->key;
    if (json_string_is(name, dialect->secret)) return credentials->secret;
    *capacity = ROLE_TOKEN_MAX;
    if (json_string_is(name, dialect->token)) return credentials->token;
    *capacity = TIME_MAX;
    return json_string_is(name, dialect->expiration) ? fields->expiration : NULL;
}

/* A number, if it is one that the dialect has. */
static uint64_t *find_number(struct fields *fields, const struct json_string *name) {
    const struct dialect *dialect = fields->dialect;
    if (dialect->has_milliseconds && json_string_is(name, dialect->expiration))
        return &fields->milliseconds;
    return NULL;
}

static bool read_member(struct fields *fields, struct json_reader *reader) {
    struct json_string name;
    size_t capacity;
    if (!json_read_string(&name, reader) || !json_take(reader, ':')) return false;
    uint64_t *number = find_number(fields, &name);
    if (number) return json_read_uint64(reader, number);
    char *field = find_field(&capacity, fields, &name);
    if (field) return json_read_text(reader, field, capacity);
    json_skip_value(reader);
    return true;
}

static bool read_object(struct fields *fields, struct json_reader *reader) {
    if (!json_take(reader, '{')) return false;
    do
        if (!read_member(fields, reader)) return false;
    while (json_take(reader, ','));
    return json_take(reader, '}');
}

static bool read_json(struct role_credentials *credentials, const struct dialect *dialect,
                      const char *text, size_t size) {
    struct json_reader reader = {text, text + size};
    struct fields fields = {.credentials = credentials, .dialect = dialect};
    memset(credentials, 0, sizeof *credentials);
    return read_object(&fields, &reader) && json_at_end(&reader) && is_complete(&fields);
}

bool role_reply_read_json(struct role_credentials *credentials, const char *text, size_t size) {
    return read_json(credentials, &metadata, text, size);
}

/* The values are in an object `roleCredentials`. */
bool role_reply_read_portal(struct role_credentials *credentials, const char *text, size_t size) {
    struct json_reader reader = {text, text + size};
    struct fields fields = {.credentials = credentials, .dialect = &portal};
    memset(credentials, 0, sizeof *credentials);
    if (!json_take(&reader, '{')) return false;
    do {
        struct json_string name;
        if (!json_read_string(&name, &reader) || !json_take(&reader, ':')) return false;
        if (!json_string_is(&name, "roleCredentials")) json_skip_value(&reader);
        else if (!read_object(&fields, &reader)) return false;
    } while (json_take(&reader, ','));
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
