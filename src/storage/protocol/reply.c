#include "storage/protocol/reply.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/words/character.h"

void reply_reset(struct reply *reply) {
    *reply = (struct reply){
        .content_length = REPLY_NO_SIZE, .range_total = REPLY_NO_SIZE, .modified = REPLY_NO_TIME};
}

/* A piece of a header line, which is not NUL-terminated. */
struct text {
    const char *data;
    size_t size;
};

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct text trim(struct text text) {
    while (text.size && is_space(text.data[0])) text.data++, text.size--;
    while (text.size && is_space(text.data[text.size - 1])) text.size--;
    return text;
}

static bool equals(struct text text, const char *word) {
    return text.size == strlen(word) && !strncasecmp(text.data, word, text.size);
}

static bool skip(struct text *text, const char *word) {
    size_t size = strlen(word);
    if (text->size < size || strncasecmp(text->data, word, size) != 0) return false;
    text->data += size;
    text->size -= size;
    return true;
}

/* Takes a number of at most 18 digits, which fits and leaves room for sums. */
static bool take_number(uint64_t *number, struct text *text) {
    size_t digits = 0;
    for (*number = 0; digits < text->size && is_digit(text->data[digits]); digits++) {
        if (digits == 18) return false;
        *number = *number * 10 + (uint64_t)(text->data[digits] - '0');
    }
    text->data += digits;
    text->size -= digits;
    return digits > 0;
}

static bool parse_number(uint64_t *number, struct text text) {
    return take_number(number, &text) && !text.size;
}

/* "bytes 0-9/100", "bytes 0-9/ *" without the space, or "bytes * /100" for a range that the object
 * does not have. */
static bool parse_range(struct reply *reply, struct text text) {
    uint64_t last;
    if (!skip(&text, "bytes ")) return false;
    bool is_unsatisfied = skip(&text, "*");
    if (!is_unsatisfied) {
        if (!take_number(&reply->range_begin, &text) || !skip(&text, "-") ||
            !take_number(&last, &text) || last < reply->range_begin)
            return false;
        reply->range_end = last + 1;
        reply->has_range = true;
    }
    if (!skip(&text, "/")) return false;
    if (equals(text, "*")) return !is_unsatisfied;
    return parse_number(&reply->range_total, text) &&
           (is_unsatisfied || reply->range_end <= reply->range_total);
}

static bool has_control(const char *data, size_t size) {
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)data[i] < 0x20 || data[i] == 0x7f) return true;
    return false;
}

static bool copy_text(char *copy, size_t capacity, struct text text) {
    if (text.size >= capacity || has_control(text.data, text.size)) return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    return true;
}

/* Headers that are given twice, with different values, say nothing. */
static bool add_range(struct reply *reply, struct text value) {
    struct reply former = *reply;
    if (!parse_range(reply, value)) return false;
    if (!former.has_range && former.range_total == REPLY_NO_SIZE) return true;
    return former.has_range == reply->has_range && former.range_begin == reply->range_begin &&
           former.range_end == reply->range_end && former.range_total == reply->range_total;
}

static bool add_length(struct reply *reply, struct text value) {
    uint64_t former = reply->content_length;
    if (!parse_number(&reply->content_length, value)) return false;
    return former == REPLY_NO_SIZE || former == reply->content_length;
}

static bool add_etag(struct reply *reply, struct text value) {
    size_t former_size = strlen(reply->etag);
    if (former_size)
        return former_size == value.size && !memcmp(reply->etag, value.data, value.size);
    return copy_text(reply->etag, sizeof reply->etag, value);
}

void reply_add_header(struct reply *reply, const char *line, size_t size) {
    const char *colon = memchr(line, ':', size);
    if (!colon) return;
    struct text name = {line, (size_t)(colon - line)};
    struct text value = trim((struct text){colon + 1, size - name.size - 1});
    bool is_good = true;
    if (equals(name, "content-range")) is_good = add_range(reply, value);
    else if (equals(name, "content-length")) is_good = add_length(reply, value);
    else if (equals(name, "content-encoding"))
        reply->is_encoded = value.size && !equals(value, "identity");
    else if (equals(name, "etag")) is_good = add_etag(reply, value);
    else if (equals(name, "last-modified"))
        reply->modified = reply_parse_date(value.data, value.size);
    else if (equals(name, "x-amz-bucket-region"))
        is_good = copy_text(reply->region, sizeof reply->region, value);
    else if (equals(name, "retry-after") && !parse_number(&reply->retry_after, value))
        reply->retry_after = 0; /* a date: the usual delay applies */
    if (!is_good) reply->is_malformed = true;
}

/* ---- Dates. */

static bool parse_month(unsigned *month, struct text text) {
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (*month = 1; *month <= 12; ++*month)
        if (text.size >= 3 && !memcmp(text.data, names + 3 * (*month - 1), 3)) return true;
    return false;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar, from 1970 on. The year is taken to
 * begin in March, so that the leap day is its last. */
static int64_t count_days(uint64_t year, unsigned month, unsigned day) {
    uint64_t y = month <= 2 ? year - 1 : year;
    unsigned shifted = (month + 9) % 12;
    uint64_t days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * shifted + 2) / 5 + day - 1;
    return (int64_t)days - 719468;
}

int64_t reply_parse_date(const char *text, size_t size) {
    enum { YEAR_MAX = 2261 }; /* the last whole year whose nanoseconds fit into 64 bits */
    struct text rest = {text, size};
    uint64_t day, year, hour, minute, second;
    unsigned month;
    const char *comma = memchr(text, ',', size);
    if (!comma) return REPLY_NO_TIME;
    rest = trim((struct text){comma + 1, size - (size_t)(comma + 1 - text)});
    if (!take_number(&day, &rest) || !skip(&rest, " ") || !parse_month(&month, rest))
        return REPLY_NO_TIME;
    rest = (struct text){rest.data + 3, rest.size - 3};
    if (!skip(&rest, " ") || !take_number(&year, &rest) || !skip(&rest, " ") ||
        !take_number(&hour, &rest) || !skip(&rest, ":") || !take_number(&minute, &rest) ||
        !skip(&rest, ":") || !take_number(&second, &rest) || !equals(rest, " GMT"))
        return REPLY_NO_TIME;
    if (day < 1 || day > 31 || year < 1970 || year > YEAR_MAX || hour > 23 || minute > 59 ||
        second > 60)
        return REPLY_NO_TIME;
    return count_days(year, month, (unsigned)day) * 86400 +
           (int64_t)(hour * 3600 + minute * 60 + second);
}

/* ---- Verdicts. */

bool etag_is_valid(const char *etag) {
    size_t size = strlen(etag);
    return size < ETAG_MAX && !has_control(etag, size);
}

bool etag_is_strong(const char *etag) {
    return etag[0] == '"';
}

static enum reply_verdict say(const char **reason, enum reply_verdict verdict, const char *text) {
    *reason = text;
    return verdict;
}

static bool is_other_object(const struct reply *reply, const struct range_request *request,
                            uint64_t total) {
    if (request->object_size != REPLY_NO_SIZE && total != REPLY_NO_SIZE &&
        total != request->object_size)
        return true;
    if (request->etag[0] && reply->etag[0]) return strcmp(request->etag, reply->etag) != 0;
    return request->modified != REPLY_NO_TIME && reply->modified != REPLY_NO_TIME &&
           request->modified != reply->modified;
}

const char reply_lacks_etag[] = "the server no longer sends an ETag, which it sent when the object "
                                "was indexed or opened";

/* An expected ETag that the reply lacks: nothing then shows that the object is the expected one. */
static bool lacks_etag(const struct reply *reply, const struct range_request *request) {
    return request->etag[0] && !reply->etag[0];
}

/* Some servers send a range with the status of a whole object: rclone's, for one. */
static bool is_part(const struct reply *reply) {
    return reply->has_range && (reply->range_begin != 0 || reply->range_end != reply->range_total);
}

static enum reply_verdict check_whole(uint64_t *body_size, const char **reason,
                                      const struct reply *reply,
                                      const struct range_request *request) {
    if (is_part(reply))
        return say(reason, REPLY_ODD, "the server sends a range as if it were the object");
    if (reply->content_length == REPLY_NO_SIZE || request->offset != 0 ||
        (reply->content_length != request->size &&
         !(request->accepts_shorter && reply->content_length < request->size)))
        return say(reason, REPLY_ODD, "the server ignores ranges: it sends the whole object");
    if (is_other_object(reply, request, reply->content_length))
        return say(reason, REPLY_CHANGED, "the object has changed");
    if (lacks_etag(reply, request)) return say(reason, REPLY_ODD, reply_lacks_etag);
    *body_size = reply->content_length;
    return *body_size ? REPLY_GOOD : say(reason, REPLY_EMPTY, "the object is empty");
}

static enum reply_verdict check_partial(uint64_t *body_size, const char **reason,
                                        const struct reply *reply,
                                        const struct range_request *request) {
    if (!reply->has_range)
        return say(reason, REPLY_ODD, "the server does not say which range it sends");
    uint64_t size = reply->range_end - reply->range_begin;
    if (is_other_object(reply, request, reply->range_total))
        return say(reason, REPLY_CHANGED, "the object has changed");
    if (lacks_etag(reply, request)) return say(reason, REPLY_ODD, reply_lacks_etag);
    bool is_short = request->accepts_shorter && size < request->size &&
                    reply->range_end == reply->range_total;
    if (reply->range_begin != request->offset || (size != request->size && !is_short))
        return say(reason, REPLY_ODD, "the server sends another range than the requested one");
    if (reply->content_length != REPLY_NO_SIZE && reply->content_length != size)
        return say(reason, REPLY_ODD, "the reply's length does not match its range");
    *body_size = size;
    return REPLY_GOOD;
}

/* 501 and 505 say that the server will never do what is asked. */
static bool is_passing(long status) {
    return status == 408 || status == 429 || (status >= 500 && status != 501 && status != 505);
}

static enum reply_verdict check_error(const char **reason, const struct reply *reply,
                                      const struct range_request *request) {
    long status = reply->status;
    if (status == 412) return say(reason, REPLY_CHANGED, "the object has changed");
    if (status == 416 && request->accepts_shorter && request->offset == 0 &&
        (reply->range_total == 0 || reply->range_total == REPLY_NO_SIZE))
        return say(reason, REPLY_EMPTY, "the object is empty");
    if (status == 416) return say(reason, REPLY_CHANGED, "the object is shorter");
    if (status == 404 || status == 410)
        return say(reason, REPLY_MISSING, "there is no such object");
    if (status == 401 || status == 403) return say(reason, REPLY_DENIED, "access was denied");
    if (status >= 300 && status < 400)
        return say(reason, REPLY_REDIRECTED, "the server redirects the request");
    if (is_passing(status)) return say(reason, REPLY_TRY_AGAIN, "the server is busy or has failed");
    if (status < 300)
        return say(reason, REPLY_ODD, "the reply has neither what was requested nor an error");
    return say(reason, REPLY_UNUSABLE, "the server refuses the request");
}

enum reply_verdict reply_check(uint64_t *body_size, const char **reason, const struct reply *reply,
                               const struct range_request *request) {
    *body_size = 0;
    *reason = NULL;
    if (reply->status != 200 && reply->status != 206) return check_error(reason, reply, request);
    if (reply->is_malformed)
        return say(reason, REPLY_ODD, "the server's headers cannot be understood");
    if (reply->is_encoded)
        return say(reason, REPLY_UNUSABLE,
                   "the object is stored with a content encoding, which ranges do not decode");
    return reply->status == 206 ? check_partial(body_size, reason, reply, request)
                                : check_whole(body_size, reason, reply, request);
}

static bool is_code_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '.' || c == '_';
}

void reply_find_code(char code[CODE_MAX], const char *body, size_t size) {
    static const char begin[] = "<Code>";
    const char *element = memmem(body, size, begin, sizeof begin - 1);
    code[0] = 0;
    if (!element) return;
    element += sizeof begin - 1;
    size_t left = size - (size_t)(element - body), used = 0;
    while (used < left && used < CODE_MAX - 1 && is_code_character(element[used])) used++;
    if (used == left || element[used] != '<') return;
    memcpy(code, element, used);
    code[used] = 0;
}

void reply_quote(char quote[QUOTE_MAX], const char *body, size_t size) {
    size_t used = 0;
    size_t i = 0;
    for (; i < size && used < QUOTE_MAX - 8; i++) {
        unsigned char byte = (unsigned char)body[i];
        bool is_plain = byte && byte < 0x80; /* an error escapes control characters */
        used += (size_t)snprintf(quote + used, QUOTE_MAX - used, is_plain ? "%c" : "\\x%02x", byte);
    }
    snprintf(quote + used, QUOTE_MAX - used, "%s", i < size ? "..." : "");
}
