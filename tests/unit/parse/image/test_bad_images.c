/* Damaged and hostile pictures are refused, with words that say what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/image.h>

#include "picture_file.h"
#include "support/random.h"
#include "support/rounds.h"

#include <cmocka.h>

enum { PIXELS_SIZE = 1 << 16 };

static const recmap_image small = {
    .version = RECMAP_IMAGE_VERSION, .height = 16, .width = 16, .max_pixels = 1 << 16};

static recmap_status decode(uint8_t *pixels, const void *data, size_t size, recmap_error *error) {
    *error = (recmap_error)RECMAP_ERROR_INIT;
    return recmap_image_decode(pixels, PIXELS_SIZE, &small, data, size, NULL, error);
}

/* A picture that is cut anywhere is an error, or gives the same pixels if only bytes are missing
 * that no pixel needs. */
static void test_a_cut_picture_is_an_error_or_complete(void **state) {
    (void)state;
    static uint8_t whole[PIXELS_SIZE], pixels[PIXELS_SIZE];
    recmap_error error;
    for (size_t i = 0; picture_names[i]; i++) {
        struct picture_file file = picture_load(picture_names[i]);
        size_t refused = 0;
        assert_int_equal(decode(whole, file.data, file.size, &error), RECMAP_OK);
        for (size_t size = 0; size < file.size; size++) {
            uint8_t *copy = malloc(size + 1); /* so that a sanitizer sees reads past the end */
            assert_non_null(copy);
            uint8_t *exact = realloc(copy, size ? size : 1);
            memcpy(exact, file.data, size);
            recmap_status status = decode(pixels, exact, size, &error);
            if (status == RECMAP_OK) assert_memory_equal(pixels, whole, 16 * 16 * 3);
            else assert_true(status == RECMAP_FEATURE || status == RECMAP_UNSUPPORTED);
            if (status != RECMAP_OK) assert_true(error.message[0]);
            refused += status != RECMAP_OK;
            free(exact);
        }
        assert_true(refused > file.size / 2);
        picture_deinit(&file);
    }
}

static void test_mutated_pictures_are_decoded_or_refused(void **state) {
    (void)state;
    static uint8_t pixels[PIXELS_SIZE];
    struct rng random = {42};
    recmap_error error;
    for (size_t i = 0; picture_names[i]; i++) {
        struct picture_file file = picture_load(picture_names[i]);
        for (unsigned round = 0; round < some_rounds(1400); round++) {
            uint8_t *copy = malloc(file.size);
            assert_non_null(copy);
            memcpy(copy, file.data, file.size);
            for (uint64_t n = 1 + rng_below(&random, 8); n-- > 0;)
                copy[rng_below(&random, file.size)] = (uint8_t)rng_below(&random, 256);
            recmap_status status = decode(pixels, copy, file.size, &error);
            assert_true(status == RECMAP_OK || status == RECMAP_FEATURE ||
                        status == RECMAP_UNSUPPORTED);
            free(copy);
        }
        picture_deinit(&file);
    }
}

static void expect_refusal(const void *data, size_t size, recmap_status status, const char *text) {
    static uint8_t pixels[PIXELS_SIZE];
    recmap_error error;
    assert_int_equal(decode(pixels, data, size, &error), status);
    if (!strstr(error.message, text)) fail_msg("%s: not about %s", error.message, text);
}

/* The size of the frame is patched: 20,000 x 20,000 pixels, which libjpeg would make room for. */
static void test_too_many_pixels_are_refused_before_decoding(void **state) {
    (void)state;
    struct picture_file file = picture_load("progressive.jpg");
    uint8_t *frame = memchr(file.data, 0xff, file.size);
    while (frame[1] != 0xc2) frame = memchr(frame + 1, 0xff, file.size);
    memcpy(frame + 5, "\x4e\x20\x4e\x20", 4);
    expect_refusal(file.data, file.size, RECMAP_FEATURE, "20000 x 20000 pixels");
    picture_deinit(&file);
}

/* Some versions of libjpeg-turbo decode lossless JPEG, but not parts of it. */
static void test_lossless_and_hierarchical_frames_are_refused(void **state) {
    (void)state;
    static uint8_t pixels[PIXELS_SIZE];
    struct picture_file file = picture_load("plain-444.jpg");
    recmap_error error;
    uint8_t *frame = memchr(file.data, 0xff, file.size);
    while (frame[1] != 0xc0) frame = memchr(frame + 1, 0xff, file.size);
    for (unsigned type = 0; type < 16; type++) {
        if (type == 4 || type == 8 || type == 12) continue; /* other segments */
        bool is_known = type < 3 || type == 9 || type == 10;
        frame[1] = (uint8_t)(0xc0 + type);
        recmap_status status = decode(pixels, file.data, file.size, &error);
        if (!is_known) assert_int_equal(status, RECMAP_FEATURE);
        bool is_refused = status && strstr(error.message, "lossless or hierarchical (SOF");
        if (is_refused == is_known) fail_msg("SOF%u: %s", type, error.message);
    }
    picture_deinit(&file);
}

/* The last scan again and again. */
static void test_repeated_scans_are_refused_before_decoding(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    struct picture_file file = picture_load("progressive.jpg");
    size_t scan = file.size - 2;
    while (file.data[scan] != 0xff || file.data[scan + 1] != 0xda) scan--;
    size_t scan_size = file.size - 2 - scan;
    uint8_t *bomb = malloc(file.size + COUNT * scan_size);
    assert_non_null(bomb);
    memcpy(bomb, file.data, file.size - 2);
    size_t size = file.size - 2;
    for (int i = 0; i < COUNT; i++, size += scan_size)
        memcpy(bomb + size, file.data + scan, scan_size);
    expect_refusal(bomb, size, RECMAP_FEATURE, "scans");
    free(bomb);
    picture_deinit(&file);
}

static void test_other_formats_are_named(void **state) {
    (void)state;
    static const struct {
        const char bytes[16], *name;
    } others[] = {{"GIF89a\1\0\1\0", "GIF"},
                  {"BM123456", "BMP"},
                  {"II*\0abcd", "TIFF"},
                  {"<!DOCTYPE html>", "HTML"},
                  {"qoif\0\0\0\1", "QOI"},
                  {"\xff\x0a jxl", "JPEG XL"},
                  {"some text", "not a JPEG, PNG or WebP"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        expect_refusal(others[i].bytes, 16, RECMAP_UNSUPPORTED, others[i].name);
    expect_refusal("", 0, RECMAP_FEATURE, "empty");
}

/* 16-bit gray is depth or a label more often than light. */
static void test_wide_gray_does_not_become_8_bits(void **state) {
    (void)state;
    struct picture_file file = picture_load("gray-16.png");
    expect_refusal(file.data, file.size, RECMAP_FEATURE, "16 bits");
    recmap_image image = {.version = RECMAP_IMAGE_VERSION,
                          .mode = RECMAP_IMAGE_GRAY,
                          .element = RECMAP_ELEMENT_UINT16};
    static uint16_t pixels[64 * 96];
    assert_int_equal(
        recmap_image_decode(pixels, sizeof pixels, &image, file.data, file.size, NULL, NULL),
        RECMAP_OK);
    for (uint16_t i = 0; i < 64 * 96; i++) assert_int_equal(pixels[i], (uint16_t)(i * 10));
    picture_deinit(&file);
}

static void test_an_exact_picture_is_not_scaled(void **state) {
    (void)state;
    static uint8_t whole[64 * 96 * 3], exact[64 * 96 * 3];
    struct picture_file file = picture_load("plain-444.jpg");
    recmap_image image = {.version = RECMAP_IMAGE_VERSION, .height = 64, .width = 96};
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(
        recmap_image_decode(whole, sizeof whole, &image, file.data, file.size, NULL, &error),
        RECMAP_OK);
    image.crop = RECMAP_CROP_EXACT;
    assert_int_equal(
        recmap_image_decode(exact, sizeof exact, &image, file.data, file.size, NULL, &error),
        RECMAP_OK);
    assert_memory_equal(exact, whole, sizeof whole);
    for (int side = 0; side < 2; side++) {
        image.height = side ? 64 : 63;
        image.width = side ? 95 : 96;
        assert_int_equal(
            recmap_image_decode(exact, sizeof exact, &image, file.data, file.size, NULL, &error),
            RECMAP_FEATURE);
        assert_string_equal(error.message,
                            side ? "the picture has 64 x 96 pixels, not 64 x 95 as described"
                                 : "the picture has 64 x 96 pixels, not 63 x 96 as described");
    }
    picture_deinit(&file);
}

static void test_impossible_descriptions_are_refused(void **state) {
    (void)state;
    static const double zero[3] = {0, 0, 0};
    const recmap_image images[] = {
        {.version = 0, .height = 1, .width = 1},
        {.version = 1, .height = 1},
        {.version = 1, .height = 70000, .width = 1},
        {.version = 1, .crop = RECMAP_CROP_CENTER},
        {.version = 1, .crop = RECMAP_CROP_EXACT},
        {.version = 1, .height = 300, .width = 300, .crop = RECMAP_CROP_CENTER},
        {.version = 1, .height = 1, .width = 1, .flip = 1.5},
        {.version = 1, .height = 1, .width = 1, .scale = {0.5, 0.1}},
        {.version = 1, .height = 1, .width = 1, .element = RECMAP_ELEMENT_INT64},
        {.version = 1, .height = 1, .width = 1, .mean = zero},
        {.version = 1, .height = 1, .width = 1, .element = RECMAP_ELEMENT_FLOAT32, .std = zero},
        {.version = 1, .height = 1, .width = 1, .flip = 0.5}, /* without a draw */
    };
    struct picture_file file = picture_load("gray.jpg");
    uint8_t pixels[64];
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        assert_int_equal(recmap_image_decode(pixels, sizeof pixels, &images[i], file.data,
                                             file.size, NULL, &error),
                         RECMAP_INVALID);
        assert_true(error.message[0]);
    }
    picture_deinit(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cut_picture_is_an_error_or_complete),
        cmocka_unit_test(test_mutated_pictures_are_decoded_or_refused),
        cmocka_unit_test(test_too_many_pixels_are_refused_before_decoding),
        cmocka_unit_test(test_lossless_and_hierarchical_frames_are_refused),
        cmocka_unit_test(test_repeated_scans_are_refused_before_decoding),
        cmocka_unit_test(test_other_formats_are_named),
        cmocka_unit_test(test_wide_gray_does_not_become_8_bits),
        cmocka_unit_test(test_an_exact_picture_is_not_scaled),
        cmocka_unit_test(test_impossible_descriptions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
