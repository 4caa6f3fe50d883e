#include "dataset/annotate/json_table.h"

#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/text/json_reader.h"
#include "dataset/annotate/table_error.h"

enum { MEMBER_WORK = 32 }; /* for the interrupt, in bytes: a member, however short */

/* Reads a string into a field, and decodes its escapes. */
static recmap_status read_text(bool *is_valid, struct field *field, struct json_reader *reader,
                               struct table_scratch *scratch, recmap_error *error) {
    struct json_string text;
    *is_valid = json_read_string(&text, reader);
    if (!*is_valid) return RECMAP_OK;
    *field = (struct field){FIELD_TEXT, (const uint8_t *)text.data, text.size};
    if (!text.has_escapes) return RECMAP_OK;
    if (!array_reserve(&scratch->data, &scratch->capacity, text.size + 1, 1))
        return fail_memory(error);
    field->data = (const uint8_t *)scratch->data;
    field->size = json_string_decode(scratch->data, scratch->capacity, &text);
    return RECMAP_OK;
}

/* A string, a number, null, or true and false as 1 and 0. */
static recmap_status read_value(bool *is_valid, struct field *field, struct json_reader *reader,
                                struct table_scratch *scratch, recmap_error *error) {
    struct json_number number;
    *is_valid = true;
    if (json_peek(reader) == '"') return read_text(is_valid, field, reader, scratch, error);
    if (json_take_word(reader, "null")) {
        *field = (struct field){FIELD_MISSING, NULL, 0};
    } else if (json_take_word(reader, "true")) {
        *field = (struct field){FIELD_NUMBER, (const uint8_t *)"1", 1};
    } else if (json_take_word(reader, "false")) {
        *field = (struct field){FIELD_NUMBER, (const uint8_t *)"0", 1};
    } else {
        *is_valid = json_read_number(&number, reader);
        if (*is_valid)
            *field = (struct field){FIELD_NUMBER, (const uint8_t *)number.data, number.size};
    }
    return RECMAP_OK;
}

/* The fields of an object that were read so far. */
struct json_row {
    struct table *table;
    struct table_row *row;
    const char *start; /* of the line */
    bool has_key, has_value;
};

static recmap_status fail_object(const struct table *table, uint64_t line, recmap_error *error) {
    return table_fail(table, line, error,
                      "write one object in each line, such as {\"id\": \"a\", \"score\": 1}",
                      "is not a JSON object");
}

/* Reads the key of a row. It is not true or false, although a column may have them as 1 and 0. */
static recmap_status read_key(struct json_row *object, struct json_reader *reader,
                              recmap_error *error) {
    struct table *table = object->table;
    char first = json_peek(reader);
    bool is_valid = first != 't' && first != 'f';
    if (is_valid)
        RETURN_IF_FAILED(
            read_value(&is_valid, &object->row->key, reader, &table->key_scratch, error));
    if (is_valid) return RECMAP_OK;
    if (table->key == RECMAP_KEY_NUMBER)
        return table_fail(table, object->row->line, error,
                          "records are numbered from 0; a field of ids is named \"id\"",
                          "\"number\" is not an integer");
    return table_fail(table, object->row->line, error, "ids are strings or integers of 64 bits",
                      "\"%s\" is neither a string nor an integer", table->key_name);
}

static recmap_status read_column_value(struct json_row *object, struct json_reader *reader,
                                       recmap_error *error) {
    struct table *table = object->table;
    bool is_valid;
    RETURN_IF_FAILED(
        read_value(&is_valid, &object->row->value, reader, &table->value_scratch, error));
    if (is_valid) return RECMAP_OK;
    return table_fail(table, object->row->line, error, "give it one value, or leave the member out",
                      "\"%s\" is not a string, a number, true, false or null", table->name);
}

/* A member that is not needed is checked, too: after one that is not JSON, the rest of the line may
 * not mean what it seems to. */
static recmap_status skip_value(struct json_row *object, struct json_reader *reader,
                                recmap_error *error) {
    _Static_assert(JSON_DEPTH_MAX == 1024, "the advice names it");
    if (json_check_value(reader)) return RECMAP_OK;
    return table_fail(object->table, object->row->line, error,
                      "correct the line; values are nested at most 1024 levels deep",
                      "is not valid JSON at byte %td of the line", reader->at - object->start);
}

/* Reads one member, which may be both the key and the value. Members that are not needed are
 * skipped. */
static recmap_status read_member(struct json_row *object, struct json_reader *reader,
                                 recmap_error *error) {
    struct table *table = object->table;
    uint64_t line = object->row->line;
    const char *key_name = table->key_name;
    struct json_string name;
    RETURN_IF_FAILED(interrupt_check(object->table->text.interrupt, MEMBER_WORK, error));
    if (!json_read_string(&name, reader) || !json_take(reader, ':'))
        return fail_object(table, line, error);
    bool is_key = json_string_is(&name, key_name), is_value = json_string_is(&name, table->name);
    if ((is_key && object->has_key) || (is_value && object->has_value))
        return table_fail(table, line, error, "rename or remove one of them",
                          "the object has two members \"%s\"", is_key ? key_name : table->name);
    object->has_key |= is_key;
    object->has_value |= is_value;
    if (!is_key && !is_value) return skip_value(object, reader, error);
    const char *start = reader->at;
    if (is_key) RETURN_IF_FAILED(read_key(object, reader, error));
    if (!is_value) return RECMAP_OK;
    reader->at = start;
    return read_column_value(object, reader, error);
}

static recmap_status read_object(struct json_row *object, struct json_reader *reader,
                                 recmap_error *error) {
    if (!json_take(reader, '{')) return fail_object(object->table, object->row->line, error);
    bool is_empty = json_take(reader, '}');
    if (!is_empty) {
        do RETURN_IF_FAILED(read_member(object, reader, error));
        while (json_take(reader, ','));
        if (!json_take(reader, '}')) return fail_object(object->table, object->row->line, error);
    }
    if (json_at_end(reader)) return RECMAP_OK;
    return table_fail(object->table, object->row->line, error,
                      "write each object in a line of its own",
                      "the object is followed by other characters");
}

/* The end of the line that begins here. It may be as long as the file, so the interrupt is
 * asked between pieces of it. */
static recmap_status find_line_end(const char **end, const struct field_reader *text,
                                   recmap_error *error) {
    const char *start = text->at;
    for (*end = NULL; !*end && start < text->end;) {
        size_t left = (size_t)(text->end - start);
        size_t piece = left < INTERRUPT_COPY_SIZE ? left : INTERRUPT_COPY_SIZE;
        *end = memchr(start, '\n', piece);
        start += piece;
        RETURN_IF_FAILED(interrupt_check(text->interrupt, piece, error));
    }
    if (!*end) *end = text->end;
    return RECMAP_OK;
}

recmap_status json_table_next(struct table_row *row, bool *is_row, struct table *table,
                              recmap_error *error) {
    struct field_reader *text = &table->text;
    *is_row = false;
    *row = (struct table_row){0};
    while (text->at < text->end) {
        const char *start = text->at, *end;
        RETURN_IF_FAILED(find_line_end(&end, text, error));
        struct json_reader reader = {start, end};
        row->line = text->line++;
        text->at = end < text->end ? end + 1 : end;
        if (json_at_end(&reader)) continue; /* a blank line */
        struct json_row object = {table, row, start, false, false};
        *is_row = true;
        return read_object(&object, &reader, error);
    }
    return RECMAP_OK;
}

/* The name of the next member of the first object, whose value is skipped. The reader starts before
 * the object. */
static bool next_member(struct json_string *member, struct json_reader *reader) {
    if (!json_take(reader, '{') && !json_take(reader, ',')) return false;
    return json_read_string(member, reader) && json_take(reader, ':') && json_check_value(reader);
}

void json_table_offer_members(struct near_name *near, const struct field_reader *text,
                              const char *name) {
    struct json_string member;
    struct json_reader reader = {text->at, text->end};
    while (next_member(&member, &reader))
        if (!json_string_is(&member, name))
            near_name_offer(near, name, strlen(name), member.data, member.size);
}

bool json_table_has_member(const struct field_reader *text, const char *name) {
    struct json_string member;
    struct json_reader reader = {text->at, text->end};
    while (next_member(&member, &reader))
        if (json_string_is(&member, name)) return true;
    return false;
}
