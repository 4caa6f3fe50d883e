/* Ids and lifted columns of messages: the single values of one record, read without columns. */
#include <recmap/message.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "parse/decode/read_message.h"
#include "parse/plan/convert.h"

/* The id and the columns of an index. */
enum { VALUES_MAX = 1 + 64, ID_NAME_MAX = 1024, COLUMN_NAME_SIZE = 24 };

struct recmap_message_lift {
    recmap_parser *parser;
    bool has_id;
    char *id_name;
    size_t count;                        /* of the id and the columns */
    recmap_element elements[VALUES_MAX]; /* INT64, FLOAT32, FLOAT64 or BYTES */
};

/* The element that a column of an index is read as. */
static recmap_element lifted_element(recmap_element element) {
    if (element == RECMAP_ELEMENT_FLOAT64) return element;
    switch (convert_list_of(element)) {
    case RECMAP_TYPE_INT64: return RECMAP_ELEMENT_INT64;
    case RECMAP_TYPE_FLOAT: return RECMAP_ELEMENT_FLOAT32;
    default: return element;
    }
}

static const char *path_of(const recmap_feature *feature) {
    return feature->key ? feature->key : feature->name ? feature->name : "";
}

/* The parser's features have names of their own, because the id and a column may be the same. */
static recmap_status add_value(recmap_message_lift *lift, recmap_feature *target, char *name,
                               const recmap_feature *given, recmap_error *error) {
    if (given->kind != RECMAP_FEATURE_FIXED_LEN || given->dimension_count || given->raw ||
        given->image)
        return fail(error, RECMAP_INVALID, "'%.200s' must be one value to be an id or a column",
                    path_of(given));
    snprintf(name, COLUMN_NAME_SIZE, "%zu", lift->count);
    *target = (recmap_feature){.name = name,
                               .key = path_of(given),
                               .kind = RECMAP_FEATURE_FIXED_LEN,
                               .element = lifted_element(given->element),
                               .defaults = given->defaults,
                               .default_count = given->default_count};
    lift->elements[lift->count++] = target->element;
    return RECMAP_OK;
}

static recmap_status set_id_name(recmap_message_lift *lift, const recmap_message_type *type,
                                 const recmap_feature *id, recmap_error *error) {
    const char *name = recmap_message_type_name(type), *path = path_of(id);
    size_t size = strlen(name) + strlen(path) + 2;
    if (lift->elements[0] != RECMAP_ELEMENT_BYTES && lift->elements[0] != RECMAP_ELEMENT_INT64)
        return fail(error, RECMAP_INVALID,
                    "'%.200s' cannot be an id: it is a floating-point number", path);
    if (size > ID_NAME_MAX) return fail(error, RECMAP_INVALID, "the path of the id is too long");
    lift->id_name = malloc(size);
    if (!lift->id_name) return fail_memory(error);
    snprintf(lift->id_name, size, "%s:%s", name, path);
    return RECMAP_OK;
}

static recmap_status fill(recmap_message_lift *lift, recmap_message_type *type,
                          const recmap_feature *id, const recmap_feature *columns,
                          size_t column_count, recmap_error *error) {
    recmap_feature features[VALUES_MAX];
    char names[VALUES_MAX][COLUMN_NAME_SIZE];
    if (column_count > VALUES_MAX - 1)
        return fail(error, RECMAP_INVALID, "%zu columns to lift; the maximum is %d", column_count,
                    (int)VALUES_MAX - 1);
    lift->has_id = id != NULL;
    if (id) {
        RETURN_IF_FAILED(add_value(lift, &features[0], names[0], id, error));
        RETURN_IF_FAILED(set_id_name(lift, type, id, error));
    }
    for (size_t i = 0; i < column_count; i++) {
        size_t next = lift->count;
        RETURN_IF_FAILED(add_value(lift, &features[next], names[next], &columns[i], error));
    }
    return recmap_parser_create_message(&lift->parser, type, features, lift->count, error);
}

recmap_status recmap_message_lift_create(recmap_message_lift **lift, recmap_message_type *type,
                                         const recmap_feature *id, const recmap_feature *columns,
                                         size_t column_count, recmap_error *error) {
    recmap_message_lift *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    recmap_status status = fill(fresh, type, id, columns, column_count, error);
    if (status == RECMAP_OK) *lift = fresh;
    else recmap_message_lift_destroy(fresh);
    return status;
}

void recmap_message_lift_destroy(recmap_message_lift *lift) {
    if (!lift) return;
    recmap_parser_release(lift->parser);
    free(lift->id_name);
    free(lift);
}

const char *recmap_message_lift_id_name(const recmap_message_lift *lift) {
    return lift->id_name;
}

/* Room for one element of each value, and for what is written past it. */
struct lifted_row {
    struct sink sinks[VALUES_MAX];
    recmap_bytes elements[VALUES_MAX][2];
    uint8_t *places[VALUES_MAX];
    uint64_t taken[VALUES_MAX], marks[1];
    recmap_bytes later[VALUES_MAX];
};

static bool read_row(struct lifted_row *row, const recmap_message_lift *lift,
                     const recmap_record *record, struct read_fault *fault) {
    struct message_state state = {row->places, row->taken, row->marks, row->later};
    for (size_t i = 0; i < lift->count; i++)
        row->sinks[i] = (struct sink){
            .values = {.data = (uint8_t *)row->elements[i], .capacity = sizeof(recmap_bytes)}};
    return read_message(row->sinks, &state, lift->parser, record->data, record->size, 0, fault);
}

static recmap_value value_of(const recmap_message_lift *lift, const struct lifted_row *row,
                             size_t index) {
    recmap_value value = {.type = RECMAP_TYPE_INT64};
    const void *element = row->elements[index];
    const recmap_bytes *view = element;
    switch (lift->elements[index]) {
    case RECMAP_ELEMENT_BYTES:
        value.type = RECMAP_TYPE_BYTES;
        value.as.bytes.data = view->data;
        value.as.bytes.size = view->size;
        break;
    case RECMAP_ELEMENT_FLOAT32:
        value.type = RECMAP_TYPE_FLOAT;
        memcpy(&value.as.float32, element, sizeof value.as.float32);
        break;
    case RECMAP_ELEMENT_FLOAT64:
        value.type = RECMAP_TYPE_FLOAT64;
        memcpy(&value.as.float64, element, sizeof value.as.float64);
        break;
    default: memcpy(&value.as.int64, element, sizeof value.as.int64);
    }
    return value;
}

recmap_status recmap_message_lift_read(const recmap_record *record, recmap_value *id,
                                       recmap_value *columns, size_t column_count, char *message,
                                       size_t message_capacity, void *context) {
    const recmap_message_lift *lift = context;
    struct lifted_row row;
    struct read_fault fault;
    if (!read_row(&row, lift, record, &fault)) {
        if (fault.offset == SIZE_MAX) snprintf(message, message_capacity, "%s", fault.message);
        else
            snprintf(message, message_capacity, "%s at byte %zu of its data", fault.message,
                     fault.offset);
        return fault.status == RECMAP_NO_MEMORY ? fault.status : RECMAP_FEATURE;
    }
    if (lift->has_id && id) *id = value_of(lift, &row, 0);
    if (id && id->type == RECMAP_TYPE_BYTES && !id->as.bytes.size) id->type = RECMAP_TYPE_NONE;
    for (size_t i = 0; i < column_count && i + lift->has_id < lift->count; i++)
        columns[i] = value_of(lift, &row, i + lift->has_id);
    return RECMAP_OK;
}
