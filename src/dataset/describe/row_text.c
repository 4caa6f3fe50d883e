#include "dataset/describe/row_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/plain_number.h"
#include "base/words/character.h"

bool row_text_init(struct row_text *row, const struct framing *framing, const char *data,
                   size_t size) {
    *row = (struct row_text){.unquoted = malloc(size + 1)};
    field_reader_init(&row->reader, data, size, framing->separator, NULL);
    if (!framing->has_quotes) row->reader.quote = framing->separator;
    return row->unquoted != NULL;
}

void row_text_deinit(struct row_text *row) {
    free(row->unquoted);
    row->unquoted = NULL;
}

bool row_text_next(struct row_text *row) {
    if (row->field.is_last || field_reader_next(&row->field, &row->reader, NULL) != RECMAP_OK)
        return false;
    row->size = row->field.size;
    if (row->field.has_quotes) row->size = field_text_unquote(row->unquoted, &row->field);
    else memcpy(row->unquoted, row->field.data, row->size);
    row->unquoted[row->size] = 0;
    return true;
}

bool row_text_at_end(const struct row_text *row) {
    return row->field.is_last && row->reader.at == row->reader.end;
}

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Leading zeros are those of codes, such as 007, which are texts. */
static bool has_leading_zero(const char *text, size_t size) {
    size_t sign = size && (*text == '-' || *text == '+');
    return size > sign + 1 && text[sign] == '0' && is_digit(text[sign + 1]);
}

static bool is_integer(const char *text, size_t size) {
    for (size_t i = *text == '-' || *text == '+'; i < size; i++)
        if (!is_digit(text[i])) return false;
    return true;
}

struct text_value row_text_value(const struct row_text *row) {
    const char *text = row->unquoted;
    size_t size = row->size;
    struct text_value value = {.kind = TEXT_BYTES, .size = size};
    while (size && is_space(*text)) text++, size--;
    while (size && is_space(text[size - 1])) size--;
    if (!size || (has_leading_zero(text, size) && is_integer(text, size))) return value;
    if (plain_int64(&value.integer, text, size)) value.kind = TEXT_INT64;
    else if (plain_double(&value.number, text, size)) value.kind = TEXT_FLOAT;
    return value;
}

bool row_text_is_sound(struct row_text row, struct row_text names, bool has_names) {
    do {
        if (!row_text_next(&row) || (has_names && !row_text_next(&names))) return false;
    } while (!row.field.is_last);
    return row_text_at_end(&row) && (!has_names || names.field.is_last);
}

size_t row_position_name(char *name, size_t place) {
    return (size_t)snprintf(name, ROW_POSITION_SIZE, "#%zu", place);
}
