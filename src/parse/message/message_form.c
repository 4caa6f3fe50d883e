#include "parse/message/message_form.h"

enum message_form message_form_of(const struct field_def *field) {
    switch (field->type) {
    case FIELD_DOUBLE: return FORM_DOUBLE;
    case FIELD_FLOAT: return FORM_FLOAT;
    case FIELD_INT64: return FORM_INT64;
    case FIELD_UINT64: return FORM_UINT64;
    case FIELD_INT32:
    case FIELD_ENUM: return FORM_INT32;
    case FIELD_FIXED64: return FORM_FIXED64;
    case FIELD_FIXED32: return FORM_FIXED32;
    case FIELD_BOOL: return FORM_BOOL;
    case FIELD_UINT32: return FORM_UINT32;
    case FIELD_SFIXED32: return FORM_SFIXED32;
    case FIELD_SFIXED64: return FORM_SFIXED64;
    case FIELD_SINT32: return FORM_SINT32;
    case FIELD_SINT64: return FORM_SINT64;
    default: return FORM_BYTES;
    }
}
