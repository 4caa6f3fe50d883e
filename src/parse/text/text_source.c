#include "parse/text/text_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/text/fields.h"
#include "base/words/character.h"
#include "base/words/near_name.h"
#include "format/framing/framing.h"

static recmap_status copy_keys(struct text_source *source, const char *const *keys, size_t count,
                               recmap_error *error) {
    source->keys = calloc(count + 1, sizeof *source->keys);
    source->places = calloc(count + 1, sizeof *source->places);
    source->order = calloc(count + 1, sizeof *source->order);
    if (!source->keys || !source->places || !source->order) return fail_memory(error);
    for (; source->key_count < count; source->key_count++) {
        char *copy = strdup(keys[source->key_count]);
        if (!copy) return fail_memory(error);
        source->keys[source->key_count] = copy;
        source->places[source->key_count] = SIZE_MAX;
    }
    return RECMAP_OK;
}

struct text_format text_format_of(const struct framing *framing, const char *header,
                                  size_t header_size) {
    return (struct text_format){.separator = framing->separator,
                                .has_quotes = framing->has_quotes,
                                .header = header,
                                .header_size = header_size};
}

struct field_reader text_format_reader(const struct text_format *format, const char *text,
                                       size_t size) {
    struct field_reader reader;
    field_reader_init(&reader, text, size, format->separator, NULL);
    if (!format->has_quotes) reader.quote = format->separator;
    return reader;
}

static bool is_name(const struct field_text *field, char *scratch, const char *name) {
    size_t size = strlen(name);
    if (!field->has_quotes) return field->size == size && !memcmp(field->data, name, size);
    return field_text_unquote(scratch, field) == size && !memcmp(scratch, name, size);
}

static recmap_status fail_twice(const char *name, size_t offset, recmap_error *error) {
    fail(error, RECMAP_FEATURE, "the header has two fields \"%.200s\"", name);
    fail_at(error, NULL, RECMAP_NO_RECORD, offset);
    fail_advise(error, "name the field by its position: key=0 is the first field");
    return RECMAP_FEATURE;
}

/* Notes the place of each key that is the name of the field, which is at `offset`. */
static recmap_status match_keys(struct text_source *source, const struct field_text *field,
                                size_t offset, char *scratch, size_t place, recmap_error *error) {
    for (size_t i = 0; i < source->key_count; i++) {
        if (!is_name(field, scratch, source->keys[i])) continue;
        if (source->places[i] != SIZE_MAX) return fail_twice(source->keys[i], offset, error);
        source->places[i] = place;
    }
    return RECMAP_OK;
}

static recmap_status fail_header(const struct field_reader *reader, const char *header,
                                 recmap_error *error) {
    fail(error, RECMAP_INVALID, "the header line is not a row of CSV: %s", reader->fault);
    fail_at(error, NULL, RECMAP_NO_RECORD, (uint64_t)(reader->fault_at - header));
    fail_advise(error, "correct the header line; if the file has none, add `,noheader` to the "
                       "framing");
    return RECMAP_INVALID;
}

static recmap_status read_header(struct text_source *source, const struct text_format *format,
                                 recmap_error *error) {
    if (!format->header) return RECMAP_OK;
    struct field_reader reader = text_format_reader(format, format->header, format->header_size);
    struct field_text field = {.is_last = false};
    char *scratch = malloc(format->header_size + 1);
    recmap_status status = scratch ? RECMAP_OK : fail_memory(error);
    while (status == RECMAP_OK && !field.is_last) {
        if (field_reader_next(&field, &reader, NULL) != RECMAP_OK)
            status = fail_header(&reader, format->header, error);
        else
            status = match_keys(source, &field, (size_t)(field.data - format->header), scratch,
                                source->field_count++, error);
    }
    free(scratch);
    return status;
}

/* Reads `#3`. */
static bool read_position(size_t *place, const char *key) {
    enum { PLACE_MAX = 1 << 30 };
    if (*key++ != '#' || !*key) return false;
    for (*place = 0; is_digit(*key); key++) {
        if (*place > PLACE_MAX) return false;
        *place = *place * 10 + (size_t)(*key - '0');
    }
    return !*key;
}

static recmap_status fail_name(const char *key, const struct text_format *format,
                               recmap_error *error) {
    if (!format->header) {
        fail(error, RECMAP_FEATURE,
             "there is no field \"%.200s\": the fields have no names, because the files have no "
             "header line",
             key);
        fail_advise(error, "name the field by its position: key=0 is the first field");
        return RECMAP_FEATURE;
    }
    struct near_name near = NEAR_NAME_INIT;
    struct field_reader reader = text_format_reader(format, format->header, format->header_size);
    struct field_text field = {.is_last = false};
    while (!field.is_last && field_reader_next(&field, &reader, NULL) == RECMAP_OK)
        near_name_offer(&near, key, strlen(key), field.data, field.size);
    fail(error, RECMAP_FEATURE, "the header has no field \"%.200s\"", key);
    enum { SHOWN_MAX = 200 };
    int size = (int)(format->header_size < SHOWN_MAX ? format->header_size : SHOWN_MAX);
    if (near.name) fail_advise(error, "did you mean \"%.*s\"?", (int)near.size, near.name);
    else fail_advise(error, "the header is `%.*s`", size, format->header);
    return RECMAP_FEATURE;
}

static recmap_status find_places(struct text_source *source, const struct text_format *format,
                                 recmap_error *error) {
    for (size_t i = 0; i < source->key_count; i++) {
        size_t place;
        if (source->places[i] != SIZE_MAX) continue;
        if (!read_position(&place, source->keys[i]))
            return fail_name(source->keys[i], format, error);
        if (source->field_count && place >= source->field_count)
            return fail(error, RECMAP_FEATURE,
                        "there is no field %zu: the header has %zu, and the first one is field 0",
                        place, source->field_count);
        source->places[i] = place;
    }
    return RECMAP_OK;
}

/* Sorts by insertion: keys are few, and usually in order. */
static void sort_places(struct text_source *source) {
    for (size_t i = 0; i < source->key_count; i++) {
        size_t at = i;
        for (; at && source->order[at - 1].place > source->places[i]; at--)
            source->order[at] = source->order[at - 1];
        source->order[at] = (struct field_key){source->places[i], i};
    }
    source->order[source->key_count] = (struct field_key){SIZE_MAX, SIZE_MAX};
}

static bool has_paths(const struct text_source *source) {
    for (size_t i = 0; i < source->key_count; i++) {
        if (strchr(source->keys[i], '.')) return true;
        for (size_t j = 0; j < i; j++)
            if (!strcmp(source->keys[i], source->keys[j])) return true;
    }
    return false;
}

static recmap_status compile(struct text_source *source, const struct text_format *format,
                             const char *const *keys, size_t key_count, recmap_error *error) {
    RETURN_IF_FAILED(copy_keys(source, keys, key_count, error));
    source->has_paths = has_paths(source);
    if (!format->separator) return RECMAP_OK;
    RETURN_IF_FAILED(read_header(source, format, error));
    RETURN_IF_FAILED(find_places(source, format, error));
    sort_places(source);
    return RECMAP_OK;
}

recmap_status text_source_init(struct text_source *source, const struct text_format *format,
                               const char *const *keys, size_t key_count, recmap_error *error) {
    *source = (struct text_source){.format = *format};
    source->format.header = source->format.header_file = NULL;
    recmap_status status = compile(source, format, keys, key_count, error);
    if (status != RECMAP_OK && status != RECMAP_NO_MEMORY && format->header_file)
        fail_file(error, format->header_file);
    return status;
}

void text_source_deinit(struct text_source *source) {
    for (size_t i = 0; i < source->key_count; i++) free(source->keys[i]);
    free(source->keys);
    free(source->places);
    free(source->order);
    *source = (struct text_source){.keys = NULL};
}

bool text_source_find(struct text_piece *pieces, const struct text_source *source,
                      const uint8_t *data, size_t size, struct read_fault *fault) {
    if (source->format.separator) return row_find(pieces, source, (const char *)data, size, fault);
    for (size_t i = 0; i < source->key_count; i++) pieces[i] = (struct text_piece){.data = NULL};
    return json_find(pieces, source, (const char *)data, size, fault);
}
