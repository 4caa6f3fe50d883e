/* Paths of fields in messages: "tracks.states.center_x", or "2.3.2". */
#ifndef RECMAP_PARSE_MESSAGE_MESSAGE_PATH_H
#define RECMAP_PARSE_MESSAGE_MESSAGE_PATH_H

#include "parse/message/message_def.h"

/* As many as protobuf reads messages deep. */
enum { PATH_STEPS_MAX = 100 };

/* One part of a path. */
struct path_step {
    const struct field_def *field; /* NULL if the type is not known */
    uint32_t number;
};

struct message_path {
    struct path_step steps[PATH_STEPS_MAX];
    size_t count;
    size_t levels; /* repeated fields */
};

/* Finds the fields of a path. `size` bytes of `text` are used. Errors: INVALID if there is no such
 * field, with the nearest name as advice; if a part before the last is not a message; if the type
 * is not known and a part is not a number. */
recmap_status message_path_find(struct message_path *path, const recmap_message_type *type,
                                const char *text, size_t size, recmap_error *error);

/* Returns the field that the path leads to, or NULL if the type is not known. */
static inline const struct field_def *message_path_field(const struct message_path *path) {
    return path->steps[path->count - 1].field;
}

/* Returns the name of a field's type as in a .proto file. */
const char *field_type_name(const struct field_def *field);

/* Returns the element type that holds all values of a field; NONE for messages. */
recmap_element field_element(const struct field_def *field);

#endif
