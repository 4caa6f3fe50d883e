#include "loader/slices/rows.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "loader/slices/cut.h"
#include "loader/slices/partial.h"
#include "parse/columns/columns.h"

/* Where a piece goes, and what it comes from. */
struct row_cutter {
    recmap_batch *batch;
    const recmap_parser *parser;
    struct batch_memory *memory;
    struct partial_rows *partial;
    struct slice_span *spans; /* of `record` */
    const recmap_record *record;
    const struct list_start *starts; /* of the piece; NULL if the whole record is there */
    bool is_plain;                   /* the spans of `record` were found */
    bool is_partial;                 /* only what the pieces need of `record` is there */
};

/* ---- Values that are not in records. */

static uint8_t *element_address(const struct row_cutter *cutter, size_t slice_index,
                                uint64_t element) {
    const struct slice_plan *slice = &cutter->parser->slices[slice_index];
    size_t size = (size_t)slice->stride * recmap_element_size(slice->slot.element);
    return batch_memory_slice(cutter->memory, slice_index)->values.data + element * size;
}

/* Repeats the first `size` of `count * size` bytes. */
static void repeat(uint8_t *out, size_t size, uint64_t count) {
    size_t total = size * (size_t)count, done = size;
    while (done < total) {
        size_t more = (size_t)min_u64(done, total - done);
        memcpy(out + done, out, more);
        done += more;
    }
}

/* Sets `count` elements to copies of one value, or of one whole element. */
static void fill(const struct row_cutter *cutter, size_t slice_index, uint64_t element,
                 uint64_t count, const void *value, bool is_element) {
    const struct slice_plan *slice = &cutter->parser->slices[slice_index];
    size_t size = recmap_element_size(slice->slot.element);
    uint8_t *out = element_address(cutter, slice_index, element);
    if (!count) return;
    assert(element + count <= cutter->batch->pieces.row_count * cutter->batch->row_width);
    size_t copied = is_element ? size * (size_t)slice->stride : size;
    memmove(out, value, copied);
    repeat(out, copied, is_element ? count : count * slice->stride);
}

/* Pads the elements [begin, end). With pad_edge they repeat the element at `edge`. */
static void pad(const struct row_cutter *cutter, uint64_t begin, uint64_t end, uint64_t edge) {
    if (begin == end) return;
    for (size_t i = 0; i < cutter->parser->slice_count; i++) {
        const struct slice_plan *slice = &cutter->parser->slices[i];
        const struct column_plan *column = &cutter->parser->columns[slice->column];
        bool is_edge = column->feature.pad_edge != 0;
        fill(cutter, i, begin, end - begin,
             is_edge ? element_address(cutter, i, edge) : column->pad, is_edge);
    }
}

/* ---- Reading a record as a whole, if it is encoded in an unusual way or is bad. */

static recmap_status fail_count(const struct row_cutter *cutter, const struct slice_plan *slice,
                                uint64_t found, uint64_t total, recmap_error *error) {
    fail(error, RECMAP_FEATURE,
         "feature '%.200s' has %" PRIu64 " element%s, but the counts of the order say %" PRIu64,
         slice->slot.name, found, plural(found), total);
    fail_at(error, NULL, cutter->record->number, RECMAP_NO_OFFSET);
    fail_advise(error,
                "if the lists of one record differ in length, `recmap doctor` finds such records; "
                "else make the order from the counts of these records; if they come from an index "
                "that is older than the records, build it again with `recmap index`");
    return RECMAP_FEATURE;
}

static recmap_status fail_missing(const struct row_cutter *cutter, const struct slice_plan *slice,
                                  uint64_t total, recmap_error *error) {
    fail(error, RECMAP_FEATURE,
         "feature '%.200s' is missing, but the counts of the order say that it has %" PRIu64
         " element%s",
         slice->slot.name, total, plural(total));
    fail_at(error, NULL, cutter->record->number, RECMAP_NO_OFFSET);
    fail_advise(error,
                "every sliced feature of a record needs as many elements as the counted one, and a "
                "feature list must be requested as one (feature_lists); `recmap schema` shows "
                "what the records contain");
    return RECMAP_FEATURE;
}

static recmap_status read_whole(const struct row_cutter *cutter, recmap_error *error) {
    recmap_batch *batch = cutter->batch;
    if (!batch->whole) RETURN_IF_FAILED(recmap_columns_create(&batch->whole, error));
    return recmap_parser_parse(batch->whole, cutter->parser->whole, cutter->record, 1,
                               RECMAP_PARSE_RAISE, error);
}

/* Copies a stretch from the whole record. */
static recmap_status cut_whole(const struct row_cutter *cutter, size_t slice_index,
                               const struct stretch *stretch, recmap_error *error) {
    const struct slice_plan *slice = &cutter->parser->slices[slice_index];
    RETURN_IF_FAILED(read_whole(cutter, error));
    const recmap_column *column = recmap_columns_get(cutter->batch->whole, slice_index);
    uint64_t found = (uint64_t)column->offsets[0][1];
    if (column->null_count) return fail_missing(cutter, slice, stretch->total, error);
    if (found != stretch->total) return fail_count(cutter, slice, found, stretch->total, error);
    size_t size = (size_t)slice->stride * recmap_element_size(slice->slot.element);
    const uint8_t *values = column->views ? (const void *)column->views : column->values;
    memcpy(element_address(cutter, slice_index, stretch->place), values + stretch->first * size,
           (size_t)stretch->count * size);
    return RECMAP_OK;
}

/* ---- Pieces. */

static recmap_status cut_stretch(const struct row_cutter *cutter, size_t slice_index,
                                 const struct stretch *stretch, recmap_error *error) {
    struct sink *sink = batch_memory_slice(cutter->memory, slice_index);
    if (cutter->is_plain &&
        slice_cut(sink, &cutter->parser->slices[slice_index], &cutter->spans[slice_index], stretch,
                  cutter->starts ? &cutter->starts[slice_index] : NULL, cutter->record,
                  cutter->partial->caches->marks))
        return RECMAP_OK;
    if (cutter->is_partial)
        return partial_rows_fail(cutter->partial, cutter->record->number, error);
    return cut_whole(cutter, slice_index, stretch, error);
}

/* Sets the elements [first, end) of a piece that are among `count` added ones, from number `start`
 * of the document on. */
static void put_added(const struct row_cutter *cutter, size_t slice_index,
                      const recmap_piece *piece, uint64_t place, uint64_t start, uint64_t count,
                      size_t first_added) {
    const struct slice_plan *slice = &cutter->parser->slices[slice_index];
    size_t size = recmap_element_size(slice->slot.element);
    uint64_t end = min_u64(piece->first + piece->count, start + count);
    for (uint64_t i = piece->first > start ? piece->first : start; i < end; i++)
        fill(cutter, slice_index, place + i - piece->first, 1,
             (const uint8_t *)slice->added + (first_added + i - start) * size, false);
}

/* Puts the elements of a piece into the row, in ascending places. */
static recmap_status put_piece(const struct row_cutter *cutter, size_t slice_index,
                               const recmap_piece *piece, uint64_t place, recmap_error *error) {
    const struct slice_plan *slice = &cutter->parser->slices[slice_index];
    const recmap_feature *feature = &cutter->parser->columns[slice->column].feature;
    uint64_t before = feature->prepend_count, after = feature->append_count;
    struct stretch stretch;
    if (before) put_added(cutter, slice_index, piece, place, 0, before, 0);
    if (stretch_of_piece(&stretch, piece, feature)) {
        stretch.place += place;
        RETURN_IF_FAILED(cut_stretch(cutter, slice_index, &stretch, error));
    }
    if (after) put_added(cutter, slice_index, piece, place, piece->length - after, after, before);
    return RECMAP_OK;
}

static void open_record(struct row_cutter *cutter, size_t record_index) {
    const recmap_record *record = &cutter->batch->records[record_index];
    cutter->record = record;
    cutter->is_partial = partial_rows_spans(cutter->spans, cutter->partial, record_index, record);
    cutter->is_plain = cutter->is_partial || slice_find(cutter->spans, cutter->parser, record);
    if (cutter->is_plain && !cutter->is_partial)
        partial_rows_learn(cutter->partial, record_index, record, cutter->spans);
}

static recmap_status read_piece(struct row_cutter *cutter, size_t piece_index, uint64_t place,
                                recmap_error *error) {
    const recmap_batch *batch = cutter->batch;
    size_t record_index = batch->piece_records[piece_index];
    if (cutter->record != &batch->records[record_index]) open_record(cutter, record_index);
    cutter->starts = cutter->is_partial ? partial_rows_starts(cutter->partial, piece_index) : NULL;
    for (size_t i = 0; i < cutter->parser->slice_count; i++)
        RETURN_IF_FAILED(put_piece(cutter, i, &batch->pieces.items[piece_index], place, error));
    return RECMAP_OK;
}

/* Reads the pieces of a row and pads what they leave free. Padding that follows a piece is written
 * after it, because decoding may overwrite a few bytes past the end of a piece. */
static recmap_status read_row_pieces(struct row_cutter *cutter, size_t row, size_t first,
                                     recmap_error *error) {
    const recmap_pieces *pieces = &cutter->batch->pieces;
    uint64_t width = cutter->batch->row_width, start = row * width, end = start;
    for (size_t i = first; i < pieces->ends[row]; i++) {
        uint64_t place = start + pieces->items[i].place;
        RETURN_IF_FAILED(read_piece(cutter, i, place, error));
        pad(cutter, end, place, i == first ? place : end - 1);
        end = place + pieces->items[i].count;
    }
    pad(cutter, end, start + width, end - 1);
    return RECMAP_OK;
}

/* Features that are not sliced have one value per row, from its only record. */
static recmap_status read_others(struct row_cutter *cutter, size_t row, size_t first,
                                 recmap_error *error) {
    const recmap_batch *batch = cutter->batch;
    if (cutter->parser->slice_count == cutter->parser->column_count) return RECMAP_OK;
    return columns_read_row(batch->columns, &batch->records[batch->piece_records[first]], row,
                            error);
}

static recmap_status read_rows(struct row_cutter *cutter, recmap_error *error) {
    recmap_batch *batch = cutter->batch;
    size_t first = 0;
    for (size_t row = 0; row < batch->pieces.row_count; row++) {
        RETURN_IF_FAILED(interrupt_check(&batch->interrupt, batch->row_width, error));
        RETURN_IF_FAILED(read_others(cutter, row, first, error));
        RETURN_IF_FAILED(read_row_pieces(cutter, row, first, error));
        first = batch->pieces.ends[row];
    }
    return RECMAP_OK;
}

static recmap_status cut_columns(recmap_batch *batch, struct partial_rows *partial,
                                 recmap_error *error) {
    const recmap_parser *parser = partial->parser;
    RETURN_IF_FAILED(columns_begin_rows(batch->columns, parser, batch->pieces.row_count,
                                        batch->row_width, error));
    struct row_cutter cutter = {.batch = batch,
                                .parser = parser,
                                .memory = columns_memory(batch->columns),
                                .partial = partial,
                                .spans = calloc(parser->slice_count + 1, sizeof *cutter.spans)};
    recmap_status status = cutter.spans ? read_rows(&cutter, error) : fail_memory(error);
    free(cutter.spans);
    return status;
}

recmap_status rows_cut(recmap_batch *batch, struct partial_rows *partial, recmap_error *error) {
    if (!batch->columns) RETURN_IF_FAILED(recmap_columns_create(&batch->columns, error));
    columns_set_interrupt(batch->columns, &batch->interrupt);
    columns_set_allocator(batch->columns, batch->allocator);
    columns_set_draws(batch->columns, batch_draws(batch), 0);
    columns_set_image_counts(batch->columns, batch->image_counts);
    recmap_status status = cut_columns(batch, partial, error);
    columns_set_interrupt(batch->columns, NULL);
    columns_set_allocator(batch->columns, NULL);
    columns_set_draws(batch->columns, NULL, 0);
    columns_set_image_counts(batch->columns, NULL);
    return status;
}
