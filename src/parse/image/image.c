/* One picture, from bytes to pixels: its header, the rectangle of the upright picture, the region
 * of the stored picture, a decoder, rows. */
#include "parse/image/image.h"

#include <inttypes.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "parse/image/custom.h"
#include "parse/image/draw.h"

/* Above this a thread's memory is given back after each picture. */
enum { KEPT_MEMORY = 64 << 20 };

recmap_status fail_wide_gray(recmap_error *error) {
    fail(error, RECMAP_FEATURE, "the picture is gray with 16 bits, which are not reduced to 8");
    fail_advise(error, "such values are usually depths or labels: read them as uint16");
    return RECMAP_FEATURE;
}

/* With the first decoder that recognizes the picture, else as a picture of recmap's formats. */
static recmap_status find_header(struct image_header *header, const void *data, size_t size,
                                 const recmap_image_decoder *decoders, size_t decoder_count,
                                 recmap_error *error) {
    const recmap_image_decoder *custom = custom_find(decoders, decoder_count, data, size);
    return custom ? custom_header_read(header, custom, data, size, error)
                  : image_header_read(header, data, size, error);
}

recmap_status recmap_image_describe_with(recmap_image_info *info, const void *data, size_t size,
                                         const recmap_image_decoder *decoders, size_t decoder_count,
                                         recmap_error *error) {
    struct image_header header;
    RETURN_IF_FAILED(custom_check(decoders, decoder_count, error));
    RETURN_IF_FAILED(find_header(&header, data, size, decoders, decoder_count, error));
    bool swaps = orientation_swaps(header.orientation);
    *info = (recmap_image_info){
        .format = header.format,
        .height = swaps ? header.width : header.height,
        .width = swaps ? header.height : header.width,
        .mode = header.mode,
        .depth = header.depth,
        .orientation = header.orientation,
    };
    return RECMAP_OK;
}

recmap_status recmap_image_describe(recmap_image_info *info, const void *data, size_t size,
                                    recmap_error *error) {
    return recmap_image_describe_with(info, data, size, NULL, 0, error);
}

static recmap_status read_header(struct image_header *header, const struct image_plan *plan,
                                 const void *data, size_t size, recmap_error *error) {
    RETURN_IF_FAILED(find_header(header, data, size, plan->decoders, plan->decoder_count, error));
    if (plan->image.ignores_exif) header->orientation = 1;
    if ((uint64_t)header->height * header->width > plan->image.max_pixels) {
        fail(error, RECMAP_FEATURE,
             "the picture has %u x %u pixels, more than the limit of %" PRIu64, header->height,
             header->width, plan->image.max_pixels);
        fail_advise(error, "if it is not damaged, raise max_pixels");
        return RECMAP_FEATURE;
    }
    return RECMAP_OK;
}

recmap_status image_plan_size(uint32_t *height, uint32_t *width, const struct image_plan *plan,
                              const void *data, size_t size, recmap_error *error) {
    struct image_header header;
    *height = plan->image.height;
    *width = plan->image.width;
    if (*height) return RECMAP_OK;
    RETURN_IF_FAILED(read_header(&header, plan, data, size, error));
    bool swaps = orientation_swaps(header.orientation);
    *height = swaps ? header.width : header.height;
    *width = swaps ? header.height : header.width;
    return RECMAP_OK;
}

static struct side reversed(struct side side, uint32_t stored, bool is_reversed) {
    if (!is_reversed) return side;
    side.first = stored - side.first - side.size;
    side.cut = side.scaled - side.cut - side.count;
    return side;
}

/* An axis of the stored picture: how it lies in the upright one. */
struct axis {
    bool is_vertical; /* in the upright picture */
    bool is_reversed;
};

/* EXIF's orientations, CIPA DC-008, section 4.6.4: "the 0th row is at the visual top", ... */
static struct axis column_axis(unsigned orientation) {
    return (struct axis){orientation_swaps(orientation), orientation == 2 || orientation == 3 ||
                                                             orientation == 7 || orientation == 8};
}

static struct axis row_axis(unsigned orientation) {
    return (struct axis){!orientation_swaps(orientation), orientation == 3 || orientation == 4 ||
                                                              orientation == 6 || orientation == 7};
}

/* Adds the offset of an axis's first pixel in the result to `start`, and returns the bytes from one
 * pixel of the axis to the next. */
static int64_t place_axis(int64_t *start, const struct axis *axis,
                          const struct rectangle *rectangle, uint32_t width, size_t pixel_size) {
    const struct side *side = axis->is_vertical ? &rectangle->y : &rectangle->x;
    int64_t step = (int64_t)pixel_size, place = side->before;
    bool goes_back = axis->is_reversed;
    if (axis->is_vertical) {
        step *= width;
    } else if (rectangle->is_flipped) {
        place = (int64_t)width - side->before - side->count;
        goes_back = !goes_back;
    }
    if (goes_back) place += (int64_t)side->count - 1;
    *start += place * step;
    return goes_back ? -step : step;
}

/* Makes the pixels of a mirrored row in the order of the result, so that they are not written one
 * by one. */
static void mirror_while_scaling(struct image_rows *rows) {
    if (rows->across != -(int64_t)rows->pixel_size || rows->resize.is_copy) return;
    filter_mirror(&rows->resize.x);
    rows->pixels += rows->across * ((int64_t)rows->resize.x.count - 1);
    rows->across = (int64_t)rows->pixel_size;
}

/* Prepares the rows of a rectangle and says which region of the stored picture they need. */
static bool start_rows(struct image_rows *rows, struct region *region, uint8_t *pixels,
                       const struct image_plan *plan, const struct rectangle *rectangle,
                       const struct image_header *header, uint32_t width) {
    const struct axis across = column_axis(header->orientation);
    const struct axis down = row_axis(header->orientation);
    struct side x = reversed(across.is_vertical ? rectangle->y : rectangle->x, header->width,
                             across.is_reversed);
    struct side y =
        reversed(down.is_vertical ? rectangle->y : rectangle->x, header->height, down.is_reversed);
    rows->mode = plan->image.mode;
    rows->is_wide = plan->image.element == RECMAP_ELEMENT_UINT16;
    rows->table = plan->table;
    rows->pixel_size = plan->pixel_size;
    int64_t start = 0;
    rows->across = place_axis(&start, &across, rectangle, width, plan->pixel_size);
    rows->down = place_axis(&start, &down, rectangle, width, plan->pixel_size);
    rows->pixels = pixels + start;
    if (!resize_start(&rows->resize, &x, &y, plan->channels, rows->is_wide,
                      plan->image.interpolation, !plan->image.no_antialias))
        return false;
    const struct filter *fx = &rows->resize.x, *fy = &rows->resize.y;
    *region = (struct region){x.first + fx->begin, y.first + fy->begin, fx->end - fx->begin,
                              fy->end - fy->begin};
    rows->wanted_column = region->x;
    rows->wanted_width = region->width;
    rows->first_row = rows->next_row = region->y;
    rows->end_row = region->y + region->height;
    mirror_while_scaling(rows);
    return true;
}

static recmap_status decode_region(struct image_rows *rows, const struct encoded *encoded,
                                   const struct region *region, recmap_error *error) {
    switch (encoded->header->format) {
    case RECMAP_IMAGE_CUSTOM: return custom_decode(rows, encoded, region, error);
    case RECMAP_IMAGE_JPEG: return jpeg_decode(rows, encoded, region, error);
    case RECMAP_IMAGE_PNG: return png_decode(rows, encoded, region, error);
    default: return webp_decode(rows, encoded, region, error);
    }
}

static recmap_status choose(struct rectangle *rectangle, const struct image_plan *plan,
                            const struct image_header *header, const recmap_image_draw *draw,
                            recmap_error *error) {
    const bool swaps = orientation_swaps(header->orientation);
    const uint32_t width = swaps ? header->height : header->width;
    const uint32_t height = swaps ? header->width : header->height;
    if (plan->is_random && !draw)
        return fail(error, RECMAP_INVALID,
                    "the crop or the flip is random: give a seed, an epoch and a record number");
    uint64_t state = draw ? draw_state(draw, plan->draw_stream) : 0;
    return rectangle_choose(rectangle, &plan->image, width, height, state, error);
}

static struct placement placement_of(const struct rectangle *rectangle,
                                     const struct image_header *header,
                                     const struct image_plan *plan) {
    const bool swaps = orientation_swaps(header->orientation);
    return (struct placement){
        .rectangle = *rectangle,
        .orientation = header->orientation,
        .width = swaps ? header->height : header->width,
        .height = swaps ? header->width : header->height,
        .result_width = plan->image.width ? plan->image.width : rectangle->x.count,
        .result_height = plan->image.height ? plan->image.height : rectangle->y.count,
    };
}

static void fill_padding(void *pixels, const struct image_plan *plan) {
    uint8_t colour[4];
    memset(colour, plan->image.fill, sizeof colour);
    image_plan_fill(pixels, plan, colour, (size_t)plan->image.height * plan->image.width);
}

recmap_status image_plan_decode(void *pixels, const struct image_plan *plan,
                                struct image_scratch *scratch, const void *data, size_t size,
                                const recmap_image_draw *draw, recmap_error *error) {
    struct image_header header;
    struct rectangle rectangle = {.is_flipped = false};
    struct region region;
    RETURN_IF_FAILED(read_header(&header, plan, data, size, error));
    RETURN_IF_FAILED(choose(&rectangle, plan, &header, draw, error));
    scratch->placement = placement_of(&rectangle, &header, plan);
    if (plan->image.crop == RECMAP_CROP_RANDOM) fill_padding(pixels, plan);
    if (!rectangle.x.count || !rectangle.y.count) return RECMAP_OK;
    const uint32_t width = plan->image.width ? plan->image.width : rectangle.x.count;
    if (!start_rows(&scratch->rows, &region, pixels, plan, &rectangle, &header, width))
        return fail_memory(error);
    const struct encoded encoded = {data, size, &header, plan->image.max_pixels};
    scratch->rows.has_warnings = false;
    recmap_status status = decode_region(&scratch->rows, &encoded, &region, error);
    if (status == RECMAP_OK && image_rows_left(&scratch->rows))
        status = fail(error, RECMAP_FEATURE, "the picture ends at row %u of %u",
                      scratch->rows.next_row, header.height);
    if (scratch->rows.resize.memory_size > KEPT_MEMORY) image_scratch_deinit(scratch);
    return status;
}

void image_scratch_deinit(struct image_scratch *scratch) {
    resize_deinit(&scratch->rows.resize);
}

recmap_status recmap_image_size(uint32_t *height, uint32_t *width, const recmap_image *image,
                                const void *data, size_t size, recmap_error *error) {
    struct image_plan plan;
    recmap_status status = image_plan_init(&plan, image, error);
    if (status == RECMAP_OK) status = image_plan_size(height, width, &plan, data, size, error);
    image_plan_deinit(&plan);
    return status;
}

static recmap_status check_room(const struct image_plan *plan, size_t pixels_size, const void *data,
                                size_t size, recmap_error *error) {
    uint32_t height, width;
    RETURN_IF_FAILED(image_plan_size(&height, &width, plan, data, size, error));
    uint64_t needed = (uint64_t)height * width * plan->pixel_size;
    if (needed <= pixels_size) return RECMAP_OK;
    return fail(error, RECMAP_INVALID,
                "the pixels need %" PRIu64 " bytes, but there is room for %zu", needed,
                pixels_size);
}

recmap_status recmap_image_decode(void *pixels, size_t pixels_size, const recmap_image *image,
                                  const void *data, size_t size, const recmap_image_draw *draw,
                                  recmap_error *error) {
    struct image_plan plan;
    struct image_scratch scratch = {0};
    recmap_status status = image_plan_init(&plan, image, error);
    if (status == RECMAP_OK) status = check_room(&plan, pixels_size, data, size, error);
    if (status == RECMAP_OK)
        status = image_plan_decode(pixels, &plan, &scratch, data, size, draw, error);
    image_scratch_deinit(&scratch);
    image_plan_deinit(&plan);
    return status;
}
