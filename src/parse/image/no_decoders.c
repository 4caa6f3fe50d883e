/* Replaces the decoders in a build without their libraries. */
#include "base/core/error.h"
#include "parse/image/decoder.h"

static recmap_status fail_build(recmap_error *error) {
    fail(error, RECMAP_UNSUPPORTED, "this build of recmap does not decode pictures");
    fail_advise(error, "build it with RECMAP_WITH_IMAGES=ON, or read the feature as bytes");
    return RECMAP_UNSUPPORTED;
}

recmap_status recmap_image_to_png(recmap_text *png, const uint8_t *pixels, uint32_t height,
                                  uint32_t width, recmap_image_mode mode, recmap_error *error) {
    (void)png, (void)pixels, (void)height, (void)width, (void)mode;
    return fail_build(error);
}

recmap_status decoders_check(recmap_error *error) {
    return fail_build(error);
}

recmap_status jpeg_decode(struct image_rows *rows, const struct encoded *encoded,
                          const struct region *region, recmap_error *error) {
    (void)rows, (void)encoded, (void)region;
    return fail_build(error);
}

recmap_status png_decode(struct image_rows *rows, const struct encoded *encoded,
                         const struct region *region, recmap_error *error) {
    (void)rows, (void)encoded, (void)region;
    return fail_build(error);
}

recmap_status webp_decode(struct image_rows *rows, const struct encoded *encoded,
                          const struct region *region, recmap_error *error) {
    (void)rows, (void)encoded, (void)region;
    return fail_build(error);
}
