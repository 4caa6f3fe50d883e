#include "viewer/request.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "viewer/http_library.h"

static const struct {
    const char *name;
    size_t offset; /* in a request */
} headers[] = {{"Host", offsetof(struct request, host)},
               {"Origin", offsetof(struct request, origin)},
               {"Sec-Fetch-Site", offsetof(struct request, fetch_site)},
               {"Sec-Fetch-Mode", offsetof(struct request, fetch_mode)},
               {"Sec-Fetch-Dest", offsetof(struct request, fetch_dest)},
               {"Content-Length", offsetof(struct request, content_length)},
               {"Transfer-Encoding", offsetof(struct request, transfer_encoding)}};

static enum MHD_Result set_header(void *context, enum MHD_ValueKind kind, const char *name,
                                  const char *value) {
    struct request *request = context;
    (void)kind;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        if (strcasecmp(name, headers[i].name)) continue;
        const char **field = (const char **)((char *)request + headers[i].offset);
        request->is_ambiguous |= *field != NULL;
        *field = value;
    }
    return MHD_YES;
}

void request_init(struct request *request, struct MHD_Connection *connection, const char *path) {
    *request = (struct request){.connection = connection, .path = path};
    microhttpd.get_connection_values(connection, MHD_HEADER_KIND, set_header, request);
}

/* Decodes the character at the start of `text`. Returns its encoded size, or 0 if it is malformed.
 */
static size_t decode_character(char *character, const char *text) {
    *character = *text;
    if (*text != '%') return 1;
    if (!isxdigit((unsigned char)text[1]) || !isxdigit((unsigned char)text[2])) return 0;
    char digits[] = {text[1], text[2], 0};
    *character = (char)strtoul(digits, NULL, 16);
    return *character ? 3 : 0;
}

enum request_field request_get_text(char *value, size_t capacity, const struct request *request,
                                    const char *name) {
    const char *text =
        microhttpd.lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
    if (!text) return FIELD_MISSING;
    size_t size = 0;
    while (*text) {
        size_t length = size + 1 < capacity ? decode_character(&value[size], text) : 0;
        if (!length) return FIELD_INVALID;
        text += length;
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
