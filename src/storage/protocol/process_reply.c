#include "storage/protocol/process_reply.h"

#include <string.h>
#include <time.h>

#include "base/text/json_reader.h"
#include "base/words/character.h"

enum { TIME_MAX = 64 };

/* What was read so far. */
struct fields {
    struct process_credentials *credentials;
    char session[PROCESS_TOKEN_MAX]; /* the token that belongs to keys */
    uint64_t version;                /* 0: none */
    bool has_expiry;
    bool is_inside; /* of the member `credential` */
};

static bool is_graphic(const char *text) {
    if (!text[0]) return false;
    for (; *text; text++)
        if ((unsigned char)*text <= 0x20 || (unsigned char)*text >= 0x7f) return false;
    return true;
}

static bool is_one_of(const struct json_string *name, const char *const *names) {
    for (; *names; names++)
        if (json_string_is(name, *names)) return true;
    return false;
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

/* Parses 2026-01-31T23:59:59Z, with or without a fraction of the second. `UTC` or an offset such as
 * +01:00 may replace the Z. */
static bool parse_time(int64_t *seconds, const char *text) {
    struct tm time = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &time);
    if (!end || time.tm_year < 70) return false;
    if (*end == '.') end += 1 + strspn(end + 1, "0123456789");
    int64_t ahead_s;
    if (!parse_zone(&ahead_s, end)) return false;
    *seconds = (int64_t)timegm(&time) - ahead_s;
    return true;
}

/* A text or a number of seconds. */
static bool read_expiry(struct fields *fields, struct json_reader *reader) {
    int64_t *expires_s = &fields->credentials->expires_s;
    char text[TIME_MAX];
    uint64_t seconds;
    fields->has_expiry = true;
    if (json_peek(reader) == '"')
        return json_read_text(reader, text, sizeof text) && parse_time(expires_s, text);
    if (!json_read_uint64(reader, &seconds) || seconds >= INT64_MAX) return false;
    *expires_s = (int64_t)seconds;
    return true;
}

static bool read_object(struct fields *fields, struct json_reader *reader);

static bool read_member(struct fields *fields, struct json_reader *reader) {
    static const char *const tokens[] = {"token", "accessToken", "access_token", NULL};
    static const char *const expiries[] = {"Expiration", "expires", "expires_on", "token_expiry",
                                           NULL};
    struct process_credentials *credentials = fields->credentials;
    struct json_string name;
    if (!json_read_string(&name, reader) || !json_take(reader, ':')) return false;
    if (json_string_is(&name, "AccessKeyId"))
        return json_read_text(reader, credentials->key, sizeof credentials->key);
    if (json_string_is(&name, "SecretAccessKey"))
        return json_read_text(reader, credentials->secret, sizeof credentials->secret);
    if (json_string_is(&name, "SessionToken"))
        return json_read_text(reader, fields->session, sizeof fields->session);
    if (json_string_is(&name, "Version")) return json_read_uint64(reader, &fields->version);
    if (is_one_of(&name, tokens))
        return json_read_text(reader, credentials->token, sizeof credentials->token);
    if (is_one_of(&name, expiries)) return read_expiry(fields, reader);
    /* `gcloud config config-helper` puts the token into this member. */
    if (json_string_is(&name, "credential") && !fields->is_inside) {
        fields->is_inside = true;
        return read_object(fields, reader);
    }
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

/* Keys have a version, and a token of their own. */
static bool is_complete(struct fields *fields) {
    struct process_credentials *credentials = fields->credentials;
    if (!fields->has_expiry) credentials->expires_s = PROCESS_NEVER;
    if (credentials->expires_s <= 0) return false;
    if (!credentials->key[0] && !credentials->secret[0]) return is_graphic(credentials->token);
    memcpy(credentials->token, fields->session, sizeof fields->session);
    return fields->version == 1 && is_graphic(credentials->key) &&
           is_graphic(credentials->secret) &&
           (!credentials->token[0] || is_graphic(credentials->token));
}

bool process_reply_read(struct process_credentials *credentials, const char *text, size_t size) {
    struct json_reader reader = {text, text + size};
    struct fields fields = {.credentials = credentials};
    memset(credentials, 0, sizeof *credentials);
    bool is_good = read_object(&fields, &reader) && json_at_end(&reader) && is_complete(&fields);
    explicit_bzero(&fields, sizeof fields);
    return is_good;
}
