#include <recmap/dlpack.h>

#include <assert.h>
#include <stdlib.h>

#include "base/core/error.h"
#include "parse/columns/columns.h"

/* A tensor in either form, its shape and strides, and the batch it retains. */
struct dlpack_export {
    union {
        DLManagedTensor plain;
        DLManagedTensorVersioned versioned;
    } as;
    struct batch_memory *memory;
    int64_t shape_and_strides[];
};

/* The data and shape of a tensor before export. */
struct tensor_source {
    const void *data;
    DLDataType type;
    const uint64_t *shape;
    size_t dimension_count;
    const int64_t *strides; /* NULL: C order */
    uint64_t shape_storage[2];
};

static DLDataType type_of(recmap_element element) {
    uint8_t code = kDLInt, bits = (uint8_t)(8 * recmap_element_size(element));
    switch (element) {
    case RECMAP_ELEMENT_UINT64:
    case RECMAP_ELEMENT_UINT32:
    case RECMAP_ELEMENT_UINT16:
    case RECMAP_ELEMENT_UINT8: code = kDLUInt; break;
    case RECMAP_ELEMENT_FLOAT32:
    case RECMAP_ELEMENT_FLOAT16:
    case RECMAP_ELEMENT_FLOAT64: code = kDLFloat; break;
    case RECMAP_ELEMENT_BFLOAT16: code = kDLBfloat; break;
    case RECMAP_ELEMENT_BOOL: code = kDLBool; break;
    default: break;
    }
    return (DLDataType){code, bits, 1};
}

static void use_int64(struct tensor_source *source, const int64_t *data, uint64_t count) {
    source->data = data;
    source->type = type_of(RECMAP_ELEMENT_INT64);
    source->shape_storage[0] = count;
    source->shape = source->shape_storage;
    source->dimension_count = 1;
}

/* Returns the number of offsets in a level: one more than the number of rows in it. */
static uint64_t entry_count(const recmap_column *column, size_t level) {
    uint64_t count = column->row_count;
    assert(level < column->offsets_count);
    for (size_t i = 0; i < level; i++) count = (uint64_t)column->offsets[i][count];
    return count + 1;
}

static void use_values(struct tensor_source *source, const recmap_column *column) {
    source->data = column->values;
    source->shape = column->shape;
    source->dimension_count = column->dimension_count;
    source->strides = column->strides;
    source->type = type_of(column->element);
    if (column->element != RECMAP_ELEMENT_BYTES || !column->values) return;
    source->type = type_of(RECMAP_ELEMENT_UINT8);
    source->shape_storage[0] = (uint64_t)column->bytes_offsets[column->value_count];
    source->shape = source->shape_storage;
    source->dimension_count = 1;
}

/* `data` is NULL if the column has no such tensor. */
static void find_source(struct tensor_source *source, const recmap_column *column,
                        recmap_tensor what, size_t level) {
    *source = (struct tensor_source){0};
    switch (what) {
    case RECMAP_TENSOR_VALUES: use_values(source, column); break;
    case RECMAP_TENSOR_OFFSETS:
        if (level < column->offsets_count)
            use_int64(source, column->offsets[level], entry_count(column, level));
        break;
    case RECMAP_TENSOR_LENGTHS: use_int64(source, column->lengths, column->row_count); break;
    case RECMAP_TENSOR_INDICES:
        use_int64(source, column->indices, column->value_count);
        source->shape_storage[1] = column->dense_dimension_count;
        source->dimension_count = 2;
        break;
    case RECMAP_TENSOR_BYTES_OFFSETS:
        use_int64(source, column->bytes_offsets, column->value_count + 1);
        break;
    }
}

/* Shape and strides are stored after the struct, so that one deleter frees all. Without strides of
 * its own, the array is dense and in row-major order; dimensions of size 0 count as 1, because some
 * consumers reject strides of 0. */
static struct dlpack_export *make_export(DLTensor *tensor, const struct tensor_source *source,
                                         struct batch_memory *memory) {
    size_t count = source->dimension_count;
    struct dlpack_export *export = calloc(1, sizeof *export + 2 * count * sizeof(int64_t));
    if (!export) return NULL;
    int64_t *shape = export->shape_and_strides, *strides = shape + count, stride = 1;
    for (size_t i = count; i > 0; i--) {
        shape[i - 1] = (int64_t)source->shape[i - 1];
        strides[i - 1] = source->strides ? source->strides[i - 1] : stride;
        stride *= shape[i - 1] ? shape[i - 1] : 1;
    }
    export->memory = batch_memory_retain(memory);
    *tensor = (DLTensor){.data = (void *)(uintptr_t)source->data,
                         .device = {kDLCPU, 0},
                         .ndim = (int32_t)count,
                         .dtype = source->type,
                         .shape = shape,
                         .strides = strides};
    return export;
}

static void end_export(struct dlpack_export *export) {
    batch_memory_release(export->memory);
    free(export);
}

static void delete_plain(DLManagedTensor *tensor) {
    end_export(tensor->manager_ctx);
}

static void delete_versioned(DLManagedTensorVersioned *tensor) {
    end_export(tensor->manager_ctx);
}

static recmap_status export(struct dlpack_export **dlpack_export, DLTensor *tensor,
                            recmap_columns *columns, size_t column_index, recmap_tensor what,
                            size_t level, recmap_error *error) {
    struct tensor_source source;
    if (column_index >= recmap_columns_count(columns))
        return fail(error, RECMAP_INVALID, "there is no column %zu", column_index);
    const recmap_column *column = recmap_columns_get(columns, column_index);
    find_source(&source, column, what, level);
    if (!source.data)
        return fail(error, RECMAP_INVALID, "column '%s' has no such tensor", column->name);
    *dlpack_export = make_export(tensor, &source, columns_memory(columns));
    return *dlpack_export ? RECMAP_OK : fail_memory(error);
}

recmap_status recmap_columns_export_dlpack(DLManagedTensor **tensor, recmap_columns *columns,
                                           size_t column_index, recmap_tensor what, size_t level,
                                           recmap_error *error) {
    struct dlpack_export *dlpack_export = NULL;
    DLTensor inner;
    RETURN_IF_FAILED(export(&dlpack_export, &inner, columns, column_index, what, level, error));
    dlpack_export->as.plain = (DLManagedTensor){
        .dl_tensor = inner, .manager_ctx = dlpack_export, .deleter = delete_plain};
    *tensor = &dlpack_export->as.plain;
    return RECMAP_OK;
}

recmap_status recmap_columns_export_dlpack_versioned(DLManagedTensorVersioned **tensor,
                                                     recmap_columns *columns, size_t column_index,
                                                     recmap_tensor what, size_t level,
                                                     recmap_error *error) {
    struct dlpack_export *dlpack_export = NULL;
    DLTensor inner;
    RETURN_IF_FAILED(export(&dlpack_export, &inner, columns, column_index, what, level, error));
    dlpack_export->as.versioned = (DLManagedTensorVersioned){
        .version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
        .manager_ctx = dlpack_export,
        .deleter = delete_versioned,
        .flags = DLPACK_FLAG_BITMASK_READ_ONLY,
        .dl_tensor = inner,
    };
    *tensor = &dlpack_export->as.versioned;
    return RECMAP_OK;
}
