/* Values of fields in protobuf's JSON mapping. */
#ifndef RECMAP_PARSE_MESSAGE_JSON_FIELD_H
#define RECMAP_PARSE_MESSAGE_JSON_FIELD_H

#include "base/text/json.h"
#include "parse/example/wire.h"
#include "parse/message/message_def.h"

/* One value of a field, as it was found in a message. */
struct json_value {
    const struct field_def *field;
    size_t place;         /* among the values of its message */
    uint64_t bits;        /* of numbers */
    struct wire contents; /* of strings, bytes and messages */
};

/* Writes the name of a field as a key. */
void json_put_name(struct json_writer *json, const struct field_def *field);

/* Writes a value that is not a message. Returns false for a string that is not UTF-8. */
bool json_put_value(struct json_writer *json, const struct json_value *value);

/* Writes the value of a map's key, which JSON has as a text, as a key. */
bool json_put_key(struct json_writer *json, const struct json_value *value);

/* Returns true if the value is the default of a field that does not know whether it is set, which
 * JSON leaves out. */
bool json_is_default(const struct json_value *value);

/* The default of a field, as a value. */
struct json_value json_default_of(const struct field_def *field);

#endif
