#include "loader/slices/row_pictures.h"

#include <inttypes.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "loader/slices/picture_table.h"
#include "parse/columns/pictures.h"

/* The pictures of one feature. */
struct row_pictures {
    recmap_batch *batch;
    struct partial_rows *partial;
    const struct image_feature *image;
    const recmap_bytes *views; /* of all rows */
    uint8_t *pixels;
    size_t picture_size;  /* bytes of pixels */
    size_t element_count; /* pictures in an element */
    size_t row_count;     /* pictures in a row */
    struct picture_table table;
};

/* All pictures of a row have the row's draw. */
static recmap_image_draw draw_of(const struct row_pictures *pictures, size_t index) {
    if (!pictures->image->plan.is_random) return (recmap_image_draw){.seed = 0};
    return draws_get(batch_draws(pictures->batch), index / pictures->row_count, 0);
}

/* ---- A picture that cannot be decoded. */

/* The piece of a row that an element of it is from: the piece that holds it, or, for a copy of an
 * edge, the nearest one. */
static size_t find_piece(const struct row_pictures *pictures, size_t row, uint64_t element) {
    const recmap_pieces *pieces = &pictures->batch->pieces;
    size_t piece = row ? pieces->ends[row - 1] : 0;
    while (piece + 1 < pieces->ends[row] && pieces->items[piece + 1].place <= element) piece++;
    return piece;
}

/* Names the picture by its place in the record, whatever row it was decoded for. */
static void name_picture(struct read_fault *fault, const struct row_pictures *pictures,
                         const recmap_piece *piece, size_t index) {
    uint64_t element = index % pictures->row_count / pictures->element_count;
    uint64_t in_piece = element > piece->place ? element - piece->place : 0;
    uint64_t in_record = piece->first + min_u64(in_piece, piece->count - 1);
    if (pictures->element_count == 1)
        fault_add(fault, " (picture %" PRIu64 ", counted from 0)", in_record);
    else
        fault_add(fault, " (picture %zu of element %" PRIu64 ", counted from 0)",
                  index % pictures->element_count, in_record);
}

static recmap_status fail_picture(const struct row_pictures *pictures, size_t index,
                                  struct read_fault *fault, recmap_error *error) {
    const recmap_batch *batch = pictures->batch;
    const size_t row = index / pictures->row_count;
    const size_t piece =
        find_piece(pictures, row, index % pictures->row_count / pictures->element_count);
    const size_t record_index = batch->piece_records[piece];
    const recmap_record *record = &batch->records[record_index];
    if (fault->status == RECMAP_FEATURE) {
        if (pictures->partial->parts.records[record_index].is_partial)
            return partial_rows_fail(pictures->partial, record->number, error);
        name_picture(fault, pictures, &batch->pieces.items[piece], index);
        fault->offset = (size_t)(pictures->views[index].data - record->data);
    }
    return columns_raise(error, record, fault);
}

/* ---- Pixels. */

static recmap_status read_picture(struct row_pictures *pictures, size_t index,
                                  recmap_error *error) {
    const recmap_bytes *bytes = &pictures->views[index];
    const size_t size = pictures->picture_size;
    uint8_t *pixels = pictures->pixels + index * size;
    if (!bytes->size) {
        memset(pixels, 0, size);
        return RECMAP_OK;
    }
    const recmap_image_draw draw = draw_of(pictures, index);
    const struct picture_key key = {bytes->data, bytes->size, draw.number, draw.position};
    const size_t first = picture_table_add(&pictures->table, &key, index);
    if (first != index) {
        memcpy(pixels, pictures->pixels + first * size, size);
        return interrupt_check(&pictures->batch->interrupt, size, error);
    }
    struct read_fault fault;
    if (image_column_decode(pictures->batch->columns, pictures->image, pixels, bytes, &draw,
                            &fault))
        return RECMAP_OK;
    return fail_picture(pictures, index, &fault, error);
}

static recmap_status read_feature(recmap_batch *batch, struct partial_rows *partial,
                                  const struct image_feature *image, recmap_error *error) {
    struct batch_memory *memory = columns_memory(batch->columns);
    const struct slice_plan *slice = &partial->parser->slices[image->bytes_slot];
    const struct sink *views = batch_memory_slice(memory, image->bytes_slot);
    struct row_pictures pictures = {
        .batch = batch,
        .partial = partial,
        .image = image,
        .views = (const recmap_bytes *)(const void *)views->values.data,
        .pixels = batch_memory_output(memory, image->pixels)->values.data,
        .picture_size = (size_t)image->plan.image.height * image->plan.image.width *
                        image->plan.pixel_size,
        .element_count = (size_t)slice->stride,
        .row_count = (size_t)(batch->row_width * slice->stride)};
    const size_t count = batch->pieces.row_count * pictures.row_count;
    if (!picture_table_init(&pictures.table, count)) return fail_memory(error);
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; i < count && status == RECMAP_OK; i++)
        status = read_picture(&pictures, i, error);
    picture_table_deinit(&pictures.table);
    return status;
}

recmap_status row_pictures_read(recmap_batch *batch, struct partial_rows *partial,
                                recmap_error *error) {
    const recmap_parser *parser = partial->parser;
    for (size_t i = 0; i < parser->image_count; i++)
        if (parser->images[i].is_sliced)
            RETURN_IF_FAILED(read_feature(batch, partial, &parser->images[i], error));
    return RECMAP_OK;
}
