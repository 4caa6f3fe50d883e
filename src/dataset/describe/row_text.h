/* The fields of a row of text, one after the other. */
#ifndef RECMAP_DATASET_DESCRIBE_ROW_TEXT_H
#define RECMAP_DATASET_DESCRIBE_ROW_TEXT_H

#include "base/text/fields.h"
#include "format/framing/framing.h"
#include "parse/example/text_stats.h"

struct row_text {
    struct field_reader reader;
    struct field_text field;
    char *unquoted; /* the field, with a NUL */
    size_t size;    /* of it */
};

/* Begins before the first field. Returns false without memory. Deinit in any case. */
bool row_text_init(struct row_text *row, const struct framing *framing, const char *data,
                   size_t size);
void row_text_deinit(struct row_text *row);

/* Reads the next field. Returns false if there is none, or if the row is malformed. */
bool row_text_next(struct row_text *row);

/* Returns true after the last field of the text. */
bool row_text_at_end(const struct row_text *row);

/* What the field reads like: an integer, a number or a text. Integers with leading zeros are codes,
 * which are texts. */
struct text_value row_text_value(const struct row_text *row);

/* Reads copies of a row and of its header to the end. Returns false if one is malformed, or if they
 * differ in their number of fields. */
bool row_text_is_sound(struct row_text row, struct row_text names, bool has_names);

/* The name of a field without one: #0, #1, ... Returns its size. */
enum { ROW_POSITION_SIZE = 24 };
size_t row_position_name(char *name, size_t place);

#endif
