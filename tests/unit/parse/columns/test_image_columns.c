/* Columns of pixels: their shapes, strides and memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <recmap/arrow.h>
#include <recmap/dlpack.h>
#include <recmap/image.h>

#include "parse/columns/columns.h"
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

static const float top[] = {0, 0.25f, 0.5f}, left[] = {0, 0.5f, 0.5f}, bottom[] = {1, 0.5f, 0.75f},
                   right[] = {1, 1, 0.5f};

/* Boxes of image "image", and the share of each that is visible. */
static recmap_feature boxes_feature(const char *name, const recmap_boxes *boxes) {
    return (recmap_feature){.name = name,
                            .kind = RECMAP_FEATURE_BOXES,
                            .element = RECMAP_ELEMENT_FLOAT32,
                            .boxes = boxes};
}

static const recmap_boxes moved = {.image = "image", .keys = {"a", "b", "c", "d"}},
                          visible = {
                              .image = "image", .keys = {"a", "b", "c", "d"}, .is_visible = 1};

static void add_boxes(const char *picture, size_t count) {
    const struct picture_record record = {{picture}, {top, left, bottom, right}, count};
    picture_batch_add(&batch, &record, false);
}

static void expect_floats(const recmap_column *column, const float *values, size_t count) {
    assert_int_equal(column->value_count, count);
    for (size_t i = 0; i < count; i++)
        assert_float_equal(((const float *)column->values)[i], values[i], 1e-6f);
}

/* turned-6.jpg is 24 pixels high and 16 wide once it is turned by a quarter. The crop has 8 x 8
 * pixels in the middle. */
static void test_boxes_move_with_the_pixels(void **state) {
    (void)state;
    const recmap_image image = {.version = RECMAP_IMAGE_VERSION,
                                .height = 8,
                                .width = 8,
                                .crop = RECMAP_CROP_CENTER,
                                .resize = 16,
                                .flip = 1};
    const recmap_feature features[] = {image_feature("image", &image),
                                       boxes_feature("boxes", &moved),
                                       boxes_feature("boxes/visible", &visible)};
    static const float expected[] = {0, 0, 1, 1, 0.5f, 0, 1, 0.5f, 0.5f, 0.5f, 0.5f, 1};
    add_boxes("turned-6.jpg", 3);
    add_boxes("turned-6.jpg", 0);
    assert_int_equal(picture_batch_parse(&batch, features, 3, false, RECMAP_PARSE_RAISE),
                     RECMAP_OK);
    const recmap_column *a = recmap_columns_get(batch.columns, 1);
    const recmap_column *b = recmap_columns_get(batch.columns, 2);
    assert_int_equal(a->kind, RECMAP_FEATURE_BOXES);
    assert_memory_equal(a->shape, ((uint64_t[]){3, 4}), 2 * sizeof(uint64_t));
    assert_memory_equal(a->offsets[0], ((int64_t[]){0, 3, 3}), 3 * sizeof(int64_t));
    assert_memory_equal(b->offsets[0], ((int64_t[]){0, 3, 3}), 3 * sizeof(int64_t));
    expect_floats(a, expected, 12);
    expect_floats(b, (float[]){64 / 384.f, 1 / 3.f, 0}, 3);
}

static void expect_refused(const char *text) {
    const recmap_image image = {.version = RECMAP_IMAGE_VERSION, .height = 8, .width = 8};
    const recmap_feature features[] = {image_feature("image", &image),
                                       boxes_feature("boxes", &moved)};
    assert_int_equal(picture_batch_parse(&batch, features, 2, false, RECMAP_PARSE_RAISE),
                     RECMAP_FEATURE);
    if (!strstr(batch.error.message, text)) fail_msg("%s", batch.error.message);
    /* A bad row leaves the others as they are. */
    assert_int_equal(picture_batch_parse(&batch, features, 2, false, RECMAP_PARSE_COLLECT),
                     RECMAP_OK);
    const recmap_column *boxes = recmap_columns_get(batch.columns, 1);
    assert_memory_equal(boxes->offsets[0], ((int64_t[]){0, 1, 1, 2}), 4 * sizeof(int64_t));
    assert_int_equal(boxes->null_count, 1);
    expect_floats(boxes, (float[]){0, 0, 1, 1, 0, 0, 1, 1}, 8);
}

static void test_boxes_of_different_counts_are_refused(void **state) {
    (void)state;
    add_boxes("rgb.png", 1);
    picture_batch_add(&batch, &(struct picture_record){{"rgb.png"}, {top, left, bottom}, 2}, false);
    add_boxes("rgb.png", 1);
    expect_refused("feature 'd' has 0 values, but 'a' has 2");
}

static void test_coordinates_that_are_not_finite_are_refused(void **state) {
    (void)state;
    static const float endless[] = {0.5f, -INFINITY}, none[] = {0, NAN};
    add_boxes("rgb.png", 1);
    picture_batch_add(
        &batch, &(struct picture_record){{"rgb.png"}, {top, left, bottom, endless}, 2}, false);
    add_boxes("rgb.png", 1);
    expect_refused("feature 'd': the coordinate of box 1 is infinite");
    picture_batch_deinit(&batch);
    add_boxes("rgb.png", 1);
    picture_batch_add(&batch, &(struct picture_record){{"rgb.png"}, {top, none, bottom, right}, 2},
                      false);
    add_boxes("rgb.png", 1);
    expect_refused("feature 'b': the coordinate of box 1 is NaN");
}

static void test_impossible_boxes_are_refused(void **state) {
    (void)state;
    const recmap_image image = {.version = RECMAP_IMAGE_VERSION, .height = 8, .width = 8};
    const recmap_boxes elsewhere = {.image = "picture", .keys = {"a", "b", "c", "d"}};
    const recmap_boxes keyless = {.image = "image", .keys = {"a", "b", "c"}};
    const recmap_boxes later = {
        .image = "image", .keys = {"a", "b", "c", "d"}, .reserved = {0, 0, 0, 1}};
    recmap_feature features[] = {image_feature("image", &image), boxes_feature("boxes", NULL)};
    const recmap_boxes *const wrong[] = {NULL, &elsewhere, &keyless, &later};
    for (size_t i = 0; i < 4; i++) {
        features[1].boxes = wrong[i];
        assert_int_equal(picture_batch_parse(&batch, features, 2, false, RECMAP_PARSE_RAISE),
                         RECMAP_INVALID);
        assert_non_null(strstr(batch.error.message, "boxes"));
    }
    features[1].boxes = &moved;
    features[1].element = RECMAP_ELEMENT_FLOAT64;
    assert_int_equal(picture_batch_parse(&batch, features, 2, false, RECMAP_PARSE_RAISE),
                     RECMAP_INVALID);
    features[0].boxes = &moved;
    assert_int_equal(picture_batch_parse(&batch, features, 1, false, RECMAP_PARSE_RAISE),
                     RECMAP_INVALID);
}

/* Pixels follow each other; a row that cannot be read has none. */
static void test_columns_of_the_same_pixels_are_refused(void **state) {
    (void)state;
    const recmap_image image = {.version = RECMAP_IMAGE_VERSION,
                                .height = 4,
                                .width = 6,
                                .crop = RECMAP_CROP_RANDOM_RESIZED};
    recmap_image other = image;
    const recmap_feature features[] = {image_feature("a", &image), image_feature("b", &other)};
    recmap_parser *parser;
    recmap_error error = RECMAP_ERROR_INIT;
    other.scale[0] = 0.08; /* as the default */
    other.scale[1] = 1;
    assert_int_equal(recmap_parser_create(&parser, features, 2, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "features 'a' and 'b' would have the same pixels");
    assert_non_null(strstr(error.advice, "differently with `recmap_image.draw`"));
    other.draw = "b";
    assert_int_equal(recmap_parser_create(&parser, features, 2, &error), RECMAP_OK);
    recmap_parser_release(parser);
}

static void test_pictures_keep_their_sizes(void **state) {
    (void)state;
    const recmap_image image = {.version = RECMAP_IMAGE_VERSION, .flip = 1};
    const recmap_feature features[] = {image_feature("image", &image),
                                       boxes_feature("boxes", &moved)};
    add_boxes("turned-6.jpg", 1);
    picture_batch_add(&batch, &(struct picture_record){.pictures = {""}}, false);
    add_boxes("lossless.webp", 2);
    assert_int_equal(picture_batch_parse(&batch, features, 2, false, RECMAP_PARSE_COLLECT),
                     RECMAP_OK);
    static const int64_t shapes[] = {24, 16, 3, 0, 0, 0, 32, 48, 3};
    const int64_t first = 24 * 16 * 3, all = first + 32 * 48 * 3;
    const recmap_column *column = recmap_columns_get(batch.columns, 0);
    assert_memory_equal(column->picture_shapes, shapes, sizeof shapes);
    assert_memory_equal(column->offsets[0], ((int64_t[]){0, first, first, all}),
                        4 * sizeof(int64_t));
    assert_int_equal(column->value_count, all);
    assert_int_equal(column->null_count, 1);
    assert_int_equal(recmap_columns_failure_count(batch.columns), 1);
    const recmap_column *boxes = recmap_columns_get(batch.columns, 1);
    assert_memory_equal(boxes->offsets[0], ((int64_t[]){0, 1, 1, 3}), 4 * sizeof(int64_t));
}

/* A header that claims many pixels is refused before there is room for them. */
static void test_a_large_picture_without_a_size_is_refused(void **state) {
    (void)state;
    const recmap_image image = {.version = RECMAP_IMAGE_VERSION, .max_pixels = 1000};
    const recmap_feature feature = image_feature("image", &image);
    add("rgb.png");
    assert_int_equal(picture_batch_parse(&batch, &feature, 1, false, RECMAP_PARSE_RAISE),
                     RECMAP_FEATURE);
    assert_non_null(strstr(batch.error.message, "pixels, more than the limit of 1000"));
}

static void test_only_images_with_a_size_have_defaults_and_layouts(void **state) {
    (void)state;
    const recmap_value black = {.type = RECMAP_TYPE_INT64, .as.int64 = 0};
    recmap_image image = {.version = RECMAP_IMAGE_VERSION};
    recmap_feature feature = image_feature("image", &image);
    feature.defaults = &black;
    feature.default_count = 1;
    assert_int_equal(picture_batch_parse(&batch, &feature, 1, false, RECMAP_PARSE_RAISE),
                     RECMAP_INVALID);
    feature.default_count = 0;
    image.layout = RECMAP_IMAGE_CHW;
    assert_int_equal(picture_batch_parse(&batch, &feature, 1, false, RECMAP_PARSE_RAISE),
                     RECMAP_INVALID);
}

enum { PICTURE_SIZE = 4 * 6 * 3 };

static const recmap_image small = {.version = RECMAP_IMAGE_VERSION, .height = 4, .width = 6};

static recmap_feature list_feature(const char *name, recmap_feature_kind kind) {
    recmap_feature feature = image_feature(name, &small);
    feature.kind = kind;
    return feature;
}

/* Counts the questions, and answers one of them with "stop". */
struct questions {
    size_t count;
    size_t stop;
};

static int answer(void *context) {
    struct questions *questions = context;
    return questions->count++ == questions->stop;
}

static recmap_status parse_and_ask(struct questions *questions, const recmap_feature *feature) {
    struct interrupt interrupt = {.function = answer, .context = questions};
    columns_set_interrupt(batch.columns, &interrupt);
    recmap_status status = picture_batch_parse(&batch, feature, 1, false, RECMAP_PARSE_RAISE);
    columns_set_interrupt(batch.columns, NULL);
    return status;
}

/* A record of many large pictures takes seconds: Ctrl-C must not wait for its end. */
static void test_the_interrupt_is_asked_between_the_pictures_of_a_record(void **state) {
    (void)state;
    enum { COUNT = 8 };
    const recmap_feature feature = list_feature("any", RECMAP_FEATURE_VAR_LEN);
    struct picture_record record = {.number_count = 0};
    for (size_t i = 0; i < COUNT; i++) record.pictures[i] = "rgb.png";
    picture_batch_add(&batch, &record, false);
    assert_int_equal(picture_batch_parse(&batch, &feature, 1, false, RECMAP_PARSE_RAISE),
                     RECMAP_OK);
    struct questions all = {.stop = SIZE_MAX};
    assert_int_equal(parse_and_ask(&all, &feature), RECMAP_OK);
    assert_true(all.count >= COUNT);
    for (size_t i = 0; i < all.count; i++) {
        struct questions questions = {.stop = i};
        assert_int_equal(parse_and_ask(&questions, &feature), RECMAP_CANCELLED);
        assert_int_equal(questions.count, i + 1);
    }
}

/* The values of both kinds are the pictures in order; a value without bytes is zeros. */
static void test_lists_of_pictures(void **state) {
    (void)state;
    static const uint64_t two[] = {2};
    static const uint8_t zeros[PICTURE_SIZE];
    recmap_feature features[] = {list_feature("any", RECMAP_FEATURE_VAR_LEN),
                                 list_feature("two", RECMAP_FEATURE_FIXED_LEN)};
    features[1].shape = two;
    features[1].dimension_count = 1;
    picture_batch_add(&batch, &(struct picture_record){.pictures = {"rgb.png", "gray.jpg"}}, false);
    picture_batch_add(&batch, &(struct picture_record){.pictures = {"", "rgb.png"}}, false);
    assert_int_equal(picture_batch_parse(&batch, features, 2, false, RECMAP_PARSE_RAISE),
                     RECMAP_OK);
    const recmap_column *any = recmap_columns_get(batch.columns, 0);
    const recmap_column *both = recmap_columns_get(batch.columns, 1);
    assert_memory_equal(any->shape, ((uint64_t[]){4, 4, 6, 3}), 4 * sizeof(uint64_t));
    assert_memory_equal(any->offsets[0], ((int64_t[]){0, 2, 4}), 3 * sizeof(int64_t));
    assert_memory_equal(both->shape, ((uint64_t[]){2, 2, 4, 6, 3}), 5 * sizeof(uint64_t));
    assert_memory_equal(any->values, both->values, 4 * PICTURE_SIZE);
    const uint8_t *pixels = any->values;
    assert_memory_equal(pixels + 2 * PICTURE_SIZE, zeros, PICTURE_SIZE);
    assert_memory_equal(pixels + 3 * PICTURE_SIZE, pixels, PICTURE_SIZE);
    assert_memory_not_equal(pixels + PICTURE_SIZE, pixels, PICTURE_SIZE);
}

static void test_steps_of_pictures_are_padded(void **state) {
    (void)state;
    static const uint8_t zeros[PICTURE_SIZE];
    recmap_feature feature = list_feature("image", RECMAP_FEATURE_FIXED_LEN_SEQUENCE);
    picture_batch_add(&batch, &(struct picture_record){.pictures = {"rgb.png"}}, true);
    picture_batch_add(&batch, &(struct picture_record){.pictures = {"rgb.png", "gray.jpg"}}, true);
    assert_int_equal(picture_batch_parse(&batch, &feature, 1, true, RECMAP_PARSE_RAISE), RECMAP_OK);
    const recmap_column *column = recmap_columns_get(batch.columns, 0);
    const uint8_t *pixels = column->values;
    assert_memory_equal(column->shape, ((uint64_t[]){2, 2, 4, 6, 3}), 5 * sizeof(uint64_t));
    assert_memory_equal(column->lengths, ((int64_t[]){1, 2}), 2 * sizeof(int64_t));
    assert_memory_equal(pixels + PICTURE_SIZE, zeros, PICTURE_SIZE);
    assert_memory_equal(pixels + 2 * PICTURE_SIZE, pixels, PICTURE_SIZE);
    feature.max_length = 1;
    assert_int_equal(picture_batch_parse(&batch, &feature, 1, true, RECMAP_PARSE_RAISE), RECMAP_OK);
    column = recmap_columns_get(batch.columns, 0);
    assert_memory_equal(column->shape, ((uint64_t[]){2, 1, 4, 6, 3}), 5 * sizeof(uint64_t));
}

static void test_impossible_lists_of_pictures_are_refused(void **state) {
    (void)state;
    const recmap_image whole = {.version = RECMAP_IMAGE_VERSION};
    const recmap_feature_kind kinds[] = {RECMAP_FEATURE_RAGGED, RECMAP_FEATURE_SPARSE,
                                         RECMAP_FEATURE_SLICED, RECMAP_FEATURE_VAR_LEN};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const recmap_feature feature = list_feature("image", kinds[i]);
        assert_int_equal(picture_batch_parse(&batch, &feature, 1, true, RECMAP_PARSE_RAISE),
                         RECMAP_INVALID);
    }
    recmap_feature feature = list_feature("image", RECMAP_FEATURE_VAR_LEN);
    feature.image = &whole;
    assert_int_equal(picture_batch_parse(&batch, &feature, 1, false, RECMAP_PARSE_RAISE),
                     RECMAP_INVALID);
}

/* Their pixels together would not fit, although each picture does. */
static void test_a_list_of_too_many_pixels_is_refused(void **state) {
    (void)state;
    recmap_image image = small;
    image.max_pixels = 96 * 64;
    image.height = image.width = 64;
    recmap_feature feature = list_feature("image", RECMAP_FEATURE_VAR_LEN);
    feature.image = &image;
    picture_batch_add(&batch, &(struct picture_record){.pictures = {"rgb.png", "rgb.png"}}, false);
    assert_int_equal(picture_batch_parse(&batch, &feature, 1, false, RECMAP_PARSE_RAISE),
                     RECMAP_FEATURE);
    assert_non_null(strstr(batch.error.message, "2 pictures of 4096 pixels"));
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_channels_first_shows_the_same_memory),
        TEST(test_tensors_have_the_strides_of_channels_first),
        TEST(test_an_unknown_layout_is_refused),
        TEST(test_columns_of_the_same_pixels_are_refused),
        TEST(test_pictures_keep_their_sizes),
        TEST(test_a_large_picture_without_a_size_is_refused),
        TEST(test_only_images_with_a_size_have_defaults_and_layouts),
        TEST(test_the_interrupt_is_asked_between_the_pictures_of_a_record),
        TEST(test_lists_of_pictures),
        TEST(test_steps_of_pictures_are_padded),
        TEST(test_impossible_lists_of_pictures_are_refused),
        TEST(test_a_list_of_too_many_pixels_is_refused),
        TEST(test_boxes_move_with_the_pixels),
        TEST(test_boxes_of_different_counts_are_refused),
        TEST(test_coordinates_that_are_not_finite_are_refused),
        TEST(test_impossible_boxes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
