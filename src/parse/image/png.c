/* libpng decodes rows in order; of an interlaced picture only the last pass completes a row, so
 * all rows are kept until then. Chunks that do not change pixels are not read.
 *
 * Errors leave libpng through longjmp to `decode`, the one function with a setjmp. It has no
 * variables of its own: everything is in `struct png_reader`. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "parse/image/decoder.h"

enum { CHUNK_SIZE_MAX = 8 << 20, MESSAGE_SIZE = 160 };

struct png_reader {
    png_structp png;
    png_infop info;
    jmp_buf on_error;
    struct image_rows *rows;
    const struct encoded *encoded;
    size_t position; /* in the encoded bytes */
    uint32_t row;    /* being read */
    uint8_t *buffer; /* a row, or all rows of an interlaced picture */
    bool is_cut;
    bool is_wide_gray;
    bool lacks_memory;
    recmap_status status;
    char message[MESSAGE_SIZE];
};

static void leave(struct png_reader *reader) {
    reader->status = RECMAP_FEATURE;
    longjmp(reader->on_error, 1);
}

static void take_error(png_structp png, png_const_charp message) {
    struct png_reader *reader = png_get_error_ptr(png);
    snprintf(reader->message, sizeof reader->message, "%s", message);
    leave(reader);
}

/* libpng reports it as any other error, or does without a chunk. */
static png_voidp allocate(png_structp png, png_alloc_size_t size) {
    struct png_reader *reader = png_get_mem_ptr(png);
    void *memory = malloc(size);
    if (!memory) reader->lacks_memory = true;
    return memory;
}

static void release(png_structp png, png_voidp memory) {
    (void)png;
    free(memory);
}

/* Damaged transparency is an error. libpng leaves it out, and only warns. */
static void note_warning(png_structp png, png_const_charp message) {
    struct png_reader *reader = png_get_error_ptr(png);
    if (!strcmp(message, "tRNS: CRC error")) take_error(png, message);
    reader->rows->has_warnings = true;
}

static void read_bytes(png_structp png, png_bytep out, size_t size) {
    struct png_reader *reader = png_get_io_ptr(png);
    if (size > reader->encoded->size - reader->position) {
        reader->is_cut = true;
        leave(reader);
    }
    memcpy(out, reader->encoded->data + reader->position, size);
    reader->position += size;
}

/* The names of chunks without influence on pixels, each with a zero at its end. */
static const png_byte needless_chunks[] = "iCCP\0iTXt\0tEXt\0zTXt\0sPLT\0hIST\0eXIf\0pHYs\0"
                                          "tIME\0cHRM\0gAMA\0sRGB\0sCAL\0oFFs\0pCAL\0bKGD";

static void set_limits(struct png_reader *reader) {
    enum { NAME_SIZE = 5 };
    png_set_user_limits(reader->png, 0x7fffffff, 0x7fffffff); /* the header was checked before */
    png_set_chunk_malloc_max(reader->png, CHUNK_SIZE_MAX);
    png_set_keep_unknown_chunks(reader->png, PNG_HANDLE_CHUNK_NEVER, needless_chunks,
                                (int)(sizeof needless_chunks / NAME_SIZE));
}

/* 8 or 16 bits for each channel, palettes as colours, transparent colours as alpha. */
static void set_transformations(struct png_reader *reader) {
    png_set_expand(reader->png);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    png_set_swap(reader->png);
#endif
}

static enum sample_layout layout_of(const struct png_reader *reader) {
    switch (png_get_color_type(reader->png, reader->info)) {
    case PNG_COLOR_TYPE_GRAY: return SAMPLES_GRAY;
    case PNG_COLOR_TYPE_GRAY_ALPHA: return SAMPLES_GRAY_ALPHA;
    case PNG_COLOR_TYPE_RGB: return SAMPLES_RGB;
    default: return SAMPLES_RGBA;
    }
}

static bool take_memory(struct png_reader *reader, size_t size) {
    reader->buffer = malloc(size);
    if (!reader->buffer) reader->lacks_memory = true;
    return reader->buffer;
}

static void read_rows(struct png_reader *reader, size_t row_size) {
    if (!take_memory(reader, row_size)) return;
    for (reader->row = 0; image_rows_left(reader->rows); reader->row++) {
        png_read_row(reader->png, reader->buffer, NULL);
        image_rows_put(reader->rows, reader->row, reader->buffer);
    }
}

static void read_interlaced(struct png_reader *reader, size_t row_size, int passes) {
    const uint32_t height = reader->encoded->header->height;
    if (row_size > SIZE_MAX / height || !take_memory(reader, row_size * height)) return;
    for (int pass = 0; pass < passes; pass++)
        for (reader->row = 0; reader->row < height; reader->row++)
            png_read_row(reader->png, reader->buffer + reader->row * row_size, NULL);
    for (uint32_t y = 0; image_rows_left(reader->rows); y++)
        image_rows_put(reader->rows, y, reader->buffer + y * row_size);
}

/* The region was chosen by our own reading of the header. */
static void check_size(struct png_reader *reader) {
    const struct image_header *header = reader->encoded->header;
    if (png_get_image_width(reader->png, reader->info) == header->width &&
        png_get_image_height(reader->png, reader->info) == header->height)
        return;
    snprintf(reader->message, sizeof reader->message, "it has two sizes");
    leave(reader);
}

static void read_picture(struct png_reader *reader) {
    set_limits(reader);
    png_set_read_fn(reader->png, reader, read_bytes);
    png_read_info(reader->png, reader->info);
    check_size(reader);
    set_transformations(reader);
    int passes = png_set_interlace_handling(reader->png);
    png_read_update_info(reader->png, reader->info);
    bool is_wide = png_get_bit_depth(reader->png, reader->info) == 16;
    reader->is_wide_gray = !image_rows_begin(reader->rows, layout_of(reader), is_wide, 0);
    if (reader->is_wide_gray) return;
    size_t row_size = png_get_rowbytes(reader->png, reader->info);
    if (passes > 1) read_interlaced(reader, row_size, passes);
    else read_rows(reader, row_size);
}

static void decode(struct png_reader *reader) {
    if (!setjmp(reader->on_error)) read_picture(reader);
}

static recmap_status fail_reader(const struct png_reader *reader, recmap_error *error) {
    const uint32_t height = reader->encoded->header->height;
    if (reader->lacks_memory) return fail_memory(error);
    if (reader->is_wide_gray) return fail_wide_gray(error);
    if (reader->status == RECMAP_OK) return RECMAP_OK;
    if (reader->is_cut)
        return fail(error, RECMAP_FEATURE, "the PNG ends at row %u of %u", reader->row, height);
    return fail(error, RECMAP_FEATURE, "the PNG is damaged at row %u of %u: %s", reader->row,
                height, reader->message);
}

recmap_status png_decode(struct image_rows *rows, const struct encoded *encoded,
                         const struct region *region, recmap_error *error) {
    struct png_reader reader = {.rows = rows, .encoded = encoded};
    reader.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &reader, take_error, note_warning,
                                          &reader, allocate, release);
    (void)region; /* rows that are not wanted are decoded too: each depends on the one above */
    if (!reader.png) return fail_memory(error);
    reader.info = png_create_info_struct(reader.png);
    if (reader.info) decode(&reader);
    else reader.lacks_memory = true;
    recmap_status status = fail_reader(&reader, error);
    png_destroy_read_struct(&reader.png, &reader.info, NULL);
    free(reader.buffer);
    return status;
}
