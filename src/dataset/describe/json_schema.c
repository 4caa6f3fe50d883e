/* The values of JSON objects, by their paths. */
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/text/json_reader.h"
#include "base/text/plain_number.h"
#include "dataset/describe/row_schema.h"
#include "parse/example/schema.h"

enum { PATH_MAX_SIZE = 1000 };

/* A place in an object, whose syntax was checked. */
struct walk {
    recmap_schema *schema;
    struct json_reader reader;
    char path[PATH_MAX_SIZE]; /* of the value that is read */
    size_t path_size;
    unsigned depth; /* of arrays */
    char *scratch;  /* as large as the record */
    size_t scratch_size;
    bool has_memory;
};

static struct feature_stats *find(struct walk *walk) {
    struct feature_stats *stats = schema_text_feature(walk->schema, walk->path, walk->path_size);
    if (!stats) walk->has_memory = false;
    return stats;
}

static void add(struct walk *walk, const struct text_value *value) {
    struct feature_stats *stats = find(walk);
    if (stats) text_stats_add(stats, value, walk->depth);
}

/* Reads a string, or skips one that has half of a surrogate pair. */
static bool read_string(struct json_string *string, struct json_reader *reader) {
    struct json_reader start = *reader;
    if (json_read_string(string, reader)) return true;
    *reader = start;
    (void)!json_check_value(reader);
    return false;
}

static void walk_string(struct walk *walk) {
    struct json_string string;
    if (!read_string(&string, &walk->reader)) return;
    struct text_value value = {.kind = TEXT_BYTES, .size = string.size};
    if (string.has_escapes)
        value.size = json_string_decode(walk->scratch, walk->scratch_size, &string);
    add(walk, &value);
}

/* A number, true, false or null. */
static void walk_word(struct walk *walk) {
    struct json_reader *reader = &walk->reader;
    struct text_value value = {.kind = TEXT_FLOAT};
    json_peek(reader);
    const char *text = reader->at;
    json_check_value(reader);
    value.size = (size_t)(reader->at - text);
    if (*text == 'n') {
        struct feature_stats *stats = find(walk);
        if (stats) text_stats_add_null(stats);
        return;
    }
    if (*text == 't' || *text == 'f') value.kind = TEXT_BOOL;
    else if (plain_int64(&value.integer, text, value.size)) value.kind = TEXT_INT64;
    else (void)!plain_double(&value.number, text, value.size);
    add(walk, &value);
}

static void walk_value(struct walk *walk);

static void walk_array(struct walk *walk) {
    json_take(&walk->reader, '[');
    if (json_take(&walk->reader, ']')) {
        struct feature_stats *stats = find(walk);
        if (stats) text_stats_add_array(stats, walk->depth + 1);
        return;
    }
    walk->depth++;
    do walk_value(walk);
    while (walk->has_memory && json_take(&walk->reader, ','));
    walk->depth--;
    json_take(&walk->reader, ']');
}

/* Adds a name to the path. Returns false if there is no room. */
static bool enter(struct walk *walk, const struct json_string *name) {
    size_t room = sizeof walk->path - walk->path_size, dot = walk->path_size > 0;
    if (room <= dot) return false;
    size_t size = json_string_decode(walk->path + walk->path_size + dot, room - dot, name);
    if (size == SIZE_MAX) return false;
    if (dot) walk->path[walk->path_size] = '.';
    walk->path_size += dot + size;
    return true;
}

static void walk_object(struct walk *walk) {
    const size_t path_size = walk->path_size;
    json_take(&walk->reader, '{');
    if (json_take(&walk->reader, '}')) return;
    do {
        struct json_string name;
        bool has_name = read_string(&name, &walk->reader);
        json_take(&walk->reader, ':');
        if (has_name && enter(walk, &name)) walk_value(walk);
        else json_check_value(&walk->reader);
        walk->path_size = path_size;
    } while (walk->has_memory && json_take(&walk->reader, ','));
    json_take(&walk->reader, '}');
}

static void walk_value(struct walk *walk) {
    switch (json_peek(&walk->reader)) {
    case '{': walk_object(walk); return;
    case '[': walk_array(walk); return;
    case '"': walk_string(walk); return;
    default: walk_word(walk);
    }
}

recmap_status json_schema_add(recmap_schema *schema, const recmap_record *record,
                              recmap_error *error) {
    const char *text = (const char *)record->data;
    struct walk walk = {.schema = schema,
                        .reader = {text, text + record->size},
                        .scratch = malloc(record->size),
                        .scratch_size = record->size,
                        .has_memory = true};
    if (!walk.scratch) return fail_memory(error);
    walk_object(&walk);
    free(walk.scratch);
    schema_end_text(schema);
    return walk.has_memory ? RECMAP_OK : fail_memory(error);
}
