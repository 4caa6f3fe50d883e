/* All paths of the resize give the same bytes; a crop gives the bytes of whole decoding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "parse/image/image.h"
#include "parse/image/resize.h"
#include "picture_file.h"
#include "support/random.h"
#include "support/rounds.h"

#include <cmocka.h>

struct result {
    uint8_t *pixels;
    size_t row_size;
};

static void take_row(void *context, uint32_t y, const void *row) {
    struct result *result = context;
    memcpy(result->pixels + y * result->row_size, row, result->row_size);
}

static void scale(struct result *result, const struct resize_path *path, const uint8_t *pixels,
                  const struct side *x, const struct side *y, unsigned channels,
                  recmap_interpolation interpolation, bool antialias) {
    struct resize resize = {.path = path};
    assert_true(resize_start(&resize, x, y, channels, false, interpolation, antialias));
    result->row_size = (size_t)x->count * channels;
    result->pixels = calloc(y->count, result->row_size);
    assert_non_null(result->pixels);
    for (uint32_t row = 0; row < resize.y.end - resize.y.begin; row++) {
        const uint8_t *from = pixels + ((size_t)(resize.y.begin + row) * x->size + resize.x.begin) *
                                           channels;
        memcpy(resize_source_row(&resize, row), from, resize.row_size);
        resize_advance(&resize, row, take_row, result);
    }
    resize_deinit(&resize);
}

static struct side random_side(struct rng *random) {
    struct side side = {.size = 1 + (uint32_t)rng_below(random, 120)};
    side.scaled = 1 + (uint32_t)rng_below(random, 120);
    side.count = 1 + (uint32_t)rng_below(random, side.scaled);
    side.cut = (uint32_t)rng_below(random, side.scaled - side.count + 1);
    return side;
}

static void test_all_paths_give_the_same_bytes(void **state) {
    (void)state;
    static const unsigned channels[] = {1, 3, 4};
    struct rng random = {40};
    for (unsigned round = 0; round < some_rounds(400); round++) {
        const struct side x = random_side(&random), y = random_side(&random);
        const unsigned count = channels[round % 3];
        const recmap_interpolation interpolation =
            (recmap_interpolation)rng_below(&random, RECMAP_NEAREST + 1);
        const bool antialias = rng_below(&random, 2);
        size_t size = (size_t)x.size * y.size * count;
        uint8_t *pixels = malloc(size);
        assert_non_null(pixels);
        for (size_t i = 0; i < size; i++) pixels[i] = (uint8_t)rng_below(&random, 256);
        /* Extremes, of which bicubic sums leave the range of a sample. */
        if (round % 5 == 0)
            for (size_t i = 0; i < size; i++) pixels[i] = pixels[i] < 128 ? 0 : 255;
        struct result plain, best;
        scale(&plain, &resize_portable, pixels, &x, &y, count, interpolation, antialias);
        scale(&best, resize_best_path(), pixels, &x, &y, count, interpolation, antialias);
        assert_memory_equal(plain.pixels, best.pixels, y.count * plain.row_size);
        free(plain.pixels);
        free(best.pixels);
        free(pixels);
    }
}

static void decode(uint8_t *pixels, const recmap_image *image, const struct picture_file *file,
                   uint64_t number) {
    recmap_image_draw draw = {1, 2, number, RECMAP_NO_RECORD};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status =
        recmap_image_decode(pixels, (size_t)1 << 20, image, file->data, file->size, &draw, &error);
    if (status != RECMAP_OK) fail_msg("%s", error.message);
}

/* Returns true if the crop is somewhere in the whole picture. */
static bool is_part(const uint8_t *crop, const recmap_image *image, const uint8_t *whole,
                    uint32_t height, uint32_t width) {
    for (uint32_t y = 0; y + image->height <= height; y++)
        for (uint32_t x = 0; x + image->width <= width; x++) {
            uint32_t row = 0;
            while (row < image->height &&
                   !memcmp(crop + row * image->width * 3,
                           whole + ((size_t)(y + row) * width + x) * 3, image->width * 3))
                row++;
            if (row == image->height) return true;
        }
    return false;
}

static void test_a_crop_gives_the_bytes_of_whole_decoding(void **state) {
    (void)state;
    struct rng random = {41};
    uint8_t *whole = malloc(1 << 20), *crop = malloc(1 << 20);
    assert_non_null(whole);
    assert_non_null(crop);
    for (size_t i = 0; picture_names[i]; i++) {
        struct picture_file file = picture_load(picture_names[i]);
        recmap_image image = {.version = RECMAP_IMAGE_VERSION};
        uint32_t height, width;
        assert_int_equal(recmap_image_size(&height, &width, &image, file.data, file.size, NULL),
                         RECMAP_OK);
        decode(whole, &image, &file, 0);
        image.crop = RECMAP_CROP_RANDOM;
        for (unsigned round = 0; round < some_rounds(60); round++) {
            image.height = 1 + (uint32_t)rng_below(&random, height);
            image.width = 1 + (uint32_t)rng_below(&random, width);
            decode(crop, &image, &file, round);
            if (!is_part(crop, &image, whole, height, width))
                fail_msg("%s: a crop of %u x %u differs", picture_names[i], image.height,
                         image.width);
        }
        picture_deinit(&file);
    }
    free(whole);
    free(crop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_paths_give_the_same_bytes),
        cmocka_unit_test(test_a_crop_gives_the_bytes_of_whole_decoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
