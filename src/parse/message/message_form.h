/* How numbers are encoded in messages. */
#ifndef RECMAP_PARSE_MESSAGE_MESSAGE_FORM_H
#define RECMAP_PARSE_MESSAGE_MESSAGE_FORM_H

#include "parse/message/message_def.h"

enum message_form {
    FORM_INT64, /* a varint; so are the forms up to FORM_BOOL */
    FORM_INT32,
    FORM_UINT64,
    FORM_UINT32,
    FORM_SINT64,
    FORM_SINT32,
    FORM_BOOL,
    FORM_FIXED64,
    FORM_SFIXED64,
    FORM_DOUBLE,
    FORM_FIXED32,
    FORM_SFIXED32,
    FORM_FLOAT,
    FORM_BYTES,
};

/* Returns the form of a field's values. */
enum message_form message_form_of(const struct field_def *field);

/* Returns the integer that the bits of an encoded value mean: what protobuf keeps of a varint, or
 * the bits of a fixed number. */
static inline uint64_t message_integer(enum message_form form, uint64_t bits) {
    switch (form) {
    case FORM_INT32:
    case FORM_SFIXED32: return (uint64_t)(int64_t)(int32_t)(uint32_t)bits;
    case FORM_UINT32:
    case FORM_FIXED32: return (uint32_t)bits;
    case FORM_SINT64: return bits >> 1 ^ (0 - (bits & 1));
    case FORM_SINT32: {
        uint32_t low = (uint32_t)bits;
        return (uint64_t)(int64_t)(int32_t)(low >> 1 ^ (0 - (low & 1)));
    }
    case FORM_BOOL: return bits != 0;
    default: return bits;
    }
}

#endif
