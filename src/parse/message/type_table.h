/* Makes message and enum definitions of a descriptor set. */
#ifndef RECMAP_PARSE_MESSAGE_TYPE_TABLE_H
#define RECMAP_PARSE_MESSAGE_TYPE_TABLE_H

#include "parse/message/message_def.h"

/* The longest full name of a type. */
enum { TYPE_NAME_MAX = 1024 };

/* Fills in the messages and enums of the set: their names first, then the fields, whose types are
 * found by name. The definitions point into the set. Errors: INVALID, naming the field or type, if
 * a type is missing or there twice, or a field is impossible; NO_MEMORY. Call type_table_deinit
 * afterwards, even on failure. */
recmap_status type_table_init(recmap_message_type *type, recmap_error *error);
void type_table_deinit(recmap_message_type *type);

#endif
