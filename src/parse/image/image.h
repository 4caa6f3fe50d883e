/* The description of an image, checked and compiled once, to decode many pictures. */
#ifndef RECMAP_PARSE_IMAGE_IMAGE_H
#define RECMAP_PARSE_IMAGE_IMAGE_H

#include "parse/image/placement.h"
#include "parse/image/rows.h"

/* Immutable. Any number of threads may use it. */
struct image_plan {
    recmap_image image; /* with its defaults; without pointers */
    unsigned channels;
    size_t pixel_size;
    uint64_t draw_stream;
    bool is_random;
    void *table; /* of each channel 256 elements, for floating-point elements; else NULL */
    recmap_image_decoder *decoders;
    size_t decoder_count;
};

/* Memory of one thread that is reused from picture to picture. Zero it to begin. */
struct image_scratch {
    struct image_rows rows;
    struct placement placement; /* of the last picture that was decoded */
};

/* Errors: INVALID for an impossible description, NO_MEMORY. */
recmap_status image_plan_init(struct image_plan *plan, const recmap_image *image,
                              recmap_error *error);
void image_plan_deinit(struct image_plan *plan);

/* Returns true if both plans make the same array of pixels of every picture that both accept. Other
 * names of draws count as a difference, also if nothing is random. */
bool image_plan_is_same(const struct image_plan *a, const struct image_plan *b);

/* Fills `count` pixels with a colour, which has one level for each channel. */
void image_plan_fill(void *pixels, const struct image_plan *plan, const uint8_t *colour,
                     size_t count);

/* The height and width of the pixels of a picture. */
recmap_status image_plan_size(uint32_t *height, uint32_t *width, const struct image_plan *plan,
                              const void *data, size_t size, recmap_error *error);

/* Decodes to the height and width of image_plan_size, which are the caller's to provide room for;
 * `draw` may be NULL unless the plan is random. */
recmap_status image_plan_decode(void *pixels, const struct image_plan *plan,
                                struct image_scratch *scratch, const void *data, size_t size,
                                const recmap_image_draw *draw, recmap_error *error);

void image_scratch_deinit(struct image_scratch *scratch);

size_t image_element_size(recmap_element element);

#endif
