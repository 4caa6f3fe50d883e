/* Columns of pixels: their shapes, strides and memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <recmap/arrow.h>
#include <recmap/dlpack.h>
#include <recmap/image.h>

#include "unit/parse/columns/picture_batch.h"

#include <cmocka.h>

static struct picture_batch batch;

static int end(void **state) {
    (void)state;
    picture_batch_deinit(&batch);
    return 0;
}

static void add(const char *picture) {
    picture_batch_add(&batch, &(struct picture_record){.pictures = {picture}}, false);
}

static recmap_feature image_feature(const char *name, const recmap_image *image) {
    return (recmap_feature){.name = name,
                            .key = "image",
                            .kind = RECMAP_FEATURE_IMAGE,
                            .element = RECMAP_ELEMENT_UINT8,
                            .image = image};
}

/* The strides are of elements; both columns have the same bytes in the same order. */
static void test_channels_first_shows_the_same_memory(void **state) {
    (void)state;
    const recmap_image last = {.version = RECMAP_IMAGE_VERSION, .height = 4, .width = 6};
    recmap_image first = last;
    first.layout = RECMAP_IMAGE_CHW;
    const recmap_feature features[] = {image_feature("last", &last),
                                       image_feature("first", &first)};
    add("plain-444.jpg");
    add("rgb.png");
    assert_int_equal(picture_batch_parse(&batch, features, 2, false, RECMAP_PARSE_RAISE),
                     RECMAP_OK);
    const recmap_column *a = recmap_columns_get(batch.columns, 0);
    const recmap_column *b = recmap_columns_get(batch.columns, 1);
    assert_null(a->strides);
    assert_memory_equal(a->shape, ((uint64_t[]){2, 4, 6, 3}), 4 * sizeof(uint64_t));
    assert_memory_equal(b->shape, ((uint64_t[]){2, 3, 4, 6}), 4 * sizeof(uint64_t));
    assert_memory_equal(b->strides, ((int64_t[]){72, 1, 18, 3}), 4 * sizeof(int64_t));
    assert_int_equal(b->value_count, 2 * 72);
    assert_memory_equal(a->values, b->values, 2 * 72);
}

static void test_tensors_have_the_strides_of_channels_first(void **state) {
    (void)state;
    const recmap_image image = {
        .version = RECMAP_IMAGE_VERSION, .height = 4, .width = 6, .layout = RECMAP_IMAGE_CHW};
    const recmap_feature feature = image_feature("x", &image);
    DLManagedTensorVersioned *tensor;
    add("rgb.png");
    assert_int_equal(picture_batch_parse(&batch, &feature, 1, false, RECMAP_PARSE_RAISE),
                     RECMAP_OK);
    assert_int_equal(recmap_columns_export_dlpack_versioned(&tensor, batch.columns, 0,
                                                            RECMAP_TENSOR_VALUES, 0, NULL),
                     RECMAP_OK);
    assert_int_equal(tensor->dl_tensor.ndim, 4);
    assert_memory_equal(tensor->dl_tensor.shape, ((int64_t[]){1, 3, 4, 6}), 4 * sizeof(int64_t));
    assert_memory_equal(tensor->dl_tensor.strides, ((int64_t[]){72, 1, 18, 3}),
                        4 * sizeof(int64_t));
    tensor->deleter(tensor);
}

static void test_an_unknown_layout_is_refused(void **state) {
    (void)state;
    const recmap_image image = {
        .version = RECMAP_IMAGE_VERSION, .height = 4, .width = 6, .layout = (recmap_image_layout)2};
    const recmap_feature feature = image_feature("x", &image);
    assert_int_equal(picture_batch_parse(&batch, &feature, 1, false, RECMAP_PARSE_RAISE),
                     RECMAP_INVALID);
    assert_non_null(strstr(batch.error.message, "layout"));
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_channels_first_shows_the_same_memory),
        TEST(test_tensors_have_the_strides_of_channels_first),
        TEST(test_an_unknown_layout_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
