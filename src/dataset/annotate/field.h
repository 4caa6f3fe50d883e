/* A field of a text file, and the value that it stands for. Pure. */
#ifndef RECMAP_DATASET_ANNOTATE_FIELD_H
#define RECMAP_DATASET_ANNOTATE_FIELD_H

#include <stdbool.h>

#include <recmap/record.h>

enum field_kind {
    FIELD_MISSING,
    FIELD_WORD,   /* of CSV: a number if it reads like one, or is true or false, else a text */
    FIELD_TEXT,   /* a text, even if it reads like a number */
    FIELD_NUMBER, /* of JSON */
};

struct field {
    enum field_kind kind;
    const uint8_t *data;
    size_t size;
};

/* The first type of int64, float and bytes that the field fits; NONE if it is missing. Says nothing
 * about how closely a float holds it. False if it is an integer beyond int64, or a number beyond
 * float64. */
bool field_type(recmap_type *type, const struct field *field);

/* The field as a value of the type, which borrows its bytes; NONE if it is missing. False if it is
 * not such a value. */
bool field_value(recmap_value *value, const struct field *field, recmap_type type);

/* Returns true if a float holds the field, of type int64 or float, as it is written:
 * rounding_is_none_json. */
bool field_fits_float(const struct field *field);

/* Returns true if the field is an integer that float64 does not hold exactly, and sets it. */
bool field_is_rounded(int64_t *integer, const struct field *field);

/* Returns true if the field is an unsigned integer beyond int64, and sets `bits` to the int64 with
 * the same 64 bits. */
bool field_to_bits(int64_t *bits, const struct field *field);

/* Returns true if the field is a word that programs write for a missing value: NA, null, None or
 * <NA>, in any case. It is missing in a column of numbers, and a text in one of texts. */
bool field_is_missing_word(const struct field *field);

/* Returns true if the field is a word, and a number that begins with 0 and another digit, such as
 * 01234: a zip code or a phone number. As a value it is a text, which keeps its zeros. */
bool field_has_leading_zero(const struct field *field);

/* Returns true if the field has the form of an integer, and is not true or false, which are values
 * only. */
bool field_is_integer(const struct field *field);

/* Returns true if the field is an integer as computers write it: without `+` and leading zeros. */
bool field_is_plain_integer(const struct field *field);

enum { FIELD_SHOWN_MAX = 60 };

/* The bytes of the field that messages show: whole characters of UTF-8, at most FIELD_SHOWN_MAX
 * bytes. */
int field_shown_size(const struct field *field);

#endif
