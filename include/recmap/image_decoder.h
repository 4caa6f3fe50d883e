/* Decoders of other pictures than JPEG, PNG and WebP: functions that a program, or a shared object,
 * gives to recmap_image.decoders. docs/examples/decoder_qoi.c is one.
 *
 * A decoder makes rows of samples. Whatever follows is as for the other formats: crops, scaling,
 * flips, conversion of channels and depths, and the place in the batch. */
#ifndef RECMAP_IMAGE_DECODER_H
#define RECMAP_IMAGE_DECODER_H

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum recmap_image_format {
    RECMAP_IMAGE_CUSTOM = 0, /* of a recmap_image_decoder */
    RECMAP_IMAGE_JPEG = 1,
    RECMAP_IMAGE_PNG = 2,
    RECMAP_IMAGE_WEBP = 3,
} recmap_image_format;

/* What the header of a picture says. */
typedef struct recmap_image_info {
    recmap_image_format format;
    uint32_t height; /* upright: after the orientation is applied */
    uint32_t width;
    const char *mode;     /* "L", "LA", "RGB", "RGBA", "CMYK" or "P"; static */
    unsigned depth;       /* bits of a channel: 1, 2, 4, 8 or 16 */
    unsigned orientation; /* of EXIF, 1 to 8; 1 if there is none */
    uint64_t reserved[4]; /* 0; room for later versions */
} recmap_image_info;

/* A part of the stored picture, in pixels. It is never empty and lies within the picture. */
typedef struct recmap_region {
    uint32_t x, y, width, height;
} recmap_region;

/* Takes the rows of one picture during one call of `decode`. Call its functions by the inline
 * functions below, which a shared object can do without linking to recmap. */
typedef struct recmap_image_rows recmap_image_rows;
struct recmap_image_rows {
    int (*begin)(recmap_image_rows *rows, const recmap_image_info *info);
    int (*put)(recmap_image_rows *rows, uint32_t y, const void *samples);
    int (*refuse)(recmap_image_rows *rows, const char *reason);
};

/* A decoder. Its functions must be pure: the same bytes give the same result. They are called on
 * any thread, on many at once, and after a fork. They must not read outside the bytes, keep them,
 * raise C++ exceptions, or leave by longjmp. What they say is not trusted: sizes are compared with
 * max_pixels before `decode` is called, and rows that are not what was described are refused.
 *
 * `name`, `context` and the functions must live as long as parsers, columns and calls that use the
 * decoder. The struct itself is copied. */
typedef struct recmap_image_decoder {
    uint32_t version; /* RECMAP_IMAGE_DECODER_VERSION */
    const char *name; /* for messages, such as "qoi": 1 to 63 bytes */

    /* Returns not 0 if the bytes are of this format. Looks at the signature only. */
    int (*recognizes)(const uint8_t *data, size_t size, void *context);

    /* Reads the header. `info` is zero except for depth 8 and orientation 1. The mode is any but
     * "P", the depth 8 or 16; the format is ignored. Sets `info` and returns RECMAP_OK;
     * RECMAP_FEATURE if the header is damaged. */
    recmap_status (*describe)(recmap_image_info *info, const uint8_t *data, size_t size,
                              void *context);

    /* Makes rows with recmap_image_rows_put: at least those of `wanted`. Returns RECMAP_OK;
     * RECMAP_FEATURE if the picture is damaged, see recmap_image_rows_fail; RECMAP_NO_MEMORY. */
    recmap_status (*decode)(recmap_image_rows *rows, const recmap_region *wanted,
                            const uint8_t *data, size_t size, void *context);

    void *context;        /* passed to the functions */
    uint64_t reserved[4]; /* 0; room for later versions */
} recmap_image_decoder;

enum { RECMAP_IMAGE_DECODER_VERSION = 1 };

/* Says that the picture that is decoded has this header. A decoder that reads the header again in
 * `decode` calls it before the first row, so that it can rely on the size: a header other than the
 * described one is refused. Returns 0, or a status that `decode` should return. */
static inline int recmap_image_rows_begin(recmap_image_rows *rows, const recmap_image_info *info) {
    return rows->begin(rows, info);
}

/* Takes row `y` of the stored picture. `samples` has all its columns, as `describe` said: width x
 * channels samples of 8 bits, or of 16 in the order of this CPU; it is read before the call
 * returns. CMYK has 0 for no ink. Rows come in order without gaps; the first is row 0, or any up to
 * the first wanted one; rows after the wanted ones are ignored. Returns 0, or a status that
 * `decode` should return: the row is refused, and `decode` fails in any case. */
static inline int recmap_image_rows_put(recmap_image_rows *rows, uint32_t y, const void *samples) {
    return rows->put(rows, y, samples);
}

/* Says why the picture cannot be decoded, in one line, such as "it ends"; "at row 3 of 20" is added
 * for the row that comes next. Returns RECMAP_FEATURE, which `decode` should return. */
static inline int recmap_image_rows_fail(recmap_image_rows *rows, const char *reason) {
    return rows->refuse(rows, reason);
}

/* Loads a shared object and sets `*decoder` to what its function RECMAP_IMAGE_DECODER_SYMBOL
 * returns. The object stays loaded. The file's code runs in this process: load only code that you
 * trust. A path without a slash is searched for as by dlopen(3). Errors: IO if it cannot be loaded;
 * INVALID if it does not return a decoder with a name and all functions. Threads: any. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_image_decoder_load(
    const recmap_image_decoder **decoder, const char *path, recmap_error *error);

/* The function that the shared object must export, with C linkage and default visibility. */
#define RECMAP_IMAGE_DECODER_SYMBOL "recmap_image_decoder_main"
typedef const recmap_image_decoder *(*recmap_image_decoder_main_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
