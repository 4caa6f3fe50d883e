/* A field of a text file, and the value that it stands for. Pure. */
#ifndef RECMAP_ANNOTATE_FIELD_H
#define RECMAP_ANNOTATE_FIELD_H

#include <stdbool.h>

#include <recmap/record.h>

enum field_kind {
    FIELD_MISSING,
    FIELD_WORD,   /* of CSV: a number if it reads like one, else a text */
    FIELD_TEXT,   /* a text, even if it reads like a number */
    FIELD_NUMBER, /* of JSON */
};

struct field {
    enum field_kind kind;
    const uint8_t *data;
    size_t size;
};

/* The first type of int64, float and bytes that the field fits; NONE if it is missing. False if it
 * is an integer beyond int64, or a number beyond float. */
bool field_type(recmap_type *type, const struct field *field);

/* The field as a value of the type, which borrows its bytes; NONE if it is missing. False if it is
 * not such a value. */
bool field_value(recmap_value *value, const struct field *field, recmap_type type);

/* A number that a column of floats does not hold closely, and what the column holds. */
struct field_rounding {
    char number[64]; /* without plus sign, leading zeros, and a fraction of zeros */
    float rounded;
};

/* Returns true if a field of type int64 or float is such a number. Sets `rounding` only if so. */
bool field_is_rounded(struct field_rounding *rounding, const struct field *field);

/* Returns true if the field is an unsigned integer beyond int64, and sets `bits` to the int64 with
 * the same 64 bits. */
bool field_to_bits(int64_t *bits, const struct field *field);

/* Whether the field is an integer as computers write it: without `+` and leading zeros. */
bool field_is_plain_integer(const struct field *field);

#endif
