/* PNG files for people to look at. As in png.c, errors leave libpng through longjmp to `write`,
 * which has no variables of its own. */
#include <setjmp.h>
#include <stdbool.h>

#include <png.h>

#include <recmap/image.h>

#include "base/core/error.h"
#include "base/text/json.h"

struct png_writer {
    png_structp png;
    png_infop info;
    jmp_buf on_error;
    recmap_text *text;
    const uint8_t *pixels;
    uint32_t height;
    uint32_t width;
    recmap_image_mode mode;
    uint32_t row; /* being written */
    bool is_complete;
};

/* The sizes are valid, so that memory is all that can be missing. */
static void take_error(png_structp png, png_const_charp message) {
    struct png_writer *writer = png_get_error_ptr(png);
    (void)message;
    longjmp(writer->on_error, 1);
}

static void ignore_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static void write_bytes(png_structp png, png_bytep bytes, size_t size) {
    struct png_writer *writer = png_get_io_ptr(png);
    if (!text_append(writer->text, (const char *)bytes, size)) longjmp(writer->on_error, 1);
}

static void flush(png_structp png) {
    (void)png;
}

static int colour_type(recmap_image_mode mode) {
    switch (mode) {
    case RECMAP_IMAGE_GRAY: return PNG_COLOR_TYPE_GRAY;
    case RECMAP_IMAGE_RGBA: return PNG_COLOR_TYPE_RGB_ALPHA;
    default: return PNG_COLOR_TYPE_RGB;
    }
}

static void write_picture(struct png_writer *writer) {
    const size_t row_size = (size_t)writer->width * recmap_image_channels(writer->mode);
    png_set_write_fn(writer->png, writer, write_bytes, flush);
    png_set_IHDR(writer->png, writer->info, writer->width, writer->height, 8,
                 colour_type(writer->mode), PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(writer->png, writer->info);
    for (writer->row = 0; writer->row < writer->height; writer->row++)
        png_write_row(writer->png, writer->pixels + writer->row * row_size);
    png_write_end(writer->png, NULL);
    writer->is_complete = true;
}

static void write(struct png_writer *writer) {
    if (!setjmp(writer->on_error)) write_picture(writer);
}

recmap_status recmap_image_to_png(recmap_text *text, const uint8_t *pixels, uint32_t height,
                                  uint32_t width, recmap_image_mode mode, recmap_error *error) {
    enum { SIDE_MAX = 65535 };
    struct png_writer writer = {.text = text, .pixels = pixels, .mode = mode};
    const size_t size = text->size;
    if (!height || !width || height > SIDE_MAX || width > SIDE_MAX)
        return fail(error, RECMAP_INVALID, "invalid image size %u x %u: both sides are 1 to %d",
                    height, width, SIDE_MAX);
    writer.height = height;
    writer.width = width;
    writer.png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer, take_error, ignore_warning);
    if (!writer.png) return fail_memory(error);
    writer.info = png_create_info_struct(writer.png);
    if (writer.info) write(&writer);
    png_destroy_write_struct(&writer.png, &writer.info);
    if (writer.is_complete) return RECMAP_OK;
    text->size = size;
    if (text->data) text->data[size] = 0;
    return fail_memory(error);
}
