/* The pictures of tests/images. */
#ifndef RECMAP_TESTS_UNIT_PARSE_IMAGE_PICTURE_FILE_H
#define RECMAP_TESTS_UNIT_PARSE_IMAGE_PICTURE_FILE_H

#include <stddef.h>
#include <stdint.h>

struct picture_file {
    uint8_t *data;
    size_t size;
};

/* The bytes of tests/images/NAME. A missing file fails the test. */
struct picture_file picture_load(const char *name);
void picture_deinit(struct picture_file *file);

/* The names of all pictures; NULL ends them. */
extern const char *const picture_names[];

#endif
