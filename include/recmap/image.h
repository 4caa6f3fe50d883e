/* Pictures: JPEG, PNG and WebP bytes decoded, cropped, scaled and flipped into pixels.
 *
 *     recmap_image image = {.version = RECMAP_IMAGE_VERSION, .height = 224, .width = 224,
 *                           .crop = RECMAP_CROP_RANDOM_RESIZED, .flip = 0.5};
 *     recmap_image_draw draw = {.seed = 7, .epoch = 3, .number = record};
 *     uint8_t pixels[224 * 224 * 3];
 *     recmap_image_decode(pixels, sizeof pixels, &image, data, size, &draw, &error);
 *
 * The pixels are a pure function of the bytes, the description of the image and the draw, and the
 * same on every machine. docs/formats/images.md specifies them. */
#ifndef RECMAP_IMAGE_H
#define RECMAP_IMAGE_H

#include <recmap/feature.h>
#include <recmap/image_decoder.h>
#include <recmap/status.h>
#include <recmap/text.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RECMAP_IMAGE_VERSION = 1 };

/* The default of recmap_image.max_pixels: 64 Mi. */
enum { RECMAP_IMAGE_MAX_PIXELS = 1 << 26 };

/* The channels of the pixels. */
typedef enum recmap_image_mode {
    RECMAP_IMAGE_RGB = 0,
    RECMAP_IMAGE_GRAY = 1, /* one channel: luma */
    RECMAP_IMAGE_RGBA = 2,
} recmap_image_mode;

/* How the shape of a column shows its pixels, which are height x width x channels in memory. */
typedef enum recmap_image_layout {
    RECMAP_IMAGE_HWC = 0,
    RECMAP_IMAGE_CHW = 1, /* channels first: see `strides` of recmap_column */
} recmap_image_layout;

typedef enum recmap_crop {
    RECMAP_CROP_NONE = 0,           /* the whole picture is scaled to the size */
    RECMAP_CROP_RANDOM_RESIZED = 1, /* a random rectangle of random aspect is scaled to the size */
    RECMAP_CROP_CENTER = 2, /* the shorter side is scaled to `resize`, then the centre is cut */
    RECMAP_CROP_RANDOM = 3, /* a random rectangle of the size is cut, without scaling */
    RECMAP_CROP_EXACT = 4,  /* the whole picture; one of another size is an error (FEATURE) */
} recmap_crop;

typedef enum recmap_interpolation {
    RECMAP_BILINEAR = 0,
    RECMAP_BICUBIC = 1,
    RECMAP_NEAREST = 2,
} recmap_interpolation;

typedef struct recmap_image recmap_image;

/* What pixels to make of a picture. Zero the struct, set the version and what differs from the
 * defaults. */
struct recmap_image {
    unsigned version; /* RECMAP_IMAGE_VERSION */
    uint32_t height;  /* of the pixels; both 0: as the picture, without a crop */
    uint32_t width;
    recmap_image_mode mode;
    recmap_element element;     /* UINT8 (also if 0), UINT16, FLOAT32, FLOAT16 or BFLOAT16 */
    recmap_image_layout layout; /* of columns only */
    recmap_crop crop;
    double scale[2];  /* RANDOM_RESIZED: the share of the area, from least to most; both 0: 0.08
                         and 1 */
    double ratio[2];  /* RANDOM_RESIZED: width by height; both 0: 3/4 and 4/3 */
    uint32_t resize;  /* CENTER: 0 means 256 */
    uint32_t padding; /* RANDOM: pixels of `fill` added at each side before the cut */
    uint8_t fill;     /* RANDOM: the value of all channels of the padding */
    double flip;      /* the probability of a horizontal flip */
    recmap_interpolation interpolation;
    int no_antialias;    /* not 0: the filter does not widen when a picture is made smaller */
    int ignores_exif;    /* not 0: the orientation in the EXIF data is not applied */
    const char *draw;    /* the name of the random draws; NULL is "". Two features of a parser whose
                            pixels would be equal are INVALID: they need different names */
    uint64_t max_pixels; /* larger pictures are refused, and any of more than 2^40 pixels; 0:
                            RECMAP_IMAGE_MAX_PIXELS */
    const double *mean;  /* floating-point elements: subtracted from each channel, on the scale 0
                            to 1; NULL: 0 */
    const double *std;   /* floating-point elements: divides each channel; NULL: 1 */

    /* Decoders of other formats, or of the same: they are asked in order, before recmap's own. */
    const recmap_image_decoder *decoders;
    size_t decoder_count;
};

/* Boxes of objects in a picture. A record has as many values in each of four float features, or
 * four for each box in one feature: the least y and x and the largest y and x of each box, as
 * shares of the picture's height and width, 0 to 1, before its EXIF orientation is applied. The
 * column has the boxes in the pixels of `image`: shares of their height and width, cut to 0 to 1.
 * No box is removed: a box that lies outside has no area left. The column is null if the record has
 * none of the features. */
typedef struct recmap_boxes {
    const char *image;    /* the name of an IMAGE feature of the same parser */
    const char *keys[4];  /* of ymin, xmin, ymax and xmax; the others NULL: the first has all */
    int is_visible;       /* not 0: the column has one number for each box instead, the share of its
                             area that is left; 0 for boxes without an area */
    uint64_t reserved[4]; /* 0; room for later versions. Anything else is INVALID */
} recmap_boxes;

/* What the random draws depend on. `position` is RECMAP_NO_RECORD unless the order may hold a
 * record twice in an epoch. */
typedef struct recmap_image_draw {
    uint64_t seed;
    uint64_t epoch;
    uint64_t number;
    uint64_t position;
} recmap_image_draw;

/* Reads the header of a JPEG, PNG or WebP picture only. Errors: UNSUPPORTED for other formats, by
 * their name; FEATURE for damaged headers. Pure. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_image_describe(recmap_image_info *info,
                                                                const void *data, size_t size,
                                                                recmap_error *error);

/* The same, also for a picture that a decoder recognizes: its format is CUSTOM. Decoders are asked
 * in order, before recmap's own. Errors: also INVALID for a decoder without a name or a function;
 * FEATURE for an impossible header; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_image_describe_with(
    recmap_image_info *info, const void *data, size_t size, const recmap_image_decoder *decoders,
    size_t decoder_count, recmap_error *error);

/* The number of channels of a mode: 3, 1 or 4. */
RECMAP_API unsigned recmap_image_channels(recmap_image_mode mode);

/* The height and width of the pixels of one picture: of the description, or, if it has no size, of
 * the picture. Errors: as recmap_image_describe, INVALID for an impossible description, and
 * UNSUPPORTED without decoders in a build without image libraries. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_image_size(uint32_t *height, uint32_t *width,
                                                            const recmap_image *image,
                                                            const void *data, size_t size,
                                                            recmap_error *error);

/* Decodes a picture to height x width x channels elements in C order. `pixels` has room for
 * `pixels_size` bytes. `draw` may be NULL if nothing is random. Errors: INVALID for an impossible
 * description, a missing draw or too little room; FEATURE if the picture is damaged, cut off, too
 * large, or cannot be converted without loss of meaning (16-bit gray to 8 bits), and for anything
 * wrong that a decoder does; UNSUPPORTED as recmap_image_describe, and without image libraries in
 * this build; NO_MEMORY. Threads: any number may call it. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_image_decode(void *pixels, size_t pixels_size,
                                                              const recmap_image *image,
                                                              const void *data, size_t size,
                                                              const recmap_image_draw *draw,
                                                              recmap_error *error);

/* ---- For people to look at. */

/* Appends a PNG file of height x width pixels of 8 bits, in C order. Errors: INVALID for sides of 0
 * or above 65535; UNSUPPORTED without image libraries in this build; NO_MEMORY. Pure. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_image_to_png(recmap_text *png,
                                                              const uint8_t *pixels,
                                                              uint32_t height, uint32_t width,
                                                              recmap_image_mode mode,
                                                              recmap_error *error);

/* Appends a PNG file of a picture: upright, and scaled so that neither side has more than `side`
 * pixels. Transparency is kept. 16-bit gray becomes 8-bit, from black for its least value to white
 * for its greatest. `decoders` may be NULL if there are none. Errors: as recmap_image_decode and
 * recmap_image_to_png. Threads: any number may call it. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_image_thumbnail(
    recmap_text *png, const void *data, size_t size, uint32_t side,
    const recmap_image_decoder *decoders, size_t decoder_count, recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
