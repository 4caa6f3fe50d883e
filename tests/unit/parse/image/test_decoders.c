/* Decoders of a program: they give the same pixels as recmap's own, and what they do wrong is an
 * error that names them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/image.h>

#include "picture_file.h"

#include <cmocka.h>

enum { PIXELS_SIZE = 1 << 18 };

/* Samples without compression. Its bytes are a signature, then samples in memory of exactly their
 * size, so that a sanitizer sees reads past their end. */
struct plain {
    recmap_image_info info; /* what is described */
    const uint8_t *samples;
    size_t row_size;
    uint32_t rows[8]; /* that are given instead of the wanted ones, up to UINT32_MAX */
    bool has_own_rows;
    bool ignores_refusals;
    const recmap_image_info *begun;
    recmap_status described, decoded;
    unsigned decode_count;
    const char *reason;
};

static int recognizes(const uint8_t *data, size_t size, void *context) {
    return context && size >= 4 && !memcmp(data, "abcd", 4);
}

static recmap_status describe(recmap_image_info *info, const uint8_t *data, size_t size,
                              void *context) {
    const struct plain *plain = context;
    (void)data, (void)size;
    assert_int_equal(info->depth, 8);
    assert_int_equal(info->orientation, 1);
    *info = plain->info;
    return plain->described;
}

static recmap_status decode(recmap_image_rows *rows, const recmap_region *wanted,
                            const uint8_t *data, size_t size, void *context) {
    struct plain *plain = context;
    (void)data, (void)size;
    plain->decode_count++;
    if (plain->begun && recmap_image_rows_begin(rows, plain->begun) && !plain->ignores_refusals)
        return RECMAP_FEATURE;
    uint32_t first = plain->has_own_rows ? 0 : wanted->y;
    uint32_t count = plain->has_own_rows ? 8 : wanted->height;
    for (uint32_t i = first; i < first + count; i++) {
        uint32_t y = plain->has_own_rows ? plain->rows[i] : i;
        if (y == UINT32_MAX) break;
        const uint8_t *row = plain->samples ? plain->samples + y * plain->row_size : NULL;
        int refused = recmap_image_rows_put(rows, y, row);
        if (refused && !plain->ignores_refusals) return (recmap_status)refused;
    }
    if (plain->reason) return (recmap_status)recmap_image_rows_fail(rows, plain->reason);
    return plain->decoded;
}

static recmap_image_decoder decoder_of(struct plain *plain) {
    return (recmap_image_decoder){.version = RECMAP_IMAGE_DECODER_VERSION,
                                  .name = "plain",
                                  .recognizes = recognizes,
                                  .describe = describe,
                                  .decode = decode,
                                  .context = plain};
}

static recmap_status decode_plain(void *pixels, recmap_image image, struct plain *plain,
                                  recmap_error *error) {
    const recmap_image_draw draw = {1, 2, 3, RECMAP_NO_RECORD};
    const recmap_image_decoder list[] = {decoder_of(NULL), decoder_of(plain)};
    image.version = RECMAP_IMAGE_VERSION;
    image.decoders = list;
    image.decoder_count = 2;
    *error = (recmap_error)RECMAP_ERROR_INIT;
    return recmap_image_decode(pixels, PIXELS_SIZE, &image, "abcd", 4, &draw, error);
}

static const recmap_image variants[] = {
    {.height = 0},
    {.height = 20, .width = 31, .crop = RECMAP_CROP_RANDOM_RESIZED, .flip = 1},
    {.height = 17, .width = 9, .interpolation = RECMAP_BICUBIC, .mode = RECMAP_IMAGE_RGBA},
    {.height = 12, .width = 12, .crop = RECMAP_CROP_RANDOM, .mode = RECMAP_IMAGE_GRAY},
    {.height = 16, .width = 16, .crop = RECMAP_CROP_CENTER, .resize = 20, .flip = 0.5},
};

/* `whole` says how the picture is decoded into the samples of the plain one. */
static void expect_same_pixels(const char *name, recmap_image whole, const char *mode,
                               unsigned orientation) {
    struct picture_file file = picture_load(name);
    static uint8_t expected[PIXELS_SIZE], pixels[PIXELS_SIZE];
    struct plain plain = {.info = {.mode = mode, .depth = 8, .orientation = orientation}};
    recmap_error error = RECMAP_ERROR_INIT;
    uint32_t height, width;
    if (whole.element == RECMAP_ELEMENT_UINT16) plain.info.depth = 16;
    whole.version = RECMAP_IMAGE_VERSION;
    assert_int_equal(recmap_image_size(&height, &width, &whole, file.data, file.size, NULL), 0);
    plain.row_size = (size_t)width * recmap_image_channels(whole.mode) * plain.info.depth / 8;
    plain.info.height = orientation < 5 ? height : width;
    plain.info.width = orientation < 5 ? width : height;
    uint8_t *samples = malloc(plain.row_size * height);
    assert_non_null(samples);
    assert_int_equal(recmap_image_decode(samples, plain.row_size * height, &whole, file.data,
                                         file.size, NULL, NULL),
                     RECMAP_OK);
    plain.samples = samples;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const recmap_image_draw draw = {1, 2, 3, RECMAP_NO_RECORD};
        recmap_image image = variants[i];
        if (whole.ignores_exif && image.mode == RECMAP_IMAGE_GRAY) continue; /* a JPEG's own luma */
        image.version = RECMAP_IMAGE_VERSION;
        image.element = whole.element;
        memset(pixels, 0, sizeof pixels);
        memset(expected, 0, sizeof expected);
        assert_int_equal(recmap_image_decode(expected, sizeof expected, &image, file.data,
                                             file.size, &draw, NULL),
                         RECMAP_OK);
        if (decode_plain(pixels, image, &plain, &error) != RECMAP_OK) fail_msg("%s", error.message);
        assert_memory_equal(pixels, expected, sizeof pixels);
    }
    free(samples);
    picture_deinit(&file);
}

static void test_the_pixels_are_those_of_a_builtin_format(void **state) {
    (void)state;
    const recmap_image rgb = {.mode = RECMAP_IMAGE_RGB}, rgba = {.mode = RECMAP_IMAGE_RGBA};
    const recmap_image gray = {.mode = RECMAP_IMAGE_GRAY};
    const recmap_image wide = {.mode = RECMAP_IMAGE_GRAY, .element = RECMAP_ELEMENT_UINT16};
    expect_same_pixels("rgb.png", rgb, "RGB", 1);
    expect_same_pixels("rgba.png", rgba, "RGBA", 1);
    expect_same_pixels("gray.png", gray, "L", 1);
    expect_same_pixels("gray-16.png", wide, "L", 1);
    for (unsigned orientation = 1; orientation <= 8; orientation++) {
        char name[] = "turned-N.jpg";
        recmap_image stored = {.ignores_exif = 1};
        name[7] = (char)('0' + orientation);
        expect_same_pixels(name, stored, "RGB", orientation);
    }
}

/* Rows of 6 x 10 pixels, of which a crop of the middle wants some. */
static uint8_t small_samples[6 * 10 * 3];
static const struct plain small = {
    .info = {.height = 6, .width = 10, .mode = "RGB", .depth = 8, .orientation = 1},
    .samples = small_samples,
    .row_size = 30};

static void expect_refusal(struct plain plain, recmap_status status, const char *text) {
    static uint8_t pixels[PIXELS_SIZE];
    recmap_error error;
    for (int ignores = 0; ignores < 2; ignores++) {
        plain.ignores_refusals = ignores;
        recmap_image image = {.height = 4, .width = 4, .max_pixels = 1000};
        assert_int_equal(decode_plain(pixels, image, &plain, &error), status);
        if (!strstr(error.message, text)) fail_msg("%s: not about %s", error.message, text);
        if (status == RECMAP_FEATURE) assert_non_null(strstr(error.message, "\"plain\""));
    }
}

static struct plain with_rows(const uint32_t rows[8]) {
    struct plain plain = small;
    memcpy(plain.rows, rows, sizeof plain.rows);
    plain.has_own_rows = true;
    return plain;
}

static void test_wrong_rows_are_refused(void **state) {
    (void)state;
    static const struct {
        uint32_t rows[8];
        const char *text;
    } cases[] = {
        {{0, 1, 2, 2, 3, 4, 5, UINT32_MAX}, "row 2 instead of row 3"}, /* twice */
        {{0, 1, 2, 4, 5, UINT32_MAX}, "row 4 instead of row 3"},       /* missing */
        {{0, 1, 3, 2, 4, 5, UINT32_MAX}, "row 3 instead of row 2"},    /* out of order */
        {{0, 1, 2, 3, 4, 5, 6, UINT32_MAX}, "row 6 of 6"},             /* too many */
        {{1000000, UINT32_MAX}, "row 1000000 of 6"},
        {{1, 2, 3, 4, 5, UINT32_MAX}, "began with row 1, but row 0"},
        {{0, 1, 2, 3, 4, UINT32_MAX}, "did not give row 5"},
        {{UINT32_MAX}, "did not give row 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refusal(with_rows(cases[i].rows), RECMAP_FEATURE, cases[i].text);
    struct plain plain = small;
    plain.samples = NULL;
    expect_refusal(plain, RECMAP_FEATURE, "without samples");
}

/* A decoder may begin early and go on past what is wanted. */
static void test_rows_around_the_wanted_ones_are_ignored(void **state) {
    (void)state;
    static uint8_t exact[PIXELS_SIZE], pixels[PIXELS_SIZE];
    const recmap_image image = {.height = 2, .width = 2, .crop = RECMAP_CROP_RANDOM};
    recmap_error error;
    for (size_t i = 0; i < sizeof small_samples; i++) small_samples[i] = (uint8_t)(i * 7);
    struct plain wanted = small, all = with_rows((uint32_t[8]){0, 1, 2, 3, 4, 5, UINT32_MAX});
    assert_int_equal(decode_plain(exact, image, &wanted, &error), RECMAP_OK);
    assert_int_equal(decode_plain(pixels, image, &all, &error), RECMAP_OK);
    assert_memory_equal(exact, pixels, sizeof pixels);
}

static void test_wrong_headers_are_refused(void **state) {
    (void)state;
    static const struct {
        recmap_image_info info;
        const char *text;
    } cases[] = {
        {{0, 0, 10, "RGB", 8, 1, {0}}, "no pixels"},
        {{0, 6, 0, "RGB", 8, 1, {0}}, "no pixels"},
        {{0, 1, UINT32_MAX, "RGB", 8, 1, {0}}, "a side"},
        {{0, 6, 10, NULL, 8, 1, {0}}, "mode"},
        {{0, 6, 10, "P", 8, 1, {0}}, "mode"},
        {{0, 6, 10, "RGB", 1, 1, {0}}, "depth"},
        {{0, 6, 10, "RGB", 8, 0, {0}}, "orientation"},
        {{0, 6, 10, "RGB", 8, 9, {0}}, "orientation"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plain plain = small;
        plain.info = cases[i].info;
        expect_refusal(plain, RECMAP_FEATURE, cases[i].text);
    }
}

static void test_too_many_pixels_are_refused_before_decoding(void **state) {
    (void)state;
    static uint8_t pixels[PIXELS_SIZE];
    recmap_error error;
    struct plain plain = small;
    plain.info.height = plain.info.width = 2000000000;
    const recmap_image image = {.height = 4, .width = 4};
    assert_int_equal(decode_plain(pixels, image, &plain, &error), RECMAP_FEATURE);
    assert_non_null(strstr(error.message, "2000000000 x 2000000000 pixels"));
    plain = small;
    plain.info.depth = 16, plain.info.mode = "L"; /* not reduced to 8 bits */
    assert_int_equal(decode_plain(pixels, image, &plain, &error), RECMAP_FEATURE);
    assert_non_null(strstr(error.message, "16 bits"));
    assert_int_equal(plain.decode_count, 0);
}

/* A decoder that finds another header than was described does not get to give rows of its size. */
static void test_another_header_in_decode_is_refused(void **state) {
    (void)state;
    static uint8_t pixels[PIXELS_SIZE];
    recmap_error error;
    struct plain plain = small;
    plain.begun = &plain.info;
    const recmap_image image = {.height = 4, .width = 4};
    assert_int_equal(decode_plain(pixels, image, &plain, &error), RECMAP_OK);
    static const recmap_image_info others[] = {
        {0, 6, 9, "RGB", 8, 1, {0}},   {0, 5, 10, "RGB", 8, 1, {0}},
        {0, 10, 6, "RGB", 8, 1, {0}},  {0, 6, 10, "RGB", 8, 6, {0}},
        {0, 6, 10, "RGBA", 8, 1, {0}}, {0, 6, 10, "RGB", 16, 1, {0}},
        {0, 6, 10, NULL, 8, 1, {0}},   {0, 1u << 31, 1, "L", 8, 1, {0}},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        plain.begun = &others[i];
        expect_refusal(plain, RECMAP_FEATURE, "it was described as 6 x 10 RGB of 8 bits, but");
    }
}

static void test_a_status_of_the_decoder_is_an_error(void **state) {
    (void)state;
    struct plain plain = small;
    plain.described = RECMAP_FEATURE;
    expect_refusal(plain, RECMAP_FEATURE, "its header is damaged");
    plain.described = RECMAP_IO;
    expect_refusal(plain, RECMAP_FEATURE, "input/output error");
    plain.described = RECMAP_NO_MEMORY;
    expect_refusal(plain, RECMAP_NO_MEMORY, "memory");
    plain.described = RECMAP_OK;
    plain.decoded = RECMAP_FEATURE;
    expect_refusal(plain, RECMAP_FEATURE, "it is damaged");
    plain.decoded = (recmap_status)-77;
    expect_refusal(plain, RECMAP_FEATURE, "the status -77");
    plain.decoded = RECMAP_NO_MEMORY;
    expect_refusal(plain, RECMAP_NO_MEMORY, "memory");
    plain.decoded = RECMAP_OK;
    plain.reason = "the tiles\nare crooked";
    expect_refusal(plain, RECMAP_FEATURE, "the tiles are crooked at row 6 of 6");
    plain.reason = "";
    expect_refusal(plain, RECMAP_FEATURE, "it is damaged");
}

/* Decoders are asked before recmap's own formats, in order; without one that knows the bytes, these
 * are decoded as usual. */
static void test_decoders_are_asked_in_order(void **state) {
    (void)state;
    static uint8_t pixels[PIXELS_SIZE], usual[PIXELS_SIZE];
    struct picture_file file = picture_load("rgb.png");
    struct plain first = small, second = small;
    recmap_image_decoder list[] = {decoder_of(&first), decoder_of(&second)};
    recmap_image image = {.version = RECMAP_IMAGE_VERSION, .height = 4, .width = 4};
    assert_int_equal(
        recmap_image_decode(usual, sizeof usual, &image, file.data, file.size, NULL, NULL), 0);
    image.decoders = list, image.decoder_count = 2;
    assert_int_equal(
        recmap_image_decode(pixels, sizeof pixels, &image, file.data, file.size, NULL, NULL), 0);
    assert_memory_equal(pixels, usual, sizeof pixels);
    assert_int_equal(first.decode_count + second.decode_count, 0);
    memcpy(file.data, "abcd", 4);
    assert_int_equal(
        recmap_image_decode(pixels, sizeof pixels, &image, file.data, file.size, NULL, NULL), 0);
    assert_int_equal(first.decode_count, 1);
    assert_int_equal(second.decode_count, 0);
    picture_deinit(&file);
}

/* As headers of recmap's own formats are; a small copy is made of what it decodes. */
static void test_headers_of_decoders_are_described(void **state) {
    (void)state;
    struct plain plain = small;
    recmap_image_decoder list[] = {decoder_of(NULL), decoder_of(&plain)};
    recmap_image_info info;
    recmap_text png = RECMAP_TEXT_INIT;
    plain.info.orientation = 6;
    assert_int_equal(recmap_image_describe_with(&info, "abcd", 4, list, 2, NULL), RECMAP_OK);
    assert_int_equal(info.format, RECMAP_IMAGE_CUSTOM);
    assert_int_equal(info.height, 6);
    assert_int_equal(info.width, 10);
    assert_int_equal(info.orientation, 6);
    assert_int_equal(recmap_image_describe_with(&info, "abcd", 4, list, 1, NULL),
                     RECMAP_UNSUPPORTED);
    plain.info.orientation = 1;
    assert_int_equal(recmap_image_thumbnail(&png, "abcd", 4, 5, list, 2, NULL), RECMAP_OK);
    assert_int_equal(recmap_image_describe(&info, png.data, png.size, NULL), RECMAP_OK);
    assert_int_equal(info.height, 3);
    assert_int_equal(info.width, 5);
    recmap_text_deinit(&png);
    list[1].name = NULL;
    assert_int_equal(recmap_image_describe_with(&info, "abcd", 4, list, 2, NULL), RECMAP_INVALID);
}

static void test_incomplete_decoders_are_refused(void **state) {
    (void)state;
    struct plain plain = small;
    const recmap_image_decoder good = decoder_of(&plain);
    recmap_image_decoder bad[6] = {good, good, good, good, good, good};
    char long_name[65] = "";
    uint8_t pixels[64];
    memset(long_name, 'x', 64);
    bad[0].name = NULL;
    bad[1].name = long_name;
    bad[2].recognizes = NULL;
    bad[3].describe = NULL;
    bad[4].decode = NULL;
    bad[5].version++;
    for (size_t i = 0; i < 7; i++) {
        const recmap_image_decoder list[] = {good, bad[i % 6]};
        const recmap_image image = {
            .version = RECMAP_IMAGE_VERSION, .decoders = i < 6 ? list : NULL, .decoder_count = 2};
        recmap_error error = RECMAP_ERROR_INIT;
        assert_int_equal(
            recmap_image_decode(pixels, sizeof pixels, &image, "abcd", 4, NULL, &error),
            RECMAP_INVALID);
        assert_non_null(strstr(error.message, "decoder"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_pixels_are_those_of_a_builtin_format),
        cmocka_unit_test(test_wrong_rows_are_refused),
        cmocka_unit_test(test_rows_around_the_wanted_ones_are_ignored),
        cmocka_unit_test(test_wrong_headers_are_refused),
        cmocka_unit_test(test_too_many_pixels_are_refused_before_decoding),
        cmocka_unit_test(test_another_header_in_decode_is_refused),
        cmocka_unit_test(test_a_status_of_the_decoder_is_an_error),
        cmocka_unit_test(test_decoders_are_asked_in_order),
        cmocka_unit_test(test_headers_of_decoders_are_described),
        cmocka_unit_test(test_incomplete_decoders_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
