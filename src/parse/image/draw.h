/* The random numbers of a picture: words that are a function of its draw and the draw's name. */
#ifndef RECMAP_PARSE_IMAGE_DRAW_H
#define RECMAP_PARSE_IMAGE_DRAW_H

#include <recmap/image.h>

/* The index of a stream of draws: 0 for "", else the low 56 bits of XXH3-64 of the name. */
uint64_t draw_stream(const char *name);

/* The state whose words docs/formats/images.md assigns. `stream` is of draw_stream. */
uint64_t draw_state(const recmap_image_draw *draw, uint64_t stream);

/* The seed of the draw's record for other augmentations of that name. */
uint64_t draw_seed(const recmap_image_draw *draw, const char *name);

/* Word 0 decides the flip, 1 and 2 place a RandomCrop, 4 to 43 are four for each of ten attempts at
 * a RandomResizedCrop. 3 is reserved. */
enum draw_word {
    DRAW_WORD_FLIP = 0,
    DRAW_WORD_X = 1,
    DRAW_WORD_Y = 2,
    DRAW_WORD_ATTEMPTS = 4,
};

/* The number in [0, 1) of a word. */
static inline double draw_unit(uint64_t word) {
    return (double)(word >> 11) * 0x1p-53;
}

#endif
