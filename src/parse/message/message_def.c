#include "parse/message/message_def.h"

#include <string.h>

#include "parse/example/wire.h"

unsigned field_wire_type(const struct field_def *field) {
    switch (field->type) {
    case FIELD_DOUBLE:
    case FIELD_FIXED64:
    case FIELD_SFIXED64: return WIRE_FIXED64;
    case FIELD_FLOAT:
    case FIELD_FIXED32:
    case FIELD_SFIXED32: return WIRE_FIXED32;
    case FIELD_STRING:
    case FIELD_BYTES:
    case FIELD_MESSAGE: return WIRE_BYTES;
    case FIELD_GROUP: return WIRE_GROUP;
    default: return WIRE_VARINT;
    }
}

const struct field_def *message_def_find(const struct message_def *message, uint32_t number) {
    size_t low = 0, high = message->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (message->fields[middle].number < number) low = middle + 1;
        else high = middle;
    }
    bool is_found = low < message->count && message->fields[low].number == number;
    return is_found ? &message->fields[low] : NULL;
}

const struct field_def *message_def_find_name(const struct message_def *message, const char *name,
                                              size_t size) {
    for (size_t i = 0; i < message->count; i++) {
        const struct field_def *field = &message->fields[i];
        if (strlen(field->name) == size && !memcmp(field->name, name, size)) return field;
    }
    return NULL;
}

bool enum_def_has(const struct enum_def *enumeration, int32_t number) {
    size_t low = 0, high = enumeration->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (enumeration->numbers[middle] < number) low = middle + 1;
        else high = middle;
    }
    return low < enumeration->count && enumeration->numbers[low] == number;
}
