/* The test vectors of docs/formats/images.md, on each path of the resize. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/image.h>
#include <zlib.h>

#include "base/permutation/random.h"
#include "parse/image/draw.h"
#include "parse/image/filter.h"
#include "parse/image/image.h"
#include "parse/image/rectangle.h"
#include "picture_file.h"
#include "support/vector_file.h"

#include <cmocka.h>

static bool is_case(const struct vector_case *vector, const char *prefix) {
    return strncmp(vector_title(vector), prefix, strlen(prefix)) == 0;
}

static void read_doubles(double numbers[2], const char *text) {
    char *rest;
    numbers[0] = strtod(text, &rest);
    numbers[1] = strtod(rest, NULL);
}

static void check_rectangle(const struct vector_case *vector) {
    const char *name = vector_text(vector, "draw");
    recmap_image_draw draw = {vector_number(vector, "seed"), vector_number(vector, "epoch"),
                              vector_number(vector, "number"), vector_number(vector, "position")};
    uint64_t state = draw_state(&draw, draw_stream(strcmp(name, "-") ? name : ""));
    double scale[2], ratio[2];
    size_t count;
    read_doubles(scale, vector_text(vector, "scale"));
    read_doubles(ratio, vector_text(vector, "ratio"));
    struct box box = random_resized_box((uint32_t)vector_number(vector, "width"),
                                        (uint32_t)vector_number(vector, "height"), scale, ratio,
                                        state);
    uint64_t *expected = vector_numbers(vector, "box", &count);
    assert_int_equal(count, 4);
    assert_int_equal(box.x, expected[0]);
    assert_int_equal(box.y, expected[1]);
    assert_int_equal(box.width, expected[2]);
    assert_int_equal(box.height, expected[3]);
    bool flips = draw_unit(random_word(state, DRAW_WORD_FLIP)) < 0.5;
    assert_int_equal(flips, vector_number(vector, "flip"));
    free(expected);
}

static void check_seeds(const struct vector_case *vector) {
    const char *name = vector_text(vector, "name");
    recmap_image_draw draw = {vector_number(vector, "seed"), vector_number(vector, "epoch"),
                              vector_number(vector, "number"), vector_number(vector, "position")};
    assert_int_equal(draw_seed(&draw, strcmp(name, "-") ? name : NULL),
                     vector_number(vector, "word"));
}

static recmap_interpolation interpolation_of(const struct vector_case *vector) {
    const char *name = vector_text(vector, "interpolation");
    if (!strcmp(name, "bicubic")) return RECMAP_BICUBIC;
    return strcmp(name, "nearest") ? RECMAP_BILINEAR : RECMAP_NEAREST;
}

/* The checksum is of lines "SOURCE WEIGHT", the last one without its end. */
static void check_filter(const struct vector_case *vector) {
    struct filter filter = {.count = 0};
    uint32_t size = (uint32_t)vector_number(vector, "size");
    uint32_t scaled = (uint32_t)vector_number(vector, "scaled");
    struct side side = {.size = size, .scaled = scaled, .count = scaled};
    assert_true(
        filter_make(&filter, &side, interpolation_of(vector), vector_number(vector, "antialias")));
    uLong crc = crc32(0, NULL, 0);
    uint64_t entries = 0;
    for (uint32_t i = 0; i < filter.count; i++)
        for (uint32_t t = 0; t < filter.taps[i]; t++) {
            char line[32];
            int weight = filter.weights[(size_t)i * filter.taps_stride + t];
            int length = snprintf(line, sizeof line, "%s%u %d", entries ? "\n" : "",
                                  filter.begin + filter.first[i] + t, weight);
            crc = crc32(crc, (const Bytef *)line, (uInt)length);
            entries++;
        }
    assert_int_equal(entries, vector_number(vector, "entries"));
    assert_int_equal(crc, vector_number(vector, "crc"));
    filter_deinit(&filter);
}

static recmap_image describe(const struct vector_case *vector) {
    recmap_image image = {.version = RECMAP_IMAGE_VERSION, .padding = 4, .fill = 9};
    image.height = (uint32_t)vector_number(vector, "height");
    image.width = (uint32_t)vector_number(vector, "width");
    if (!vector_has(vector, "crop")) return image;
    const char *mode = vector_text(vector, "mode"), *crop = vector_text(vector, "crop");
    if (!strcmp(mode, "L")) image.mode = RECMAP_IMAGE_GRAY;
    if (!strcmp(mode, "RGBA")) image.mode = RECMAP_IMAGE_RGBA;
    if (!strcmp(crop, "center")) image.crop = RECMAP_CROP_CENTER, image.resize = 64;
    if (!strcmp(crop, "resized")) image.crop = RECMAP_CROP_RANDOM_RESIZED, image.flip = 0.5;
    if (!strcmp(crop, "random")) image.crop = RECMAP_CROP_RANDOM, image.flip = 0.5;
    image.interpolation = interpolation_of(vector);
    return image;
}

static void check_pixels(const struct vector_case *vector, const struct resize_path *path) {
    struct picture_file file = picture_load(vector_text(vector, "file"));
    recmap_image image = describe(vector);
    recmap_image_draw draw = {0, 0, 0, RECMAP_NO_RECORD};
    if (vector_has(vector, "seed"))
        draw = (recmap_image_draw){vector_number(vector, "seed"), vector_number(vector, "epoch"),
                                   vector_number(vector, "number"), RECMAP_NO_RECORD};
    struct image_plan plan;
    struct image_scratch scratch = {.rows.resize.path = path};
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(image_plan_init(&plan, &image, &error), RECMAP_OK);
    size_t size = (size_t)image.height * image.width * plan.channels;
    uint8_t *pixels = malloc(size);
    assert_non_null(pixels);
    recmap_status status =
        image_plan_decode(pixels, &plan, &scratch, file.data, file.size, &draw, &error);
    if (status != RECMAP_OK) fail_msg("%s: %s", vector_title(vector), error.message);
    if (crc32(0, pixels, (uInt)size) != vector_number(vector, "crc"))
        fail_msg("%s has other pixels", vector_title(vector));
    image_scratch_deinit(&scratch);
    image_plan_deinit(&plan);
    free(pixels);
    picture_deinit(&file);
}

static void test_everything_matches_its_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("images.txt");
    size_t checked = 0;
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        if (is_case(vector, "rectangle-")) check_rectangle(vector), checked++;
        if (is_case(vector, "filter-")) check_filter(vector), checked++;
        if (is_case(vector, "seeds-")) check_seeds(vector), checked++;
        if (!is_case(vector, "pixels-") && !is_case(vector, "turned-")) continue;
        check_pixels(vector, &resize_portable);
        check_pixels(vector, resize_best_path());
        checked++;
    }
    assert_int_equal(checked, file.count);
    vectors_deinit(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_matches_its_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
