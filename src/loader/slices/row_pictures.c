#include "loader/slices/row_pictures.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "loader/slices/picture_table.h"
#include "parse/columns/pictures.h"

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

recmap_status row_pictures_fail(const struct row_pictures *pictures, size_t distinct_index,
                                struct partial_rows *partial, struct read_fault *fault,
                                recmap_error *error) {
    const recmap_batch *batch = pictures->batch;
    const size_t index = pictures->distinct[distinct_index];
    const size_t row = index / pictures->row_count;
    const size_t piece =
        find_piece(pictures, row, index % pictures->row_count / pictures->element_count);
    const size_t record_index = batch->piece_records[piece];
    const recmap_record *record = &batch->records[record_index];
    if (fault->status == RECMAP_FEATURE) {
        if (partial->parts.records[record_index].is_partial)
            return partial_rows_fail(partial, record->number, error);
        name_picture(fault, pictures, &batch->pieces.items[piece], index);
        fault->offset = (size_t)(pictures->views[index].data - record->data);
    }
    return columns_raise(error, record, fault);
}

/* ---- Which pictures are equal. */

static void add_distinct(struct row_pictures *pictures, size_t index) {
    pictures->distinct[pictures->distinct_count++] = index;
    pictures->byte_count += pictures->views[index].size;
}

/* Places without a picture are filled with zeros, each for itself. */
static void list_distinct(struct row_pictures *pictures, struct picture_table *table,
                          size_t count) {
    for (size_t i = 0; i < count; i++) {
        const recmap_bytes *bytes = &pictures->views[i];
        const recmap_image_draw draw = draw_of(pictures, i);
        const struct picture_key key = {bytes->data, bytes->size, draw.number, draw.position};
        const size_t first = bytes->size ? picture_table_add(table, &key, i) : i;
        pictures->next[i] = 0;
        if (first == i) {
            add_distinct(pictures, i);
            continue;
        }
        pictures->next[i] = pictures->next[first];
        pictures->next[first] = i;
    }
}

recmap_status row_pictures_init(struct row_pictures *pictures, recmap_batch *batch,
                                const recmap_parser *parser, const struct image_feature *image,
                                recmap_error *error) {
    struct batch_memory *memory = columns_memory(batch->columns);
    const struct slice_plan *slice = &parser->slices[image->bytes_slot];
    const struct sink *views = batch_memory_slice(memory, image->bytes_slot);
    *pictures =
        (struct row_pictures){.batch = batch,
                              .parser = parser,
                              .image = image,
                              .views = (const recmap_bytes *)(const void *)views->values.data,
                              .pixels = batch_memory_output(memory, image->pixels)->values.data,
                              .picture_size = (size_t)image->plan.image.height *
                                              image->plan.image.width * image->plan.pixel_size,
                              .element_count = (size_t)slice->stride,
                              .row_count = (size_t)(batch->row_width * slice->stride)};
    const size_t count = batch->pieces.row_count * pictures->row_count;
    struct picture_table table;
    if (!picture_table_init(&table, count)) return fail_memory(error);
    pictures->distinct = malloc((count + 1) * sizeof *pictures->distinct);
    pictures->next = malloc((count + 1) * sizeof *pictures->next);
    const bool has_memory = pictures->distinct && pictures->next;
    if (has_memory) list_distinct(pictures, &table, count);
    picture_table_deinit(&table);
    return has_memory ? RECMAP_OK : fail_memory(error);
}

void row_pictures_deinit(struct row_pictures *pictures) {
    free(pictures->distinct);
    free(pictures->next);
}

/* ---- Pixels. */

static bool copy_to_equal(const struct row_pictures *pictures, size_t index,
                          recmap_columns *columns, struct read_fault *fault) {
    const size_t size = pictures->picture_size;
    for (size_t i = pictures->next[index]; i; i = pictures->next[i]) {
        memcpy(pictures->pixels + i * size, pictures->pixels + index * size, size);
        if (interrupt_continues(columns->interrupt, size)) continue;
        return fault_set(fault, RECMAP_CANCELLED, SIZE_MAX, "interrupted");
    }
    return true;
}

bool row_pictures_read(const struct row_pictures *pictures, size_t distinct_index,
                       recmap_columns *columns, struct read_fault *fault) {
    const size_t index = pictures->distinct[distinct_index];
    const recmap_bytes *bytes = &pictures->views[index];
    uint8_t *pixels = pictures->pixels + index * pictures->picture_size;
    if (!bytes->size) {
        memset(pixels, 0, pictures->picture_size);
        return true;
    }
    const recmap_image_draw draw = draw_of(pictures, index);
    return image_column_decode(columns, pictures->parser, pictures->image, pixels, bytes, &draw,
                               fault) &&
           copy_to_equal(pictures, index, columns, fault);
}
