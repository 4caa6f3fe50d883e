/* Compares the format of a record's picture with the names and formats that other values of the
 * record give it: "image/filename" is "x.jpg", or "image/format" is "png". */
#ifndef RECMAP_DATASET_DOCTOR_PICTURE_NAMES_H
#define RECMAP_DATASET_DOCTOR_PICTURE_NAMES_H

#include "dataset/doctor/feature_exam.h"

enum { NAMES_MAX = 8 };

/* A value that names a format. */
struct format_name {
    struct feature_exam *feature;
    int format; /* recmap_image_format */
};

/* The pictures and names of one record. Zero-initialized, it is empty. */
struct picture_names {
    bool has_picture;
    bool has_several_formats;
    int format; /* of the pictures */
    struct format_name names[NAMES_MAX];
    size_t count;
};

void picture_names_add_picture(struct picture_names *names, int format);

/* Adds a value of bytes, which names a format or not. */
void picture_names_add_value(struct picture_names *names, struct feature_exam *feature,
                             const uint8_t *data, size_t size);

/* Notes the features that name another format. Returns true if there are any. */
bool picture_names_check(const struct picture_names *names, uint64_t item);

#endif
