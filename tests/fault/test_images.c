/* Allocations that fail while pictures are decoded, in recmap and in libjpeg, libpng, zlib and
 * libwebp: NO_MEMORY, nothing leaked, and the next picture is decoded. And pictures that would need
 * much memory are refused with little. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/image.h>

#include "fault/cases.h"
#include "fault/interpose.h"
#include "unit/parse/image/picture_file.h"

enum { SIDE = 24, PIXELS_SIZE = SIDE * SIDE * 4 };

/* Of lossless pictures, libwebp 1.2.4 frees a pointer that it has not set if it cannot allocate a
 * table of 128 entries. Wheels contain a corrected one. */
enum { WEBP_TABLE_SIZE = 128 * 4 };

struct session {
    const char *name;
    struct picture_file file;
    uint8_t pixels[PIXELS_SIZE];
};

static recmap_status decode(uint8_t *pixels, const struct picture_file *file, recmap_error *error) {
    static const recmap_image image = {.version = RECMAP_IMAGE_VERSION,
                                       .height = SIDE,
                                       .width = SIDE,
                                       .mode = RECMAP_IMAGE_RGBA,
                                       .crop = RECMAP_CROP_RANDOM_RESIZED,
                                       .flip = 0.5};
    const recmap_image_draw draw = {1, 2, 3, RECMAP_NO_RECORD};
    return recmap_image_decode(pixels, PIXELS_SIZE, &image, file->data, file->size, &draw, error);
}

/* Lets one allocation fail, or that one and all later ones. A library may do without: then the
 * pixels are right. */
static const char *run_case(void *context, size_t number) {
    const struct session *session = context;
    const bool is_sticky = number % 2;
    const struct call_plan plan = {.kinds = CALL_BIT(CALL_ALLOCATE),
                                   .at = number / 2 + 1,
                                   .is_sticky = is_sticky,
                                   .fault = FAULT_ERRNO,
                                   .code = ENOMEM,
                                   .spared_size = WEBP_TABLE_SIZE};
    static uint8_t pixels[PIXELS_SIZE];
    recmap_error error = RECMAP_ERROR_INIT;
    const struct holdings before = holdings_now();
    interpose_start(&plan);
    recmap_status status = decode(pixels, &session->file, &error);
    interpose_stop();
    const char *leak = holdings_check(&before);
    if (leak) return leak;
    if (status != RECMAP_OK && (status != RECMAP_NO_MEMORY || error.status != status))
        return case_says("%s, allocation %zu: %s: %s", session->name, number / 2 + 1,
                         recmap_status_name(status), error.message);
    if (status != RECMAP_OK) status = decode(pixels, &session->file, &error);
    if (status != RECMAP_OK) return "the next picture is not decoded";
    if (memcmp(pixels, session->pixels, PIXELS_SIZE) != 0) return "other pixels";
    return NULL;
}

static void test_failed_allocations_are_reported(void **state) {
    (void)state;
    const struct call_plan plan = {.kinds = CALL_BIT(CALL_ALLOCATE)};
    for (size_t i = 0; picture_names[i]; i++) {
        static struct session session;
        session.name = picture_names[i];
        session.file = picture_load(session.name);
        assert_int_equal(decode(session.pixels, &session.file, NULL), RECMAP_OK);
        const uint64_t size = interpose_allocated_size();
        interpose_start(&plan);
        recmap_status status = decode(session.pixels, &session.file, NULL);
        uint64_t count = interpose_stop();
        assert_true(interpose_allocated_size() > size); /* the measure of the tests below */
        assert_int_equal(status, RECMAP_OK);
        assert_true(count > 5); /* more than recmap's own: the library's are seen */
        assert_int_equal(cases_run(session.name, 2 * count, 1, run_case, &session), 0);
        picture_deinit(&session.file);
    }
}

/* The bytes asked for while a picture is refused with this text. */
static void expect_cheap_refusal(const struct picture_file *file, const char *text) {
    enum { ALLOCATED_MAX = 1 << 20 };
    static uint8_t pixels[PIXELS_SIZE];
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t before = interpose_allocated_size();
    assert_int_equal(decode(pixels, file, &error), RECMAP_FEATURE);
    uint64_t size = interpose_allocated_size() - before;
    if (!strstr(error.message, text)) fail_msg("%s: not about %s", error.message, text);
    assert_true(size < ALLOCATED_MAX);
}

/* The size in the frame header is 20,000 x 20,000: libjpeg would keep all coefficients, 2.3 GB. */
static void test_a_huge_progressive_picture_takes_little_memory(void **state) {
    (void)state;
    struct picture_file file = picture_load("progressive.jpg");
    uint8_t *frame = memmem(file.data, file.size, "\xff\xc2", 2);
    assert_non_null(frame);
    memcpy(frame + 5, "\x4e\x20\x4e\x20", 4);
    expect_cheap_refusal(&file, "20000 x 20000 pixels");
    picture_deinit(&file);
}

/* The last scan 2,000 times. */
static void test_repeated_scans_take_little_memory(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    struct picture_file file = picture_load("progressive.jpg");
    size_t end = file.size - 2, scan = end;
    while (memcmp(file.data + scan, "\xff\xda", 2) != 0) scan--;
    struct picture_file bomb = {malloc(file.size + COUNT * (end - scan)), end};
    assert_non_null(bomb.data);
    memcpy(bomb.data, file.data, end);
    for (int i = 0; i < COUNT; i++, bomb.size += end - scan)
        memcpy(bomb.data + bomb.size, file.data + scan, end - scan);
    expect_cheap_refusal(&bomb, "scans");
    picture_deinit(&bomb);
    picture_deinit(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failed_allocations_are_reported),
        cmocka_unit_test(test_a_huge_progressive_picture_takes_little_memory),
        cmocka_unit_test(test_repeated_scans_take_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
