#include "parse/message/message_path.h"

#include <string.h>

#include "base/core/error.h"
#include "base/words/near_name.h"

enum { NUMBER_MAX = (1 << 29) - 1, LISTED_MAX = 12 };

/* Reads a field number. Returns 0 if the text is not one. */
static uint32_t number_of(const char *text, size_t size) {
    uint32_t number = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || number > NUMBER_MAX / 10) return 0;
        number = number * 10 + (uint32_t)(text[i] - '0');
    }
    return number <= NUMBER_MAX ? number : 0;
}

static void advise_names(const struct message_def *message, const char *name, size_t size,
                         recmap_error *error) {
    struct near_name near = NEAR_NAME_INIT;
    char list[400] = "";
    size_t used = 0;
    for (size_t i = 0; i < message->count; i++) {
        const char *offered = message->fields[i].name;
        size_t length = strlen(offered);
        near_name_offer(&near, name, size, offered, length);
        if (i >= LISTED_MAX || used + length + 3 > sizeof list) continue;
        memcpy(list + used, used ? ", " : "", used ? 2 : 0);
        used += used ? 2 : 0;
        memcpy(list + used, offered, length + 1);
        used += length;
    }
    if (near.name) fail_advise(error, "did you mean '%.200s'?", near.name);
    else if (used)
        fail_advise(error, "its fields: %s%s", list, message->count > LISTED_MAX ? ", ..." : "");
}

static recmap_status fail_step(const struct message_def *message, const char *name, size_t size,
                               recmap_error *error) {
    fail(error, RECMAP_INVALID, "'%.200s' has no field '%.*s'", message->name,
         size < 200 ? (int)size : 200, name);
    if (number_of(name, size) || *name == '(' || *name == '[') /* as in text formats */
        fail_advise(error, "extensions are read by their number if no descriptor set is given");
    else advise_names(message, name, size, error);
    return RECMAP_INVALID;
}

static recmap_status fail_number(const char *text, size_t size, recmap_error *error) {
    fail(error, RECMAP_INVALID, "'%.*s' is not a path of field numbers, such as 5.3",
         size < 200 ? (int)size : 200, text);
    fail_advise(error, "names of fields need a descriptor set");
    return RECMAP_INVALID;
}

static recmap_status find_step(struct path_step *step, const struct message_def *message,
                               const char *name, size_t size, recmap_error *error) {
    uint32_t number = number_of(name, size);
    step->field = number ? message_def_find(message, number)
                         : message_def_find_name(message, name, size);
    if (!step->field) return fail_step(message, name, size, error);
    step->number = step->field->number;
    return RECMAP_OK;
}

/* Adds one part, which is a field of the message that the preceding parts lead to. */
static recmap_status add_step(struct message_path *path, const recmap_message_type *type,
                              const char *name, size_t size, recmap_error *error) {
    struct path_step *step = &path->steps[path->count];
    if (!type->root) {
        *step = (struct path_step){.number = number_of(name, size)};
        if (!step->number) return fail_number(name, size, error);
    } else {
        const struct field_def *before = path->count ? path->steps[path->count - 1].field : NULL;
        if (before && !before->message)
            return fail(error, RECMAP_INVALID, "'%.200s' is %s and has no field '%.*s'",
                        before->name, field_type_name(before), size < 200 ? (int)size : 200, name);
        RETURN_IF_FAILED(find_step(step, before ? before->message : type->root, name, size, error));
        path->levels += step->field->is_repeated;
    }
    path->count++;
    return RECMAP_OK;
}

recmap_status message_path_find(struct message_path *path, const recmap_message_type *type,
                                const char *text, size_t size, recmap_error *error) {
    const char *end = text + size;
    path->count = path->levels = 0;
    for (;;) {
        const char *dot = memchr(text, '.', (size_t)(end - text));
        const char *stop = dot ? dot : end;
        if (path->count == PATH_STEPS_MAX)
            return fail(error, RECMAP_INVALID, "a path has more than %d parts",
                        (int)PATH_STEPS_MAX);
        RETURN_IF_FAILED(add_step(path, type, text, (size_t)(stop - text), error));
        if (!dot) return RECMAP_OK;
        text = dot + 1;
    }
}

const char *field_type_name(const struct field_def *field) {
    static const char *const names[] = {"",         "double",   "float",   "int64",  "uint64",
                                        "int32",    "fixed64",  "fixed32", "bool",   "string",
                                        "group",    "message",  "bytes",   "uint32", "enum",
                                        "sfixed32", "sfixed64", "sint32",  "sint64"};
    return names[field->type];
}

recmap_element field_element(const struct field_def *field) {
    switch (field->type) {
    case FIELD_DOUBLE: return RECMAP_ELEMENT_FLOAT64;
    case FIELD_FLOAT: return RECMAP_ELEMENT_FLOAT32;
    case FIELD_INT64:
    case FIELD_SFIXED64:
    case FIELD_SINT64: return RECMAP_ELEMENT_INT64;
    case FIELD_UINT64:
    case FIELD_FIXED64: return RECMAP_ELEMENT_UINT64;
    case FIELD_INT32:
    case FIELD_SFIXED32:
    case FIELD_SINT32:
    case FIELD_ENUM: return RECMAP_ELEMENT_INT32;
    case FIELD_UINT32:
    case FIELD_FIXED32: return RECMAP_ELEMENT_UINT32;
    case FIELD_BOOL: return RECMAP_ELEMENT_BOOL;
    case FIELD_STRING:
    case FIELD_BYTES: return RECMAP_ELEMENT_BYTES;
    default: return RECMAP_ELEMENT_NONE;
    }
}
