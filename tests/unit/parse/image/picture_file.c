#include "picture_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

const char *const picture_names[] = {
    "plain-444.jpg", "plain-422.jpg", "plain-420.jpg", "progressive.jpg",
    "gray.jpg",      "cmyk.jpg",      "turned-6.jpg",  "rgb.png",
    "rgba.png",      "palette.png",   "gray.png",      "gray-1.png",
    "lossy.webp",    "lossless.webp", "animated.webp", NULL};

struct picture_file picture_load(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/images/%s", RECMAP_SOURCE_DIR, name);
    FILE *stream = fopen(path, "rb");
    if (!stream) fail_msg("cannot open %s", path);
    struct picture_file file = {malloc(1 << 16), 0};
    assert_non_null(file.data);
    file.size = fread(file.data, 1, 1 << 16, stream);
    assert_in_range(file.size, 1, (1 << 16) - 1);
    fclose(stream);
    return file;
}

void picture_deinit(struct picture_file *file) {
    free(file->data);
}
