/* Columns as tensors: their types, their memory, and how long it is kept. */
#include <recmap/dlpack.h>

#include "unit/parse/columns/parse_case.h"

static void count_release(void *owner) {
    ++*(int *)owner;
}

static void expect_tensor(const DLTensor *tensor, const void *data, unsigned code, unsigned bits,
                          int32_t dimensions, const int64_t *shape) {
    int64_t stride = 1;
    assert_ptr_equal(tensor->data, data);
    assert_int_equal(tensor->device.device_type, kDLCPU);
    assert_int_equal(tensor->dtype.code, code);
    assert_int_equal(tensor->dtype.bits, bits);
    assert_int_equal(tensor->dtype.lanes, 1);
    assert_int_equal(tensor->byte_offset, 0);
    assert_int_equal(tensor->ndim, dimensions);
    for (int32_t i = dimensions; i-- > 0;) {
        assert_int_equal(tensor->shape[i], shape[i]);
        assert_int_equal(tensor->strides[i], stride);
        stride *= shape[i];
    }
}

/* Column `index` as a tensor of both forms. */
static void expect_dlpack(size_t index, recmap_tensor tensor, size_t level, const void *data,
                          unsigned code, unsigned bits, int32_t dimensions, const int64_t *shape) {
    DLManagedTensor *plain;
    DLManagedTensorVersioned *versioned;
    assert_int_equal(
        recmap_columns_export_dlpack(&plain, parsing.columns, index, tensor, level, NULL),
        RECMAP_OK);
    expect_tensor(&plain->dl_tensor, data, code, bits, dimensions, shape);
    plain->deleter(plain);
    assert_int_equal(recmap_columns_export_dlpack_versioned(&versioned, parsing.columns, index,
                                                            tensor, level, NULL),
                     RECMAP_OK);
    expect_tensor(&versioned->dl_tensor, data, code, bits, dimensions, shape);
    assert_int_equal(versioned->version.major, 1);
    assert_int_equal(versioned->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
    versioned->deleter(versioned);
}

/* Each kind of tensor is exported; it must refer to the column's memory and have its type and
 * shape. Tensors that a column does not have are refused. */
static void test_tensors_refer_to_the_memory_of_columns(void **state) {
    (void)state;
    const recmap_feature features[] = {
        {.name = "m", .key = "a", .kind = FIXED, .element = F32, SHAPE(1, 3)},
        {.name = "half", .key = "a", .kind = FIXED, .element = RECMAP_ELEMENT_BFLOAT16, SHAPE(3)},
        RAGGED_OF("r", "v", RECMAP_ELEMENT_BOOL, {RECMAP_PARTITION_ROW_LENGTHS, "n", 0}),
        {.name = "s",
         .key = "v",
         .kind = SPARSE,
         .element = RECMAP_ELEMENT_UINT8,
         INDICES("v"),
         SIZES(2)},
        {.name = "q", .key = "v", .kind = SEQUENCE, .element = I64},
        {.name = "t", .kind = VAR, .element = STR, .bytes_mode = RECMAP_BYTES_COPY},
        {.name = "w", .key = "t", .kind = VAR, .element = STR},
    };
    assert_int_equal(PARSE(features, RAISE, "a=f:1,2,3 v=i:0,1,1 n=i:1,0,2 t=b:ab,c",
                           "a=f:4,5,6 v=i:0 n=i:1 t=b:d"),
                     RECMAP_OK);
    const recmap_column *c[7];
    for (size_t i = 0; i < 7; i++) c[i] = recmap_columns_get(parsing.columns, i);
#define DIMENSIONS(...) sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__}
    expect_dlpack(0, RECMAP_TENSOR_VALUES, 0, c[0]->values, kDLFloat, 32, DIMENSIONS(2, 1, 3));
    expect_dlpack(1, RECMAP_TENSOR_VALUES, 0, c[1]->values, kDLBfloat, 16, DIMENSIONS(2, 3));
    expect_dlpack(2, RECMAP_TENSOR_VALUES, 0, c[2]->values, kDLBool, 8, DIMENSIONS(4));
    expect_dlpack(2, RECMAP_TENSOR_OFFSETS, 0, c[2]->offsets[0], kDLInt, 64, DIMENSIONS(3));
    expect_dlpack(2, RECMAP_TENSOR_OFFSETS, 1, c[2]->offsets[1], kDLInt, 64, DIMENSIONS(5));
    expect_dlpack(3, RECMAP_TENSOR_VALUES, 0, c[3]->values, kDLUInt, 8, DIMENSIONS(4));
    expect_dlpack(3, RECMAP_TENSOR_INDICES, 0, c[3]->indices, kDLInt, 64, DIMENSIONS(4, 2));
    expect_dlpack(4, RECMAP_TENSOR_VALUES, 0, c[4]->values, kDLInt, 64, DIMENSIONS(2, 3));
    expect_dlpack(4, RECMAP_TENSOR_LENGTHS, 0, c[4]->lengths, kDLInt, 64, DIMENSIONS(2));
    expect_dlpack(5, RECMAP_TENSOR_VALUES, 0, c[5]->values, kDLUInt, 8, DIMENSIONS(4));
    expect_dlpack(5, RECMAP_TENSOR_BYTES_OFFSETS, 0, c[5]->bytes_offsets, kDLInt, 64,
                  DIMENSIONS(4));
    static const struct {
        size_t column;
        recmap_tensor what;
        size_t level;
    } none[] = {{6, RECMAP_TENSOR_VALUES, 0},  {6, RECMAP_TENSOR_BYTES_OFFSETS, 0},
                {0, RECMAP_TENSOR_OFFSETS, 0}, {2, RECMAP_TENSOR_OFFSETS, 2},
                {2, RECMAP_TENSOR_LENGTHS, 0}, {2, RECMAP_TENSOR_INDICES, 0},
                {7, RECMAP_TENSOR_VALUES, 0},  {0, (recmap_tensor)9, 0}};
    for (size_t i = 0; i < COUNT(none); i++) {
        DLManagedTensor *tensor = NULL;
        assert_int_equal(recmap_columns_export_dlpack(&tensor, parsing.columns, none[i].column,
                                                      none[i].what, none[i].level, NULL),
                         RECMAP_INVALID);
        assert_null(tensor);
    }
}

static void test_tensors_outlive_columns(void **state) {
    (void)state;
    int released = 0;
    DLManagedTensor *tensor;
    const recmap_feature features[] = {{.name = "a", .kind = FIXED, .element = I64}};
    assert_int_equal(PARSE(features, RAISE, "a=i:5", "a=i:6"), RECMAP_OK);
    recmap_columns_set_owner(parsing.columns, &released, count_release);
    assert_int_equal(
        recmap_columns_export_dlpack(&tensor, parsing.columns, 0, RECMAP_TENSOR_VALUES, 0, NULL),
        RECMAP_OK);
    parsing_deinit(&parsing);
    parsing = (struct parsing){0};
    assert_int_equal(((const int64_t *)tensor->dl_tensor.data)[1], 6);
    assert_int_equal(released, 0);
    tensor->deleter(tensor);
    assert_int_equal(released, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_tensors_refer_to_the_memory_of_columns),
        TEST(test_tensors_outlive_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
