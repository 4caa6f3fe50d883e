/* The members of a JSON object. */
#include <string.h>

#include "base/text/fields.h"
#include "base/text/json_reader.h"
#include "parse/decode/read_fault.h"
#include "parse/text/text_source.h"

/* An object within the record, and the part of the keys that leads to it. */
struct json_place {
    const char *prefix; /* a key, of which the first `prefix_size` bytes lead to the object */
    size_t prefix_size;
};

/* How a member's name fits the rest of a key. */
enum name_match { MATCH_NONE, MATCH_WHOLE, MATCH_PREFIX };

/* `size` receives the size of the name in the key. */
static enum name_match match_name(size_t *size, const char *key, const struct json_string *name) {
    char text[256];
    const char *start = name->data;
    *size = name->size;
    if (name->has_escapes) {
        *size = json_string_decode(text, sizeof text, name);
        start = text;
        if (*size == SIZE_MAX) return MATCH_NONE;
    }
    size_t key_size = strlen(key);
    if (key_size < *size || memcmp(key, start, *size) != 0) return MATCH_NONE;
    if (key_size == *size) return MATCH_WHOLE;
    return key[*size] == '.' ? MATCH_PREFIX : MATCH_NONE;
}

/* Finds the keys that a member is, and those that lead through it, whose pieces are forgotten: a
 * later member replaces an earlier one of the same name, with all that is in it. If the member is
 * an object, returns one of the latter. */
static const char *find_keys(struct text_piece *pieces, const struct text_source *source,
                             const struct json_place *place, const struct json_string *name,
                             const char *value, size_t *prefix_size) {
    const char *leading = NULL;
    for (size_t i = 0; i < source->key_count; i++) {
        char *key = source->keys[i];
        size_t size;
        if (strncmp(key, place->prefix, place->prefix_size) != 0) continue;
        enum name_match match = match_name(&size, key + place->prefix_size, name);
        if (match == MATCH_NONE) continue;
        pieces[i] = (struct text_piece){.data = NULL};
        if (*value == 'n') continue;
        size_t read_size = place->prefix_size + size + 1;
        if (match == MATCH_WHOLE) {
            pieces[i].data = value;
        } else if (*value == '{') {
            leading = key;
            *prefix_size = read_size;
        } else {
            pieces[i] = (struct text_piece){.data = value, .path = key + read_size};
        }
    }
    return leading;
}

/* Returns true if as many arrays and objects are open before a bracket as may be. The text before
 * it is known to be JSON. */
static bool is_too_deep(const char *data, const struct json_reader *reader) {
    size_t depth = 0;
    bool in_string = false;
    for (const char *at = data; at < reader->at; at++) {
        if (in_string && *at == '\\') at++;
        else if (*at == '"') in_string = !in_string;
        else if (!in_string && (*at == '[' || *at == '{')) depth++;
        else if (!in_string && (*at == ']' || *at == '}')) depth--;
    }
    bool is_opener = reader->at < reader->end && (*reader->at == '[' || *reader->at == '{');
    return is_opener && depth >= JSON_DEPTH_MAX;
}

static bool fail_syntax(const struct json_reader *reader, const char *data,
                        struct read_fault *fault) {
    size_t at = (size_t)(reader->at - data);
    if (is_too_deep(data, reader))
        return fault_set(fault, RECMAP_CORRUPT, at,
                         "the JSON is nested more deeply than %d arrays and objects",
                         (int)JSON_DEPTH_MAX);
    return fault_set(fault, RECMAP_CORRUPT, at,
                     reader->at == reader->end ? "the JSON ends early" : "is not JSON");
}

static bool read_object(struct text_piece *pieces, const struct text_source *source,
                        const struct json_place *place, struct json_reader *reader);

/* Reads the value of a member. Sizes of pieces follow from the end of the value. The depth of
 * recursion is the number of dots in a key at most. */
static bool read_value(struct text_piece *pieces, const struct text_source *source,
                       const struct json_place *place, const struct json_string *name,
                       struct json_reader *reader) {
    json_peek(reader);
    const char *value = reader->at;
    if (value == reader->end) return false;
    struct json_place inner = {NULL, 0};
    inner.prefix = find_keys(pieces, source, place, name, value, &inner.prefix_size);
    bool is_read = inner.prefix ? read_object(pieces, source, &inner, reader)
                                : json_check_value(reader);
    for (size_t i = 0; i < source->key_count; i++)
        if (pieces[i].data == value) pieces[i].size = (size_t)(reader->at - value);
    return is_read;
}

/* The same for keys without dots. Members are usually in the order of the keys. */
static bool read_plain_value(struct text_piece *pieces, const struct text_source *source,
                             size_t *next, const struct json_string *name,
                             struct json_reader *reader) {
    json_peek(reader);
    const char *value = reader->at;
    if (!json_check_value(reader)) return false;
    for (size_t i = 0; i < source->key_count; i++) {
        size_t size, key = (*next + i) % source->key_count;
        if (match_name(&size, source->keys[key], name) != MATCH_WHOLE) continue;
        pieces[key] = (struct text_piece){.data = *value == 'n' ? NULL : value,
                                          .size = (size_t)(reader->at - value)};
        *next = key + 1;
        return true;
    }
    return true;
}

static bool read_object(struct text_piece *pieces, const struct text_source *source,
                        const struct json_place *place, struct json_reader *reader) {
    size_t next = 0;
    if (!json_take(reader, '{')) return false;
    if (json_take(reader, '}')) return true;
    do {
        struct json_string name;
        if (!json_read_string(&name, reader) || !json_take(reader, ':')) return false;
        if (source->has_paths ? !read_value(pieces, source, place, &name, reader)
                              : !read_plain_value(pieces, source, &next, &name, reader))
            return false;
    } while (json_take(reader, ','));
    return json_take(reader, '}');
}

bool json_find_members(struct text_piece *pieces, const struct text_source *source,
                       struct json_reader *reader) {
    struct json_place top = {"", 0};
    return read_object(pieces, source, &top, reader);
}

/* A byte order mark is skipped, as in rows. */
bool json_find(struct text_piece *pieces, const struct text_source *source, const char *data,
               size_t size, struct read_fault *fault) {
    struct json_reader reader = {data + field_mark_size(data, size), data + size};
    char first = json_peek(&reader);
    if (first != '{')
        return fault_set(fault, RECMAP_CORRUPT, (size_t)(reader.at - data), "%s",
                         reader.at == reader.end ? "the line is empty" : "is not a JSON object");
    if (!json_find_members(pieces, source, &reader)) return fail_syntax(&reader, data, fault);
    if (json_at_end(&reader)) return true;
    return fault_set(fault, RECMAP_CORRUPT, (size_t)(reader.at - data),
                     "the JSON object is followed by other text");
}
