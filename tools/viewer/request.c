#include "viewer/request.h"

#include <string.h>
#include <strings.h>

enum {
    BAD_REQUEST = 400,
    METHOD_NOT_ALLOWED = 405,
    CONTENT_TOO_LARGE = 413,
    HEADERS_TOO_LARGE = 431,
    VERSION_NOT_SUPPORTED = 505
};

bool request_text_equals(struct request_text text, const char *word) {
    return text.data && text.size == strlen(word) && !memcmp(text.data, word, text.size);
}

static bool begins_with(struct request_text text, const char *prefix) {
    size_t size = strlen(prefix);
    return text.size >= size && !memcmp(text.data, prefix, size);
}

static struct request_text skip(struct request_text text, size_t size) {
    return (struct request_text){text.data + size, text.size - size};
}

/* Takes the next line, without its CRLF, off `rest`. Returns false if there is no complete line. */
static bool take_line(struct request_text *line, struct request_text *rest) {
    const char *end = memmem(rest->data, rest->size, "\r\n", 2);
    if (!end) return false;
    *line = (struct request_text){rest->data, (size_t)(end - rest->data)};
    *rest = skip(*rest, line->size + 2);
    return true;
}

static bool is_graphic(struct request_text text) {
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] <= 0x20 || text.data[i] >= 0x7f) return false;
    return true;
}

/* Parses `GET /path?query HTTP/1.1`. Returns 0, or the status of an error. */
static int parse_first_line(struct request *request, struct request_text line) {
    request->is_head = begins_with(line, "HEAD ");
    const char *space = memchr(line.data, ' ', line.size);
    if (!space) return BAD_REQUEST;
    struct request_text target = skip(line, (size_t)(space - line.data) + 1);
    space = memchr(target.data, ' ', target.size);
    if (!space) return BAD_REQUEST;
    struct request_text version = skip(target, (size_t)(space - target.data) + 1);
    target.size = (size_t)(space - target.data);
    if (!begins_with(version, "HTTP/")) return BAD_REQUEST;
    if (!request_text_equals(version, "HTTP/1.1") && !request_text_equals(version, "HTTP/1.0"))
        return VERSION_NOT_SUPPORTED;
    if (!request->is_head && !begins_with(line, "GET ")) return METHOD_NOT_ALLOWED;
    if (!begins_with(target, "/") || !is_graphic(target)) return BAD_REQUEST;
    const char *mark = memchr(target.data, '?', target.size);
    request->path = target;
    if (mark) {
        request->path.size = (size_t)(mark - target.data);
        request->query = skip(target, request->path.size + 1);
    }
    return 0;
}

static bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_value(struct request_text text) {
    for (size_t i = 0; i < text.size; i++)
        if ((text.data[i] >= 0 && text.data[i] < 0x20 && text.data[i] != '\t') ||
            text.data[i] == 0x7f)
            return false;
    return true;
}

static struct request_text trim(struct request_text text) {
    while (text.size && (*text.data == ' ' || *text.data == '\t')) text = skip(text, 1);
    while (text.size && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t'))
        text.size--;
    return text;
}

static bool is_named(struct request_text name, const char *word) {
    return name.size == strlen(word) && !strncasecmp(name.data, word, name.size);
}

/* Where the value of a header is kept; NULL if it is not. */
static struct request_text *header_field(struct request *request, struct request_text name) {
    if (is_named(name, "Host")) return &request->host;
    if (is_named(name, "Origin")) return &request->origin;
    if (is_named(name, "Sec-Fetch-Site")) return &request->fetch_site;
    if (is_named(name, "Sec-Fetch-Mode")) return &request->fetch_mode;
    if (is_named(name, "Sec-Fetch-Dest")) return &request->fetch_dest;
    return NULL;
}

/* A header that is kept may occur once: of two, another program could have read the other one. */
static int parse_header(struct request *request, struct request_text line) {
    struct request_text name = line;
    for (name.size = 0; name.size < line.size && is_name_character(line.data[name.size]);)
        name.size++;
    if (!name.size || name.size == line.size || line.data[name.size] != ':') return BAD_REQUEST;
    struct request_text value = trim(skip(line, name.size + 1));
    if (!is_value(value)) return BAD_REQUEST;
    if (is_named(name, "Transfer-Encoding")) return CONTENT_TOO_LARGE;
    if (is_named(name, "Content-Length") && !request_text_equals(value, "0"))
        return CONTENT_TOO_LARGE;
    struct request_text *field = header_field(request, name);
    if (!field) return 0;
    if (field->data) return BAD_REQUEST;
    *field = value;
    return 0;
}

int request_parse(struct request *request, const char *data, size_t size) {
    struct request_text rest = {data, size}, line;
    *request = (struct request){.is_head = false};
    if (!take_line(&line, &rest)) return size >= REQUEST_SIZE_MAX ? HEADERS_TOO_LARGE : 0;
    int status = parse_first_line(request, line);
    for (int count = 0; !status; count++) {
        if (!take_line(&line, &rest)) return size >= REQUEST_SIZE_MAX ? HEADERS_TOO_LARGE : 0;
        if (!line.size) return 200;
        status = count < REQUEST_HEADERS_MAX ? parse_header(request, line) : HEADERS_TOO_LARGE;
    }
    return status;
}

/* ---- Fields of the query. */

/* Finds the encoded value of the first field with this name. */
static bool find_field(struct request_text *value, const struct request *request,
                       const char *name) {
    size_t name_size = strlen(name);
    struct request_text rest = request->query;
    while (rest.size) {
        const char *end = memchr(rest.data, '&', rest.size);
        struct request_text field = {rest.data, end ? (size_t)(end - rest.data) : rest.size};
        rest = skip(rest, field.size + (end ? 1 : 0));
        if (!begins_with(field, name) || field.size == name_size || field.data[name_size] != '=')
            continue;
        *value = skip(field, name_size + 1);
        return true;
    }
    return false;
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Decodes the character at the start of `text`. Returns its encoded size, or 0 if it is malformed.
 */
static size_t decode_character(char *character, struct request_text text) {
    *character = *text.data == '+' ? ' ' : *text.data;
    if (*text.data != '%') return 1;
    if (text.size < 3) return 0;
    int high = digit_value(text.data[1]), low = digit_value(text.data[2]);
    if (high < 0 || low < 0) return 0;
    *character = (char)(high << 4 | low);
    return *character ? 3 : 0;
}

enum request_field request_get_text(char *value, size_t capacity, const struct request *request,
                                    const char *name) {
    struct request_text text;
    if (!find_field(&text, request, name)) return FIELD_MISSING;
    size_t size = 0;
    while (text.size) {
        size_t length = size + 1 < capacity ? decode_character(&value[size], text) : 0;
        if (!length) return FIELD_INVALID;
        text = skip(text, length);
        size++;
    }
    value[size] = 0;
    return FIELD_VALID;
}

enum request_field request_get_number(uint64_t *value, const struct request *request,
                                      const char *name) {
    char text[21]; /* the largest number has 20 digits */
    enum request_field field = request_get_text(text, sizeof text, request, name);
    if (field != FIELD_VALID) return field;
    if (!*text || text[strspn(text, "0123456789")]) return FIELD_INVALID;
    uint64_t number = 0;
    for (const char *c = text; *c; c++) {
        uint64_t digit = (uint64_t)(*c - '0');
        if (number > (UINT64_MAX - digit) / 10) return FIELD_INVALID;
        number = number * 10 + digit;
    }
    *value = number;
    return FIELD_VALID;
}
