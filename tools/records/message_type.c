#include "records/message_type.h"

#include <stdlib.h>
#include <string.h>

#include "records/whole_file.h"
#include "terminal/message.h"

enum { DESCRIPTOR_SIZE_MAX = 64 << 20 };

/* The type that the arguments name, which the caller frees, or NULL. */
static char *name_type(const struct args *args, const char *field) {
    const char *colon = field ? strrchr(field, ':') : NULL;
    if (args->message) return strdup(args->message);
    return colon && colon > field ? strndup(field, (size_t)(colon - field)) : NULL;
}

int message_type_open(recmap_message_type **type, const struct args *args, const char *field) {
    char *name = name_type(args, field), *data = NULL;
    size_t size = 0;
    if (!name) return args_usage_error(args, "--descriptor needs --message, the type of records");
    int exit_status = whole_file_read(&data, &size, args->descriptor, DESCRIPTOR_SIZE_MAX);
    recmap_error error = RECMAP_ERROR_INIT;
    if (!exit_status && recmap_message_type_create(type, data, size, name, &error) != RECMAP_OK) {
        if (!*error.path) snprintf(error.path, sizeof error.path, "%s", args->descriptor);
        exit_status = message_print(&error);
    }
    if (data) free(data);
    free(name);
    return exit_status;
}

const char *message_path(const char *field) {
    const char *colon = strrchr(field, ':');
    return colon ? colon + 1 : field;
}

static recmap_status set_feature(recmap_feature *feature, const recmap_message_type *type,
                                 const char *field, recmap_error *error) {
    recmap_message_field found;
    const char *path = message_path(field);
    RETURN_IF_FAILED(recmap_message_type_find(&found, type, path, error));
    *feature = (recmap_feature){
        .name = path, .key = path, .kind = RECMAP_FEATURE_FIXED_LEN, .element = found.element};
    if (found.element) return RECMAP_OK;
    return message_fail(error, RECMAP_INVALID, NULL, "name a field of it",
                        "the field '%.200s' is a message", path);
}

static recmap_status make_lift(recmap_message_lift **lift, recmap_message_type *type,
                               const char *id, const recmap_lift *columns, size_t column_count,
                               recmap_feature *features, recmap_error *error) {
    if (id) RETURN_IF_FAILED(set_feature(&features[0], type, id, error));
    for (size_t i = 0; i < column_count; i++)
        RETURN_IF_FAILED(set_feature(&features[i + 1], type, columns[i].name, error));
    return recmap_message_lift_create(lift, type, id ? &features[0] : NULL, features + 1,
                                      column_count, error);
}

int message_lift_open(recmap_message_lift **lift, recmap_message_type *type, const char *id,
                      const recmap_lift *columns, size_t column_count) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_feature *features = calloc(column_count + 1, sizeof *features);
    recmap_status status = features
                               ? make_lift(lift, type, id, columns, column_count, features, &error)
                               : message_fail_memory(&error);
    free(features);
    return status == RECMAP_OK ? 0 : message_print(&error);
}
