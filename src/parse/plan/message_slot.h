/* How the values of one slot are read from a field of a message. */
#ifndef RECMAP_PARSE_PLAN_MESSAGE_SLOT_H
#define RECMAP_PARSE_PLAN_MESSAGE_SLOT_H

#include "parse/message/message_path.h"
#include "parse/plan/message_plan.h"

/* Checks that the slot can hold the values of the path, and says where they go. `is_length`: the
 * slot counts the elements of the path's last field. Errors: INVALID, naming the path. */
recmap_status message_slot_init(struct message_slot *target, const struct slot *slot,
                                const struct message_path *path, bool is_length,
                                recmap_error *error);

/* Returns the target of a field that fits the slot. */
struct message_target message_target_of(const struct slot *slot, const struct field_def *field);

/* Sets the target of a field of this wire type whose type is not known. Returns false if the slot
 * cannot hold its values. */
bool message_target_guess(struct message_target *target, const struct slot *slot,
                          unsigned wire_type);

#endif
