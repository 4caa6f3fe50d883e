/* Defaults of fields: those that a .proto file gives as text, or else 0, the first value of an
 * enum, or no bytes. */
#ifndef RECMAP_PARSE_MESSAGE_FIELD_DEFAULT_H
#define RECMAP_PARSE_MESSAGE_FIELD_DEFAULT_H

#include "parse/message/message_def.h"

/* Sets the default of a field whose type is known. `text` is FieldDescriptorProto.default_value, or
 * NULL. Errors: INVALID, naming the field; NO_MEMORY. */
recmap_status field_default_set(struct field_def *field, const char *text, const char *owner,
                                recmap_error *error);
void field_default_unset(struct field_def *field);

#endif
