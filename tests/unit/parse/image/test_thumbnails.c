/* Thumbnails are PNG files of the pixels that a decoder gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/image.h>

#include "picture_file.h"

#include <cmocka.h>

enum { SIDE = 24, PIXELS_SIZE = SIDE * SIDE * 4 };

static recmap_image_info describe(const void *data, size_t size) {
    recmap_image_info info;
    assert_int_equal(recmap_image_describe(&info, data, size, NULL), RECMAP_OK);
    return info;
}

static void decode(uint8_t *pixels, const void *data, size_t size, uint32_t height,
                   uint32_t width) {
    recmap_image image = {.version = RECMAP_IMAGE_VERSION, .height = height, .width = width};
    image.mode = RECMAP_IMAGE_RGBA;
    memset(pixels, 0, PIXELS_SIZE);
    assert_int_equal(recmap_image_decode(pixels, PIXELS_SIZE, &image, data, size, NULL, NULL),
                     RECMAP_OK);
}

static recmap_text thumbnail(const struct picture_file *file, uint32_t side) {
    recmap_text png = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    if (recmap_image_thumbnail(&png, file->data, file->size, side, NULL, 0, &error) != RECMAP_OK)
        fail_msg("%s", error.message);
    return png;
}

/* The longest side has the wanted length, and the pixels are those of the picture itself. */
static void test_a_thumbnail_has_the_pixels_of_the_picture(void **state) {
    (void)state;
    static uint8_t expected[PIXELS_SIZE], found[PIXELS_SIZE];
    for (size_t i = 0; picture_names[i]; i++) {
        struct picture_file file = picture_load(picture_names[i]);
        recmap_text png = thumbnail(&file, SIDE);
        recmap_image_info whole = describe(file.data, file.size);
        recmap_image_info small = describe(png.data, png.size);
        assert_int_equal(small.format, RECMAP_IMAGE_PNG);
        assert_int_equal(small.height > small.width ? small.height : small.width, SIDE);
        assert_int_equal(small.height > small.width, whole.height > whole.width);
        decode(expected, file.data, file.size, small.height, small.width);
        decode(found, png.data, png.size, small.height, small.width);
        assert_memory_equal(found, expected, PIXELS_SIZE);
        recmap_text_deinit(&png);
        picture_deinit(&file);
    }
}

static void test_modes_are_kept(void **state) {
    (void)state;
    static const char *const modes[][2] = {{"gray.png", "L"},        {"rgb.png", "RGB"},
                                           {"rgba.png", "RGBA"},     {"palette.png", "RGBA"},
                                           {"cmyk.jpg", "RGB"},      {"gray-16.png", "L"},
                                           {"lossless.webp", "RGBA"}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct picture_file file = picture_load(modes[i][0]);
        recmap_text png = thumbnail(&file, SIDE);
        assert_string_equal(describe(png.data, png.size).mode, modes[i][1]);
        recmap_text_deinit(&png);
        picture_deinit(&file);
    }
}

static void test_small_pictures_are_not_enlarged(void **state) {
    (void)state;
    struct picture_file file = picture_load("rgb.png");
    recmap_text png = thumbnail(&file, 60000);
    recmap_image_info whole = describe(file.data, file.size);
    recmap_image_info info = describe(png.data, png.size);
    assert_int_equal(info.height, whole.height);
    assert_int_equal(info.width, whole.width);
    recmap_text_deinit(&png);
    png = thumbnail(&file, 1);
    assert_int_equal(describe(png.data, png.size).width, 1);
    recmap_text_deinit(&png);
    picture_deinit(&file);
}

/* The least value is black, and the greatest white. */
static void test_wide_gray_is_stretched(void **state) {
    (void)state;
    static uint8_t pixels[PIXELS_SIZE];
    struct picture_file file = picture_load("gray-16.png");
    recmap_text png = thumbnail(&file, SIDE);
    recmap_image_info info = describe(png.data, png.size);
    uint8_t min = UINT8_MAX, max = 0;
    decode(pixels, png.data, png.size, info.height, info.width);
    for (size_t i = 0; i < (size_t)info.height * info.width; i++) {
        if (pixels[4 * i] < min) min = pixels[4 * i];
        if (pixels[4 * i] > max) max = pixels[4 * i];
    }
    assert_int_equal(min, 0);
    assert_int_equal(max, 255);
    recmap_text_deinit(&png);
    picture_deinit(&file);
}

/* The text is as it was. */
static void test_bad_pictures_append_nothing(void **state) {
    (void)state;
    struct picture_file file = picture_load("plain-420.jpg");
    recmap_text png = thumbnail(&file, SIDE);
    const size_t size = png.size;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_image_thumbnail(&png, file.data, 1500, SIDE, NULL, 0, &error),
                     RECMAP_FEATURE);
    assert_non_null(strstr(error.message, "the JPEG ends at row 16 of 64"));
    assert_int_equal(recmap_image_thumbnail(&png, "GIF89a", 6, SIDE, NULL, 0, &error),
                     RECMAP_UNSUPPORTED);
    assert_int_equal(recmap_image_thumbnail(&png, file.data, file.size, 0, NULL, 0, &error),
                     RECMAP_INVALID);
    assert_int_equal(recmap_image_to_png(&png, file.data, 0, 3, RECMAP_IMAGE_RGB, &error),
                     RECMAP_INVALID);
    assert_int_equal(png.size, size);
    recmap_text_deinit(&png);
    picture_deinit(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thumbnail_has_the_pixels_of_the_picture),
        cmocka_unit_test(test_modes_are_kept),
        cmocka_unit_test(test_small_pictures_are_not_enlarged),
        cmocka_unit_test(test_wide_gray_is_stretched),
        cmocka_unit_test(test_bad_pictures_append_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
