#include "storage/protocol/access_token.h"

#include <string.h>

#include "base/text/json_reader.h"

enum { TYPE_MAX = 16, LIFETIME_MAX_S = 86400 };

struct fields {
    struct access_token *token;
    char type[TYPE_MAX];
};

static bool is_graphic(const char *text) {
    if (!text[0]) return false;
    for (; *text; text++)
        if ((unsigned char)*text <= 0x20 || (unsigned char)*text >= 0x7f) return false;
    return true;
}

static bool read_member(struct fields *fields, struct json_reader *reader) {
    struct json_string name;
    if (!json_read_string(&name, reader) || !json_take(reader, ':')) return false;
    if (json_string_is(&name, "access_token"))
        return json_read_text(reader, fields->token->text, ACCESS_TOKEN_MAX);
    if (json_string_is(&name, "expires_in"))
        return json_read_uint64(reader, &fields->token->lifetime_s);
    if (json_string_is(&name, "token_type"))
        return json_read_text(reader, fields->type, sizeof fields->type);
    json_skip_value(reader);
    return true;
}

bool access_token_read(struct access_token *token, const char *text, size_t size) {
    struct json_reader reader = {text, text + size};
    struct fields fields = {.token = token};
    memset(token, 0, sizeof *token);
    if (!json_take(&reader, '{')) return false;
    do
        if (!read_member(&fields, &reader)) return false;
    while (json_take(&reader, ','));
    if (token->lifetime_s > LIFETIME_MAX_S) token->lifetime_s = LIFETIME_MAX_S;
    return json_take(&reader, '}') && json_at_end(&reader) && is_graphic(token->text) &&
           token->lifetime_s && !strcmp(fields.type, "Bearer");
}
