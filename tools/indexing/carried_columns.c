#include "indexing/carried_columns.h"

#include <recmap/annotation.h>

#include "terminal/interrupt.h"
#include "terminal/message.h"

enum { ROWS = 4096 };

/* A column that is being copied. */
struct carried_column {
    recmap_dataset *source;
    size_t index;
    recmap_type type;
    bool has_nulls;
};

bool carried_columns_exist(const recmap_dataset *source) {
    return recmap_dataset_get_info(source)->lifted_column_count > 1;
}

static recmap_status read_value(recmap_value *value, const struct carried_column *column,
                                uint64_t number, recmap_error *error) {
    uint8_t is_null = 0;
    if (column->has_nulls)
        RETURN_IF_FAILED(
            recmap_dataset_read_nulls(&is_null, column->source, column->index, number, 1, error));
    value->type = is_null ? RECMAP_TYPE_NONE : column->type;
    if (is_null) return RECMAP_OK;
    if (column->type == RECMAP_TYPE_INT64)
        return recmap_dataset_read_int64(&value->as.int64, column->source, column->index, number, 1,
                                         error);
    if (column->type == RECMAP_TYPE_FLOAT)
        return recmap_dataset_read_float(&value->as.float32, column->source, column->index, number,
                                         1, error);
    if (column->type == RECMAP_TYPE_FLOAT64)
        return recmap_dataset_read_float64(&value->as.float64, column->source, column->index,
                                           number, 1, error);
    return recmap_dataset_read_bytes(value, column->source, column->index, number, 1, error);
}

static recmap_status add_rows(recmap_annotation *annotation, const struct carried_column *column,
                              const uint64_t *numbers, uint64_t first, size_t count,
                              recmap_error *error) {
    recmap_value keys[ROWS], values[ROWS];
    for (size_t i = 0; i < count; i++) {
        keys[i] = (recmap_value){.type = RECMAP_TYPE_INT64, .as.int64 = (int64_t)(first + i)};
        RETURN_IF_FAILED(read_value(&values[i], column, numbers[first + i], error));
    }
    return recmap_annotation_add_rows(annotation, RECMAP_KEY_NUMBER, keys, values, count, error);
}

static recmap_status add_column(recmap_annotation *annotation, recmap_dataset *source, size_t index,
                                const uint64_t *numbers, uint64_t count, recmap_error *error) {
    recmap_lifted_column info;
    RETURN_IF_FAILED(recmap_dataset_get_lifted_column(&info, source, index, error));
    RETURN_IF_FAILED(recmap_annotation_add_column_like(annotation, &info, error));
    struct carried_column column = {source, index, info.type, info.null_count != 0};
    for (uint64_t first = 0; first < count; first += ROWS) {
        size_t rows = count - first < ROWS ? (size_t)(count - first) : ROWS;
        if (interrupt_is_pending()) return interrupt_fail(error);
        RETURN_IF_FAILED(add_rows(annotation, &column, numbers, first, rows, error));
    }
    return RECMAP_OK;
}

static recmap_status add_columns(recmap_annotation *annotation, recmap_dataset *source,
                                 const uint64_t *numbers, uint64_t count, recmap_error *error) {
    size_t column_count = recmap_dataset_get_info(source)->lifted_column_count;
    for (size_t i = 1; i < column_count; i++)
        RETURN_IF_FAILED(add_column(annotation, source, i, numbers, count, error));
    return recmap_annotation_finish(annotation, error);
}

recmap_status carried_columns_add(const char *path, recmap_dataset *source, const uint64_t *numbers,
                                  uint64_t count, recmap_error *error) {
    recmap_dataset *dataset = NULL;
    recmap_annotation *annotation = NULL;
    recmap_status status = recmap_dataset_open(&dataset, path, NULL, error);
    if (status == RECMAP_OK) status = recmap_annotation_create(&annotation, dataset, NULL, error);
    if (status == RECMAP_OK) status = add_columns(annotation, source, numbers, count, error);
    recmap_annotation_destroy(annotation);
    recmap_dataset_close(dataset);
    return status;
}
