#include "parse/message/type_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "descriptor.pb-c.h"
#include "parse/message/field_default.h"

typedef Recmap__Descriptor__File pb_file;
typedef Recmap__Descriptor__Message pb_message;
typedef Recmap__Descriptor__Enum pb_enumeration;
typedef Recmap__Descriptor__Field pb_field;
typedef Recmap__Descriptor__Features pb_features;

enum {
    LABEL_REPEATED = 3,
    PRESENCE_IMPLICIT = 2,
    ENUM_CLOSED = 2,
    ENCODING_DELIMITED = 2,
    NUMBER_MAX = (1 << 29) - 1,
};

static const char *text_of(const char *text) {
    return text ? text : "";
}

static struct def_features features_of_file(const pb_file *file) {
    bool is_proto2 = !file->syntax || !*file->syntax || !strcmp(file->syntax, "proto2");
    bool is_proto3 = file->syntax && !strcmp(file->syntax, "proto3");
    return (struct def_features){.is_explicit = !is_proto3, .is_closed = is_proto2};
}

/* What an element says replaces what the element around it says. */
static struct def_features with_features(struct def_features outer, const pb_features *given) {
    if (!given) return outer;
    if (given->has_field_presence && given->field_presence)
        outer.is_explicit = given->field_presence != PRESENCE_IMPLICIT;
    if (given->has_enum_type && given->enum_type) outer.is_closed = given->enum_type == ENUM_CLOSED;
    if (given->has_message_encoding && given->message_encoding)
        outer.is_delimited = given->message_encoding == ENCODING_DELIMITED;
    return outer;
}

/* ---- Names. */

/* Joins the names of a scope and of what is in it. All names together take at most so much memory
 * for each byte of the set, however deep types are nested. */
static recmap_status make_name(char **full, recmap_message_type *type, const char *scope,
                               const char *name, recmap_error *error) {
    size_t size = strlen(scope) + strlen(text_of(name)) + 2;
    if (!name || !*name)
        return fail(error, RECMAP_INVALID, "a type in '%.200s' has no name", scope);
    if (size > TYPE_NAME_MAX || size > type->name_room)
        return fail(error, RECMAP_INVALID, "the name of the type '%.200s' is too long", name);
    type->name_room -= size;
    *full = malloc(size);
    if (!*full) return fail_memory(error);
    snprintf(*full, size, "%s%s%s", scope, *scope ? "." : "", name);
    return RECMAP_OK;
}

static recmap_status add_enums(recmap_message_type *type, pb_enumeration *const *sources,
                               size_t count, const char *scope, struct def_features features,
                               recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        struct enum_def *added = &type->enums[type->enum_count++];
        const Recmap__Descriptor__EnumOptions *options = sources[i]->options;
        added->source = sources[i];
        added->is_closed = with_features(features, options ? options->features : NULL).is_closed;
        RETURN_IF_FAILED(make_name(&added->name, type, scope, sources[i]->name, error));
    }
    return RECMAP_OK;
}

/* Recursive: the nesting of the set was limited when it was read. */
static recmap_status add_messages(recmap_message_type *type, pb_message *const *sources,
                                  size_t count, const char *scope, struct def_features features,
                                  recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        const pb_message *source = sources[i];
        struct message_def *added = &type->messages[type->message_count++];
        const Recmap__Descriptor__MessageOptions *options = source->options;
        added->source = source;
        added->features = with_features(features, options ? options->features : NULL);
        added->is_map_entry = options && options->map_entry;
        RETURN_IF_FAILED(make_name(&added->name, type, scope, source->name, error));
        RETURN_IF_FAILED(add_enums(type, source->enum_type, source->n_enum_type, added->name,
                                   added->features, error));
        RETURN_IF_FAILED(add_messages(type, source->nested_type, source->n_nested_type, added->name,
                                      added->features, error));
    }
    return RECMAP_OK;
}

static void count_types(pb_message *const *sources, size_t count, size_t *messages, size_t *enums) {
    *messages += count;
    for (size_t i = 0; i < count; i++) {
        *enums += sources[i]->n_enum_type;
        count_types(sources[i]->nested_type, sources[i]->n_nested_type, messages, enums);
    }
}

static recmap_status add_types(recmap_message_type *type, recmap_error *error) {
    const Recmap__Descriptor__FileSet *set = type->set;
    size_t messages = 0, enums = 0;
    for (size_t i = 0; i < set->n_file; i++) {
        enums += set->file[i]->n_enum_type;
        count_types(set->file[i]->message_type, set->file[i]->n_message_type, &messages, &enums);
    }
    type->messages = calloc(messages + 1, sizeof *type->messages);
    type->enums = calloc(enums + 1, sizeof *type->enums);
    if (!type->messages || !type->enums) return fail_memory(error);
    for (size_t i = 0; i < set->n_file; i++) {
        const pb_file *source = set->file[i];
        const Recmap__Descriptor__Options *options = source->options;
        struct def_features features =
            with_features(features_of_file(source), options ? options->features : NULL);
        const char *scope = text_of(source->package);
        RETURN_IF_FAILED(
            add_enums(type, source->enum_type, source->n_enum_type, scope, features, error));
        RETURN_IF_FAILED(add_messages(type, source->message_type, source->n_message_type, scope,
                                      features, error));
    }
    return RECMAP_OK;
}

static int compare_messages(const void *a, const void *b) {
    return strcmp(((const struct message_def *)a)->name, ((const struct message_def *)b)->name);
}

static int compare_enums(const void *a, const void *b) {
    return strcmp(((const struct enum_def *)a)->name, ((const struct enum_def *)b)->name);
}

static recmap_status sort_types(recmap_message_type *type, recmap_error *error) {
    const char *twice = NULL;
    qsort(type->messages, type->message_count, sizeof *type->messages, compare_messages);
    qsort(type->enums, type->enum_count, sizeof *type->enums, compare_enums);
    for (size_t i = 1; i < type->message_count; i++)
        if (!compare_messages(&type->messages[i - 1], &type->messages[i]))
            twice = type->messages[i].name;
    for (size_t i = 1; i < type->enum_count; i++)
        if (!compare_enums(&type->enums[i - 1], &type->enums[i])) twice = type->enums[i].name;
    if (!twice) return RECMAP_OK;
    return fail(error, RECMAP_INVALID, "the descriptor set has the type '%.200s' twice", twice);
}

/* ---- Fields. */

static int compare_numbers(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static recmap_status fill_enum(struct enum_def *target, recmap_error *error) {
    const pb_enumeration *source = target->source;
    target->count = source->n_value;
    target->numbers = calloc(target->count + 1, sizeof *target->numbers);
    if (!target->numbers) return fail_memory(error);
    for (size_t i = 0; i < target->count; i++) target->numbers[i] = source->value[i]->number;
    qsort(target->numbers, target->count, sizeof *target->numbers, compare_numbers);
    return RECMAP_OK;
}

/* protoc writes full names, with a dot before them. */
static recmap_status find_types(struct field_def *target, const recmap_message_type *type,
                                const struct message_def *owner, const char *name,
                                recmap_error *error) {
    if (!field_is_message(target) && target->type != FIELD_ENUM) return RECMAP_OK;
    char *wanted = (char *)(uintptr_t)(name + (*name == '.'));
    if (field_is_message(target)) {
        const struct message_def key = {.name = wanted};
        target->message =
            bsearch(&key, type->messages, type->message_count, sizeof key, compare_messages);
    } else {
        const struct enum_def key = {.name = wanted};
        target->enumeration =
            bsearch(&key, type->enums, type->enum_count, sizeof key, compare_enums);
    }
    if (target->message || target->enumeration) return RECMAP_OK;
    fail(error, RECMAP_INVALID,
         "the descriptor set lacks '%.200s', the type of '%.200s' in '%.200s'", wanted,
         target->name, owner->name);
    fail_advise(error, "write it with protoc --include_imports --descriptor_set_out=FILE");
    return RECMAP_INVALID;
}

/* Returns true for what protoc accepts as a name. Anything else could not be part of a path. */
static bool is_name(const char *name) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return name && *name && strspn(name, letters) == strlen(name) && (*name < '0' || *name > '9');
}

static recmap_status fill_field(struct field_def *target, const recmap_message_type *type,
                                const struct message_def *owner, const pb_field *source,
                                recmap_error *error) {
    const Recmap__Descriptor__FieldOptions *options = source->options;
    struct def_features features =
        with_features(owner->features, options ? options->features : NULL);
    if (!is_name(source->name) || source->number < 1 || source->number > NUMBER_MAX ||
        source->type < FIELD_DOUBLE || source->type > FIELD_SINT64 ||
        (source->has_oneof_index &&
         (source->oneof_index < 0 || (size_t)source->oneof_index >= owner->oneof_count)))
        return fail(error, RECMAP_INVALID, "the field '%.200s' of '%.200s' is impossible",
                    text_of(source->name), owner->name);
    *target = (struct field_def){.name = source->name,
                                 .json_name = source->json_name,
                                 .number = (uint32_t)source->number,
                                 .type = (enum field_type)source->type,
                                 .is_repeated = source->label == LABEL_REPEATED,
                                 .oneof = SIZE_MAX};
    if (target->type == FIELD_MESSAGE && features.is_delimited && !owner->is_map_entry)
        target->type = FIELD_GROUP;
    if (source->has_oneof_index && !source->proto3_optional)
        target->oneof = (size_t)source->oneof_index;
    target->has_presence = !target->is_repeated &&
                           (field_is_message(target) || source->has_oneof_index ||
                            features.is_explicit || owner->is_map_entry);
    RETURN_IF_FAILED(find_types(target, type, owner, text_of(source->type_name), error));
    if (target->message && target->message->is_map_entry) target->type = FIELD_MESSAGE;
    return field_default_set(target, source->default_value, owner->name, error);
}

static int compare_fields(const void *a, const void *b) {
    uint32_t x = ((const struct field_def *)a)->number, y = ((const struct field_def *)b)->number;
    return (x > y) - (x < y);
}

static int compare_field_names(const void *a, const void *b) {
    return strcmp((*(const struct field_def *const *)a)->name,
                  (*(const struct field_def *const *)b)->name);
}

static recmap_status fail_alike(const struct message_def *message, const struct field_def *a,
                                const struct field_def *b, const char *what, recmap_error *error) {
    return fail(error, RECMAP_INVALID,
                "the fields '%.200s' and '%.200s' of '%.200s' have the same %s", a->name, b->name,
                message->name, what);
}

/* No two fields have the same number, or the same name. The fields are sorted by number. */
static recmap_status check_fields(const struct message_def *message, recmap_error *error) {
    const struct field_def **by_name = calloc(message->count + 1, sizeof *by_name), *twice = NULL;
    if (!by_name) return fail_memory(error);
    for (size_t i = 0; i < message->count; i++) by_name[i] = &message->fields[i];
    qsort(by_name, message->count, sizeof *by_name, compare_field_names);
    for (size_t i = 1; i < message->count; i++)
        if (!compare_field_names(&by_name[i - 1], &by_name[i])) twice = by_name[i];
    free(by_name);
    if (twice) return fail_alike(message, twice, twice, "name", error);
    for (size_t i = 1; i < message->count; i++) {
        const struct field_def *field = &message->fields[i];
        if (field->number == field[-1].number)
            return fail_alike(message, field - 1, field, "number", error);
    }
    return RECMAP_OK;
}

static recmap_status fill_message(struct message_def *target, const recmap_message_type *type,
                                  recmap_error *error) {
    const pb_message *source = target->source;
    target->oneof_count = source->n_oneof_decl;
    target->fields = calloc(source->n_field + 1, sizeof *target->fields);
    if (!target->fields) return fail_memory(error);
    for (size_t i = 0; i < source->n_field; i++) {
        struct field_def *added = &target->fields[target->count++];
        RETURN_IF_FAILED(fill_field(added, type, target, source->field[i], error));
    }
    qsort(target->fields, target->count, sizeof *target->fields, compare_fields);
    return check_fields(target, error);
}

recmap_status type_table_init(recmap_message_type *type, recmap_error *error) {
    RETURN_IF_FAILED(add_types(type, error));
    RETURN_IF_FAILED(sort_types(type, error));
    for (size_t i = 0; i < type->enum_count; i++)
        RETURN_IF_FAILED(fill_enum(&type->enums[i], error));
    for (size_t i = 0; i < type->message_count; i++)
        RETURN_IF_FAILED(fill_message(&type->messages[i], type, error));
    return RECMAP_OK;
}

void type_table_deinit(recmap_message_type *type) {
    for (size_t i = 0; i < type->enum_count; i++) {
        free(type->enums[i].name);
        free(type->enums[i].numbers);
    }
    for (size_t i = 0; i < type->message_count; i++) {
        struct message_def *message = &type->messages[i];
        for (size_t f = 0; f < message->count; f++) field_default_unset(&message->fields[f]);
        free(message->name);
        free(message->fields);
    }
    free(type->enums);
    free(type->messages);
}

const char *enum_def_name(const struct enum_def *enumeration, int32_t number) {
    const pb_enumeration *source = enumeration->source;
    for (size_t i = 0; i < source->n_value; i++)
        if (source->value[i]->number == number) return source->value[i]->name;
    return NULL;
}
