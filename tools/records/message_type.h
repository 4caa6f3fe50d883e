/* The type of records that are protobuf messages, as --descriptor and --message name it. */
#ifndef RECMAP_TOOLS_RECORDS_MESSAGE_TYPE_H
#define RECMAP_TOOLS_RECORDS_MESSAGE_TYPE_H

#include <recmap/index.h>
#include <recmap/message.h>

#include "terminal/args.h"

/* Reads the descriptor set and finds the type: that of --message, or the one before the colon of
 * `field`, which is TYPE:PATH, or NULL. Returns 0, or the exit status after printing the error. */
int message_type_open(recmap_message_type **type, const struct args *args, const char *field);

/* Returns the path of TYPE:PATH, or all of a text without a colon. */
const char *message_path(const char *field);

/* Makes what reads an id (NULL: none) and columns, each TYPE:PATH or PATH. Returns 0, or the exit
 * status after printing the error. */
int message_lift_open(recmap_message_lift **lift, recmap_message_type *type, const char *id,
                      const recmap_lift *columns, size_t column_count);

#endif
