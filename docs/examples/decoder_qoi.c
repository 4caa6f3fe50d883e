/* A decoder of QOI pictures (https://qoiformat.org). Compile it with
 *     cc -O2 -shared -fPIC decoder_qoi.c -o qoi.so
 * and name it in recmap.Image(..., decoders=["./qoi.so"]). A C program can put the struct into
 * recmap_image.decoders instead. */
#include <stdlib.h>
#include <string.h>

#include <recmap/image_decoder.h>

enum { HEADER_SIZE = 14, INDEX_SIZE = 64 };

typedef struct pixel {
    uint8_t r, g, b, a; /* in the order of the samples */
} pixel;

static uint32_t load32(const uint8_t *data) {
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

static int recognizes(const uint8_t *data, size_t size, void *context) {
    (void)context;
    return size >= 4 && !memcmp(data, "qoif", 4);
}

static recmap_status describe(recmap_image_info *info, const uint8_t *data, size_t size,
                              void *context) {
    (void)context;
    if (size < HEADER_SIZE || (data[12] != 3 && data[12] != 4)) return RECMAP_FEATURE;
    info->width = load32(data + 4);
    info->height = load32(data + 8);
    info->mode = data[12] == 3 ? "RGB" : "RGBA";
    return RECMAP_OK;
}

typedef struct reader {
    const uint8_t *next, *end;
    pixel last, index[INDEX_SIZE];
    unsigned run; /* repetitions of the last pixel that follow */
} reader;

static pixel add(pixel p, unsigned r, unsigned g, unsigned b) {
    return (pixel){(uint8_t)(p.r + r), (uint8_t)(p.g + g), (uint8_t)(p.b + b), p.a};
}

/* Reads an operation into the last pixel or the run. Returns 0 if the bytes end. */
static int read_operation(reader *reader) {
    static const uint8_t sizes[] = {1, 1, 2, 1}; /* by the highest two bits */
    if (reader->next == reader->end) return 0;
    const uint8_t *at = reader->next;
    const unsigned tag = at[0];
    size_t size = tag == 0xff ? 5 : tag == 0xfe ? 4 : sizes[tag >> 6];
    if (size > (size_t)(reader->end - at)) return 0;
    reader->next += size;
    pixel p = reader->last;
    const unsigned green = (tag & 63) - 32;
    if (tag >= 0xfe) p = (pixel){at[1], at[2], at[3], tag == 0xff ? at[4] : p.a};
    else if (tag >> 6 == 0) p = reader->index[tag];
    else if (tag >> 6 == 1) p = add(p, (tag >> 4 & 3) - 2, (tag >> 2 & 3) - 2, (tag & 3) - 2);
    else if (tag >> 6 == 2) p = add(p, green - 8 + (at[1] >> 4), green, green - 8 + (at[1] & 15));
    else reader->run = tag & 63;
    reader->last = reader->index[(p.r * 3 + p.g * 5 + p.b * 7 + p.a * 11) % INDEX_SIZE] = p;
    return 1;
}

/* All rows from the first one on, because each pixel depends on the ones before it. */
static recmap_status decode(recmap_image_rows *rows, const recmap_region *wanted,
                            const uint8_t *data, size_t size, void *context) {
    reader reader = {.next = data + HEADER_SIZE, .end = data + size, .last = {.a = 255}};
    recmap_image_info info = {.depth = 8, .orientation = 1};
    int status = describe(&info, data, size, context);
    if (status == RECMAP_OK) status = recmap_image_rows_begin(rows, &info);
    if (status != RECMAP_OK) return (recmap_status)status;
    const size_t channels = data[12];
    uint8_t *row = malloc(info.width * channels);
    if (!row) return RECMAP_NO_MEMORY;
    for (uint32_t y = 0; status == RECMAP_OK && y < wanted->y + wanted->height; y++) {
        for (uint32_t x = 0; status == RECMAP_OK && x < info.width; x++) {
            if (reader.run) reader.run--;
            else if (!read_operation(&reader)) status = recmap_image_rows_fail(rows, "it ends");
            memcpy(row + x * channels, &reader.last, channels);
        }
        if (status == RECMAP_OK) status = recmap_image_rows_put(rows, y, row);
    }
    free(row);
    return (recmap_status)status;
}

RECMAP_API const recmap_image_decoder *recmap_image_decoder_main(void);

const recmap_image_decoder *recmap_image_decoder_main(void) {
    static const recmap_image_decoder qoi = {.version = RECMAP_IMAGE_DECODER_VERSION,
                                             .name = "qoi",
                                             .recognizes = recognizes,
                                             .describe = describe,
                                             .decode = decode};
    return &qoi;
}
