#include "dataset/annotate/table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/plural.h"
#include "base/text/json.h"
#include "dataset/annotate/json_table.h"
#include "dataset/annotate/table_error.h"

bool table_has_extension(const char *path, const char *extension) {
    size_t size = strlen(path), extension_size = strlen(extension);
    return size > extension_size && !strcasecmp(path + size - extension_size, extension);
}

/* Reads a field of CSV or TSV. `scratch`, for a text with quotes, may be NULL if the text of the
 * field does not matter. Empty quotes are an empty text. Other quotes say nothing about the type:
 * some programs also quote numbers. */
static recmap_status read_field(struct field *field, bool *is_last, struct table *table,
                                struct table_scratch *scratch, recmap_error *error) {
    struct field_text text;
    recmap_status status = field_reader_next(&text, &table->text, error);
    if (status == RECMAP_INVALID) fail_file(error, table->path);
    if (status != RECMAP_OK) return status;
    enum field_kind empty = text.is_quoted ? FIELD_TEXT : FIELD_MISSING;
    *field = (struct field){text.size ? FIELD_WORD : empty, (const uint8_t *)text.data, text.size};
    *is_last = text.is_last;
    if (!text.has_quotes || !scratch) return RECMAP_OK;
    if (!array_reserve(&scratch->data, &scratch->capacity, text.size, 1)) return fail_memory(error);
    field->data = (const uint8_t *)scratch->data;
    field->size = field_text_unquote(scratch->data, &text);
    return RECMAP_OK;
}

static recmap_status check_text(const struct table *table, uint64_t line, const struct field *field,
                                recmap_error *error) {
    if (utf8_valid(field->data, field->size)) return RECMAP_OK;
    return table_fail(table, line, error, "convert the file to UTF-8", "a field is not UTF-8");
}

/* Reads one line. The fields of the key and the value are kept, each with a scratch of its own for
 * what quotes escape; all others are only counted, to find lines that lack a field. */
static recmap_status next_separated(struct table_row *row, bool *is_row, struct table *table,
                                    recmap_error *error) {
    *is_row = field_reader_has_row(&table->text);
    if (!*is_row) return RECMAP_OK;
    *row = (struct table_row){.line = table->text.line};
    bool is_last = false;
    size_t count = 0;
    for (; !is_last; count++) {
        struct field field;
        bool is_key = count == table->key_index, is_value = count == table->value_index;
        RETURN_IF_FAILED(read_field(&field, &is_last, table,
                                    is_key     ? &table->key_scratch
                                    : is_value ? &table->value_scratch
                                               : NULL,
                                    error));
        if (is_key) row->key = field;
        if (is_value) row->value = field;
    }
    if (count != table->field_count)
        return table_fail(table, row->line, error,
                          "give each line as many fields as the header has, and put fields that "
                          "contain the separator in quotes",
                          "has %zu field%s, but the header has %zu", count, plural(count),
                          table->field_count);
    RETURN_IF_FAILED(check_text(table, row->line, &row->key, error));
    return check_text(table, row->line, &row->value, error);
}

/* The places of the wanted fields in the header; SIZE_MAX if a field is absent. */
struct header {
    size_t value, id, id_feature, number;
};

static bool is_name(const struct field *field, const char *name) {
    return field->size == strlen(name) && !memcmp(field->data, name, field->size);
}

/* Finds the fields that matter: the one named like the column, "id", the one named like the id
 * feature, and "number". Each may occur once, and other fields are ignored. */
static recmap_status read_header(struct header *header, struct table *table, recmap_error *error) {
    bool is_last = table->text.at == table->text.end;
    *header = (struct header){SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
    for (table->field_count = 0; !is_last; table->field_count++) {
        struct field field;
        RETURN_IF_FAILED(read_field(&field, &is_last, table, &table->value_scratch, error));
        struct {
            size_t *place;
            const char *name;
        } wanted[] = {{&header->value, table->name},
                      {&header->id, "id"},
                      {&header->id_feature, table->id_name},
                      {&header->number, "number"}};
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            if (!wanted[i].name || !is_name(&field, wanted[i].name)) continue;
            if (*wanted[i].place != SIZE_MAX)
                return table_fail(table, 1, error, "rename or remove one of them",
                                  "the header has two fields \"%s\"", wanted[i].name);
            *wanted[i].place = table->field_count;
        }
    }
    return RECMAP_OK;
}

static struct field_reader start_of(const struct table *table) {
    struct field_reader text;
    const char *data = table->map->data ? (const char *)table->map->data : "";
    char separator = table_has_extension(table->path, ".tsv") ? '\t' : ',';
    field_reader_init(&text, data, table->map->size, separator, thread_interrupt());
    return text;
}

static void offer_header(struct near_name *near, struct field_reader *text, const char *name) {
    struct field_text field = {.is_last = false};
    while (!field.is_last && field_reader_next(&field, text, NULL) == RECMAP_OK)
        near_name_offer(near, name, strlen(name), field.data, field.size);
}

struct near_name table_near_name(const struct table *table, const char *name) {
    struct near_name near = NEAR_NAME_INIT;
    struct field_reader text = start_of(table);
    if (table->is_json) json_table_offer_members(&near, &text, name);
    else offer_header(&near, &text, name);
    return near;
}

/* The size of the first line, or of the part of it that is shown, which ends between characters. */
static size_t header_size(const char *line, size_t size, size_t limit) {
    size_t shown = 0;
    while (shown < size && shown < limit && line[shown] != '\n' && line[shown] != '\r') shown++;
    if (shown == limit && shown < size)
        while (shown && (line[shown] & 0xc0) == 0x80) shown--;
    return shown;
}

/* The caller, who may have misspelt it, gave the name of the column's field, but not the name of
 * the key's field. */
static recmap_status fail_field(const struct table *table, const char *name, recmap_error *error) {
    enum { SHOWN_MAX = 100 };
    const char *first = table->map->data ? (const char *)table->map->data : "";
    size_t size = header_size(first, table->map->size, SHOWN_MAX);
    struct near_name near = table_near_name(table, name);
    table_fail(table, 1, error,
               "the first line names the fields, separated by commas in .csv and by tabs in .tsv: "
               "one is the column's name, and one is \"id\" or \"number\"",
               "the header has no field \"%s\": it is `%.*s`", name, (int)size, first);
    if (near.name && name == table->name)
        fail_advise(error, "did you mean \"%.*s\"?", (int)near.size, near.name);
    else if (near.name)
        fail_advise(error, "rename the field \"%.*s\" to \"%s\"", (int)near.size, near.name, name);
    return RECMAP_INVALID;
}

/* Chooses the field of ids: "id", or the one named like the id feature. With both, they may
 * contradict each other, unless one of them is the column to read. */
static recmap_status choose_id(struct table *table, bool has_id, bool has_id_feature,
                               recmap_error *error) {
    bool has_both = has_id && has_id_feature;
    bool is_value = has_both && !strcmp(table->name, table->id_name);
    if (has_both && !is_value && strcmp(table->name, "id"))
        return table_fail(table, 1, error, "rename or remove one of them",
                          "\"id\" and \"%s\" are both fields of ids", table->id_name);
    table->key_name = has_id_feature && !is_value ? table->id_name : "id";
    return RECMAP_OK;
}

/* Chooses the field of keys. */
static recmap_status choose_key(struct table *table, bool has_id, bool has_id_feature,
                                recmap_error *error) {
    if (table->key == RECMAP_KEY_ID) return choose_id(table, has_id, has_id_feature, error);
    table->key_name = "number";
    return RECMAP_OK;
}

static recmap_status find_fields(struct table *table, recmap_error *error) {
    struct header header;
    RETURN_IF_FAILED(read_header(&header, table, error));
    bool has_id = header.id != SIZE_MAX, has_id_feature = header.id_feature != SIZE_MAX;
    if (table->key == RECMAP_KEY_AUTO)
        table->key = !has_id && !has_id_feature && header.number != SIZE_MAX ? RECMAP_KEY_NUMBER
                                                                             : RECMAP_KEY_ID;
    RETURN_IF_FAILED(choose_key(table, has_id, has_id_feature, error));
    table->value_index = header.value;
    table->key_index = table->key == RECMAP_KEY_NUMBER     ? header.number
                       : table->key_name == table->id_name ? header.id_feature
                                                           : header.id;
    if (table->value_index == SIZE_MAX) return fail_field(table, table->name, error);
    if (table->key_index == SIZE_MAX) return fail_field(table, table->key_name, error);
    return RECMAP_OK;
}

/* A JSON lines file has no header: the first object tells whether there are ids. */
static recmap_status find_json_key(struct table *table, recmap_error *error) {
    bool has_id = json_table_has_member(&table->text, "id");
    bool has_id_feature = table->id_name && json_table_has_member(&table->text, table->id_name);
    if (table->key == RECMAP_KEY_AUTO)
        table->key = has_id || has_id_feature ? RECMAP_KEY_ID : RECMAP_KEY_NUMBER;
    return choose_key(table, has_id, has_id_feature, error);
}

recmap_status table_rewind(struct table *table, recmap_error *error) {
    table->text = start_of(table);
    return table->is_json ? find_json_key(table, error) : find_fields(table, error);
}

recmap_status table_open(struct table *table, const char *path, const char *name, recmap_key key,
                         const char *id_name, recmap_error *error) {
    bool is_json = !table_has_extension(path, ".csv") && !table_has_extension(path, ".tsv");
    if (id_name && !strcmp(id_name, "id")) id_name = NULL;
    *table = (struct table){
        .path = path, .name = name, .id_name = id_name, .key = key, .is_json = is_json};
    RETURN_IF_FAILED(map_open(&table->map, path, error));
    return table_rewind(table, error);
}

void table_close(struct table *table) {
    map_destroy(table->map);
    free(table->key_scratch.data);
    free(table->value_scratch.data);
    *table = (struct table){0};
}

recmap_status table_next(struct table_row *row, bool *is_row, struct table *table,
                         recmap_error *error) {
    recmap_status status = table->is_json ? json_table_next(row, is_row, table, error)
                                          : next_separated(row, is_row, table, error);
    if (!table->map->was_cut) return status;
    fail(error, RECMAP_CORRUPT, "the file was cut short while it was read");
    fail_file(error, table->path);
    return RECMAP_CORRUPT;
}
