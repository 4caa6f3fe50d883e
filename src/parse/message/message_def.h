/* Message types as a descriptor set defines them. */
#ifndef RECMAP_PARSE_MESSAGE_MESSAGE_DEF_H
#define RECMAP_PARSE_MESSAGE_MESSAGE_DEF_H

#include <stdatomic.h>
#include <stdbool.h>

#include <recmap/message.h>

/* FieldDescriptorProto.Type. */
enum field_type {
    FIELD_DOUBLE = 1,
    FIELD_FLOAT = 2,
    FIELD_INT64 = 3,
    FIELD_UINT64 = 4,
    FIELD_INT32 = 5,
    FIELD_FIXED64 = 6,
    FIELD_FIXED32 = 7,
    FIELD_BOOL = 8,
    FIELD_STRING = 9,
    FIELD_GROUP = 10,
    FIELD_MESSAGE = 11,
    FIELD_BYTES = 12,
    FIELD_UINT32 = 13,
    FIELD_ENUM = 14,
    FIELD_SFIXED32 = 15,
    FIELD_SFIXED64 = 16,
    FIELD_SINT32 = 17,
    FIELD_SINT64 = 18,
};

/* What editions decide for a file, a message, a field or an enum. */
struct def_features {
    bool is_explicit;  /* fields know whether they are set */
    bool is_closed;    /* enums have only the numbers of their values */
    bool is_delimited; /* messages are groups */
};

struct enum_def {
    char *name;         /* full name */
    const void *source; /* Recmap__Descriptor__Enum */
    bool is_closed;     /* a number that is not listed is an unknown field */
    int32_t *numbers;   /* ascending */
    size_t count;
};

struct field_def {
    const char *name;
    const char *json_name; /* NULL: made from the name */
    uint32_t number;
    enum field_type type;
    bool is_repeated;
    bool has_presence;
    const struct message_def *message;
    const struct enum_def *enumeration;
    size_t oneof;          /* SIZE_MAX: of none */
    uint64_t default_bits; /* of a number, as it would be encoded */
    const uint8_t *default_bytes;
    size_t default_size;
};

struct message_def {
    char *name;         /* full name */
    const void *source; /* Recmap__Descriptor__Message */
    struct def_features features;
    bool is_map_entry;
    struct field_def *fields; /* by number */
    size_t count;
    size_t oneof_count;
};

struct recmap_message_type {
    atomic_uint users;
    const struct message_def *root; /* NULL: not known */
    void *set;                      /* Recmap__Descriptor__FileSet */
    struct message_def *messages;   /* by name */
    size_t message_count;
    struct enum_def *enums; /* by name */
    size_t enum_count;
    size_t name_room; /* bytes that full names may still take */
};

static inline bool field_is_message(const struct field_def *field) {
    return field->type == FIELD_MESSAGE || field->type == FIELD_GROUP;
}

/* Returns true if values of the field may be packed. */
static inline bool field_is_packable(const struct field_def *field) {
    return !field_is_message(field) && field->type != FIELD_STRING && field->type != FIELD_BYTES;
}

/* Returns the wire type of single values. */
unsigned field_wire_type(const struct field_def *field);

/* Returns the field with this number or name, or NULL. */
const struct field_def *message_def_find(const struct message_def *message, uint32_t number);
const struct field_def *message_def_find_name(const struct message_def *message, const char *name,
                                              size_t size);

/* Returns the name of an enum's value, or NULL if it has no value with this number. */
const char *enum_def_name(const struct enum_def *enumeration, int32_t number);

/* Returns true if the enum has this number. */
bool enum_def_has(const struct enum_def *enumeration, int32_t number);

#endif
