#include "storage/protocol/sso_token.h"

#include <string.h>

#include "base/text/json_reader.h"
#include "storage/protocol/role_reply.h"

enum { TIME_MAX = 64 };

static bool is_graphic(const char *text) {
    if (!text[0]) return false;
    for (; *text; text++)
        if ((unsigned char)*text <= 0x20 || (unsigned char)*text >= 0x7f) return false;
    return true;
}

static bool read_member(struct sso_token *token, char *expiry, struct json_reader *reader) {
    struct json_string name;
    if (!json_read_string(&name, reader) || !json_take(reader, ':')) return false;
    if (json_string_is(&name, "accessToken"))
        return json_read_text(reader, token->text, sizeof token->text);
    if (json_string_is(&name, "expiresAt")) return json_read_text(reader, expiry, TIME_MAX);
    json_skip_value(reader);
    return true;
}

bool sso_token_read(struct sso_token *token, const char *text, size_t size) {
    struct json_reader reader = {text, text + size};
    char expiry[TIME_MAX] = "";
    memset(token, 0, sizeof *token);
    if (!json_take(&reader, '{')) return false;
    do
        if (!read_member(token, expiry, &reader)) return false;
    while (json_take(&reader, ','));
    return json_take(&reader, '}') && json_at_end(&reader) && is_graphic(token->text) &&
           role_parse_time(&token->expires_s, expiry);
}
