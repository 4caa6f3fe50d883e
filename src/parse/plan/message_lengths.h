/* Slots that count the elements of repeated fields, whose keys are paths that end in #. */
#ifndef RECMAP_PARSE_PLAN_MESSAGE_LENGTHS_H
#define RECMAP_PARSE_PLAN_MESSAGE_LENGTHS_H

#include "parse/message/message_path.h"
#include "parse/plan/plan.h"

enum { LENGTH_MARK = '#' };

/* Returns the key of the lengths of repeated field `level` (from 0 on) of the path `text`, in
 * `memory`, or NULL if memory runs out. */
const char *message_length_key(struct arena *memory, const char *text,
                               const struct message_path *path, size_t level);

#endif
