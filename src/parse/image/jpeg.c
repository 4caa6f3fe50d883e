/* libjpeg-turbo decodes rows in order. It skips the columns outside the region before it transforms
 * them, and the rows above the region once they are entropy-decoded.
 *
 * Errors leave libjpeg through longjmp to `decode`, the one function with a setjmp. It has no
 * variables of its own; everything is in `struct jpeg_reader`, and nothing between allocates other
 * than by libjpeg's own pools, which jpeg_destroy frees. */
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "parse/image/decoder.h"

#ifndef LIBJPEG_TURBO_VERSION_NUMBER
#error "recmap needs libjpeg-turbo: other libraries of this interface give other pixels"
#endif

enum {
    SPARE_COLUMNS = 2, /* at both sides, because chroma of neighbours is interpolated */
    SCANS_MAX = 100,
    SCAN_PIXELS_FACTOR = 16, /* all scans together may have this many times max_pixels */
    BYTES_PER_PIXEL = 8,     /* of the coefficients of four channels, kept for several scans */
    MEMORY_BASE = 16 << 20,
};

struct jpeg_reader {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf on_error;
    struct image_rows *rows;
    const struct encoded *encoded;
    const struct region *region;
    bool has_ended; /* libjpeg needs bytes past the end */
    bool is_cut;    /* and needs them for pixels */
    recmap_status status;
    char message[JMSG_LENGTH_MAX];
};

static struct jpeg_reader *reader_of(j_common_ptr jpeg) {
    return jpeg->client_data;
}

static void leave(struct jpeg_reader *reader, recmap_status status) {
    reader->status = status;
    longjmp(reader->on_error, 1);
}

static void take_error(j_common_ptr jpeg) {
    struct jpeg_reader *reader = reader_of(jpeg);
    jpeg->err->format_message(jpeg, reader->message);
    leave(reader, jpeg->err->msg_code == JERR_OUT_OF_MEMORY ? RECMAP_NO_MEMORY : RECMAP_FEATURE);
}

/* Coded bytes that end early are an error. Other warnings, such as needless bytes between segments,
 * are in many pictures that every decoder shows, and are only counted. */
static void take_message(j_common_ptr jpeg, int level) {
    struct jpeg_reader *reader = reader_of(jpeg);
    if (level >= 0) return;
    jpeg->err->num_warnings++;
    reader->rows->has_warnings = true;
    bool is_end = reader->has_ended || reader->jpeg.unread_marker == JPEG_EOI;
    if (jpeg->err->msg_code != JWRN_HIT_MARKER || !is_end) return;
    reader->is_cut = true;
    leave(reader, RECMAP_FEATURE);
}

static void ignore_message(j_common_ptr jpeg) {
    (void)jpeg;
}

static void init_source(j_decompress_ptr jpeg) {
    (void)jpeg;
}

/* Past its end the stream has an end marker. */
static boolean fill_source(j_decompress_ptr jpeg) {
    static const JOCTET end[] = {0xff, JPEG_EOI};
    struct jpeg_reader *reader = jpeg->client_data;
    if (reader->has_ended) {
        reader->is_cut = true;
        leave(reader, RECMAP_FEATURE);
    }
    reader->has_ended = true;
    jpeg->src->next_input_byte = end;
    jpeg->src->bytes_in_buffer = sizeof end;
    return TRUE;
}

static void skip_source(j_decompress_ptr jpeg, long size) {
    struct jpeg_reader *reader = jpeg->client_data;
    if (size <= 0) return;
    if ((size_t)size > jpeg->src->bytes_in_buffer) {
        reader->is_cut = true;
        leave(reader, RECMAP_FEATURE);
    }
    jpeg->src->next_input_byte += size;
    jpeg->src->bytes_in_buffer -= (size_t)size;
}

/* Called while scans are read. libjpeg may find scans where our reading of the header finds none: a
 * segment with a marker that does not exist is skipped by one, and searched by the other. */
static void count_scans(j_common_ptr common) {
    struct jpeg_reader *reader = reader_of(common);
    if (reader->jpeg.input_scan_number <= (int)reader->encoded->header->scan_count) return;
    snprintf(reader->message, sizeof reader->message, "it has more scans than its markers show");
    leave(reader, RECMAP_FEATURE);
}

static void set_callbacks(struct jpeg_reader *reader) {
    reader->jpeg.err = jpeg_std_error(&reader->errors);
    reader->errors.error_exit = take_error;
    reader->errors.emit_message = take_message;
    reader->errors.output_message = ignore_message;
    reader->jpeg.client_data = reader;
    reader->source = (struct jpeg_source_mgr){
        .next_input_byte = reader->encoded->data,
        .bytes_in_buffer = reader->encoded->size,
        .init_source = init_source,
        .fill_input_buffer = fill_source,
        .skip_input_data = skip_source,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = init_source,
    };
    reader->progress.progress_monitor = count_scans;
}

/* Chooses the colours that libjpeg converts to; the rest is converted later. */
static enum sample_layout choose_layout(struct jpeg_reader *reader) {
    struct jpeg_decompress_struct *jpeg = &reader->jpeg;
    bool wants_gray = reader->rows->mode == RECMAP_IMAGE_GRAY;
    switch (jpeg->jpeg_color_space) {
    case JCS_GRAYSCALE:
    case JCS_YCbCr:
        jpeg->out_color_space = wants_gray ? JCS_GRAYSCALE : JCS_RGB;
        return wants_gray ? SAMPLES_GRAY : SAMPLES_RGB;
    case JCS_RGB: jpeg->out_color_space = JCS_RGB; return SAMPLES_RGB;
    case JCS_CMYK:
    case JCS_YCCK:
        jpeg->out_color_space = JCS_CMYK;
        return jpeg->saw_Adobe_marker ? SAMPLES_CMYK_INVERTED : SAMPLES_CMYK;
    default: break;
    }
    snprintf(reader->message, sizeof reader->message, "a JPEG of %d components has unknown colours",
             jpeg->num_components);
    leave(reader, RECMAP_FEATURE);
    return SAMPLES_GRAY;
}

static void set_options(struct jpeg_decompress_struct *jpeg) {
    jpeg->dct_method = JDCT_ISLOW;
    jpeg->do_fancy_upsampling = TRUE;
    jpeg->do_block_smoothing = FALSE;
}

/* Leaves out the columns outside the region. Returns the first one that is left. Other sampling
 * factors than 1 and 2 are rare, and their crops have had faults. */
static uint32_t crop_columns(struct jpeg_reader *reader) {
    struct jpeg_decompress_struct *jpeg = &reader->jpeg;
    const struct region *region = reader->region;
    if (!reader->encoded->header->is_plain_sampled) return 0;
    uint32_t begin = region->x > SPARE_COLUMNS ? region->x - SPARE_COLUMNS : 0;
    uint64_t end = min_u64((uint64_t)region->x + region->width + SPARE_COLUMNS, jpeg->output_width);
    JDIMENSION first = begin, width = (JDIMENSION)(end - begin);
    if (!begin && width == jpeg->output_width) return 0;
    jpeg_crop_scanline(jpeg, &first, &width);
    return first;
}

static void read_rows(struct jpeg_reader *reader) {
    struct jpeg_decompress_struct *jpeg = &reader->jpeg;
    JDIMENSION width = jpeg->output_width * (JDIMENSION)jpeg->output_components;
    JSAMPARRAY buffer = jpeg->mem->alloc_sarray((j_common_ptr)jpeg, JPOOL_IMAGE, width, 1);
    if (reader->encoded->header->is_plain_sampled && reader->region->y)
        jpeg_skip_scanlines(jpeg, reader->region->y);
    while (image_rows_left(reader->rows)) {
        uint32_t y = jpeg->output_scanline;
        JSAMPROW row = image_rows_place(reader->rows, y, jpeg->output_width);
        if (!row) row = buffer[0];
        jpeg_read_scanlines(jpeg, &row, 1);
        image_rows_put(reader->rows, y, row);
    }
}

/* The region was chosen by our own reading of the header. */
static void check_size(struct jpeg_reader *reader) {
    const struct image_header *header = reader->encoded->header;
    const struct jpeg_decompress_struct *jpeg = &reader->jpeg;
    if (jpeg->image_width == header->width && jpeg->image_height == header->height) return;
    snprintf(reader->message, sizeof reader->message, "it has two sizes");
    leave(reader, RECMAP_FEATURE);
}

static void read_picture(struct jpeg_reader *reader) {
    struct jpeg_decompress_struct *jpeg = &reader->jpeg;
    jpeg_create_decompress(jpeg);
    jpeg->client_data = reader;
    jpeg->mem->max_memory_to_use =
        (long)min_u64(reader->encoded->max_pixels * BYTES_PER_PIXEL + MEMORY_BASE, LONG_MAX);
    jpeg->src = &reader->source;
    jpeg->progress = &reader->progress;
    jpeg_read_header(jpeg, TRUE);
    check_size(reader);
    set_options(jpeg);
    enum sample_layout layout = choose_layout(reader);
    jpeg_start_decompress(jpeg);
    if (reader->has_ended && reader->encoded->header->is_multi_scan) {
        reader->is_cut = true;
        leave(reader, RECMAP_FEATURE);
    }
    if (!image_rows_begin(reader->rows, layout, false, crop_columns(reader))) return;
    read_rows(reader);
}

static void decode(struct jpeg_reader *reader) {
    if (!setjmp(reader->on_error)) read_picture(reader);
}

/* libjpeg-turbo 3 decodes a lossless JPEG as a whole, but not a part of it; 2.1 none. What is
 * decoded must not depend on the version. */
static recmap_status check_frame(const struct encoded *encoded, recmap_error *error) {
    enum { BASELINE, EXTENDED, PROGRESSIVE, EXTENDED_ARITHMETIC = 9, PROGRESSIVE_ARITHMETIC };
    const unsigned type = encoded->header->frame_type;
    switch (type) {
    case BASELINE:
    case EXTENDED:
    case PROGRESSIVE:
    case EXTENDED_ARITHMETIC:
    case PROGRESSIVE_ARITHMETIC: return RECMAP_OK;
    default:
        return fail(error, RECMAP_FEATURE, "the JPEG is lossless or hierarchical (SOF%u)", type);
    }
}

static recmap_status check_scans(const struct encoded *encoded, recmap_error *error) {
    const struct image_header *header = encoded->header;
    uint64_t pixels = (uint64_t)header->height * header->width;
    if (header->scan_count <= SCANS_MAX &&
        header->scan_count * pixels <= SCAN_PIXELS_FACTOR * encoded->max_pixels)
        return RECMAP_OK;
    return fail(error, RECMAP_FEATURE,
                "the JPEG has %u scans of %u x %u pixels: the limit is %d scans, and all together "
                "%d times max_pixels",
                header->scan_count, header->height, header->width, SCANS_MAX, SCAN_PIXELS_FACTOR);
}

/* The row at which the coded bytes end: of the scan that is being read. */
static uint32_t last_row(const struct jpeg_reader *reader) {
    const struct jpeg_decompress_struct *jpeg = &reader->jpeg;
    uint64_t row = (uint64_t)jpeg->input_iMCU_row * (uint64_t)jpeg->max_v_samp_factor * DCTSIZE;
    return (uint32_t)min_u64(row, reader->encoded->header->height);
}

static recmap_status fail_reader(const struct jpeg_reader *reader, recmap_error *error) {
    if (reader->status == RECMAP_OK) return RECMAP_OK;
    if (reader->status == RECMAP_NO_MEMORY) return fail_memory(error);
    if (reader->is_cut)
        return fail(error, RECMAP_FEATURE, "the JPEG ends at row %u of %u", last_row(reader),
                    reader->encoded->header->height);
    return fail(error, RECMAP_FEATURE, "the JPEG is damaged at row %u of %u: %s", last_row(reader),
                reader->encoded->header->height, reader->message);
}

recmap_status jpeg_decode(struct image_rows *rows, const struct encoded *encoded,
                          const struct region *region, recmap_error *error) {
    RETURN_IF_FAILED(check_frame(encoded, error));
    RETURN_IF_FAILED(check_scans(encoded, error));
    struct jpeg_reader reader = {.rows = rows, .encoded = encoded, .region = region};
    set_callbacks(&reader);
    decode(&reader);
    recmap_status status = fail_reader(&reader, error);
    jpeg_destroy_decompress(&reader.jpeg);
    return status;
}
