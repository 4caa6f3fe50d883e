/* Descriptions of images, and single pictures. */
#ifndef RECMAP_PYTHON_BATCH_IMAGE_H
#define RECMAP_PYTHON_BATCH_IMAGE_H

#include <recmap/image.h>

#include "base/python.h"

enum { IMAGE_DECODERS_MAX = 16 };

/* A description and the numbers that it points to. */
struct image_spec {
    recmap_image image;
    double mean[4];
    double std[4];
    recmap_image_decoder decoders[IMAGE_DECODERS_MAX];
};

/* Reads a description from the tuple that recmap._example.images makes: (height, width, mode,
 * layout, crop, (min, max) of the scale, (min, max) of the ratio, resize, padding, fill, flip,
 * interpolation, no antialias, ignores EXIF, draw, max pixels, mean or None, std or None, (path of
 * a decoder, ...)). The name of the draw belongs to the tuple. Returns 0 with an exception set if
 * it fails. */
int take_image(struct image_spec *spec, PyObject *tuple);

#endif
