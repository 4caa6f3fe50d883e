#include "loader/slices/rows_reader.h"

#include <stdlib.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "dataset/batch/gather.h"
#include "dataset/batch/parse.h"
#include "dataset/batch/parse_parts.h"
#include "dataset/open/dataset.h"
#include "loader/slices/rows.h"
#include "order/kinds/order.h"
#include "parse/columns/assemble.h"

/* ---- Records. */

/* Draws depend on the number of the row, whatever records it is cut from. */
static recmap_status take_draws(recmap_batch *batch, const recmap_order *order, uint64_t epoch,
                                const uint64_t *positions, size_t count, recmap_error *error) {
    if (!batch->has_draws) return RECMAP_OK;
    uint64_t *numbers = batch_reserve_draw_numbers(batch, count);
    if (!numbers) return fail_memory(error);
    RETURN_IF_FAILED(recmap_order_at(numbers, order, epoch, positions, count, error));
    const recmap_draws draws = {batch->draws.seed, epoch, positions, numbers, order->repeats};
    return batch_take_draws(batch, &draws, count, error);
}

recmap_status rows_reader_begin(struct rows_reader *reader, recmap_batch *batch,
                                recmap_dataset *dataset, const recmap_order *order,
                                const recmap_parser *parser, uint64_t epoch,
                                const uint64_t *positions, size_t count, recmap_error *error) {
    *reader = (struct rows_reader){.batch = batch, .dataset = dataset, .parser = parser};
    recmap_batch_clear(batch);
    RETURN_IF_FAILED(rows_check(dataset, order, parser, error));
    RETURN_IF_FAILED(columns_check_draws(parser, batch_draws(batch), error));
    RETURN_IF_FAILED(recmap_order_pieces(&batch->pieces, order, epoch, positions, count, error));
    RETURN_IF_FAILED(take_draws(batch, order, epoch, positions, count, error));
    batch->row_width = order->rows.width;
    if (!array_reserve(&batch->piece_records, &batch->piece_records_capacity, batch->pieces.count,
                       sizeof *batch->piece_records))
        return fail_memory(error);
    return RECMAP_OK;
}

/* Reads the records of the pieces, as far as they are needed. */
recmap_status rows_reader_gather(struct rows_reader *reader, recmap_error *error) {
    recmap_batch *batch = reader->batch;
    struct row_caches *caches = row_caches_of(reader->dataset);
    size_t record_count;
    if (!caches) return fail_memory(error);
    RETURN_IF_FAILED(dataset_request_records(batch->piece_records, &record_count, batch,
                                             reader->dataset, batch->pieces.items,
                                             batch->pieces.count, error));
    RETURN_IF_FAILED(
        partial_rows_init(&reader->partial, batch, reader->parser, caches, record_count, error));
    return dataset_gather_requested(batch, reader->dataset, &reader->partial.parts, record_count,
                                    error);
}

/* ---- Columns. */

static recmap_status list_pictures(struct rows_reader *reader, recmap_error *error) {
    const recmap_parser *parser = reader->parser;
    uint64_t byte_count = 0;
    reader->pictures = calloc(parser->image_count + 1, sizeof *reader->pictures);
    if (!reader->pictures) return fail_memory(error);
    for (size_t i = 0; i < parser->image_count; i++) {
        if (!parser->images[i].is_sliced) continue;
        struct row_pictures *pictures = &reader->pictures[reader->feature_count++];
        RETURN_IF_FAILED(
            row_pictures_init(pictures, reader->batch, parser, &parser->images[i], error));
        reader->picture_count += pictures->distinct_count;
        byte_count += pictures->byte_count;
    }
    reader->part_size = part_size_of(byte_count, reader->picture_count, PART_PICTURES);
    return RECMAP_OK;
}

recmap_status rows_reader_cut(struct rows_reader *reader, recmap_error *error) {
    RETURN_IF_FAILED(rows_cut(reader->batch, &reader->partial, error));
    return list_pictures(reader, error);
}

/* ---- Pictures. */

/* The feature of one of the distinct pictures of the batch, and its index among those of the
 * feature. */
static const struct row_pictures *find_feature(size_t *index, const struct rows_reader *reader,
                                               size_t picture) {
    const struct row_pictures *pictures = reader->pictures;
    for (; picture >= pictures->distinct_count; pictures++) picture -= pictures->distinct_count;
    *index = picture;
    return pictures;
}

recmap_status rows_reader_decode(struct rows_reader *reader, recmap_error *error) {
    recmap_batch *batch = reader->batch;
    recmap_status status = RECMAP_OK;
    columns_set_interrupt(batch->columns, &batch->interrupt);
    columns_set_image_counts(batch->columns, batch->image_counts);
    for (size_t i = 0; i < reader->picture_count && status == RECMAP_OK; i++) {
        struct read_fault fault;
        size_t index;
        const struct row_pictures *pictures = find_feature(&index, reader, i);
        if (!row_pictures_read(pictures, index, batch->columns, &fault))
            status = row_pictures_fail(pictures, index, &reader->partial, &fault, error);
    }
    columns_set_interrupt(batch->columns, NULL);
    columns_set_image_counts(batch->columns, NULL);
    return status;
}

size_t rows_reader_part_count(const struct rows_reader *reader) {
    return (reader->picture_count + reader->part_size - 1) / reader->part_size;
}

recmap_status rows_reader_decode_part(const struct rows_reader *reader, size_t part,
                                      recmap_columns *columns) {
    const size_t first = part * reader->part_size;
    for (size_t i = first; i < first + reader->part_size && i < reader->picture_count; i++) {
        struct read_fault fault;
        size_t index;
        const struct row_pictures *pictures = find_feature(&index, reader, i);
        if (!row_pictures_read(pictures, index, columns, &fault)) return fault.status;
    }
    return RECMAP_OK;
}

/* ---- The end. */

/* A record that was verified before is not checked again, so its bytes may be zeros by now: pages
 * past the end of a file that was cut read as zeros. Parsing zeros may succeed or fail, so this is
 * checked in both cases. */
static recmap_status check_cut(const recmap_batch *batch, recmap_error *error) {
    for (size_t i = 0; i < batch->count; i++) {
        if (!batch->shards[i] || !open_shard_was_cut(batch->shards[i])) continue;
        fail(error, RECMAP_IO, "the file was truncated after it was opened");
        fail_at(error, NULL, batch->records[i].number, RECMAP_NO_OFFSET);
        fail_advise(error, "restore the indexed file and open the data set again");
        return RECMAP_IO;
    }
    return RECMAP_OK;
}

/* Outside the ranges that the rows need, the memory of a partial record was never written. Callers
 * get no pointer to it. The size is right, and the columns still view the ranges. */
static void hide_partial_records(recmap_batch *batch, const struct partial_rows *partial) {
    for (size_t i = 0; i < batch->count; i++)
        if (partial->parts.records[i].is_partial) batch->records[i].data = NULL;
}

/* Adds the place of the record to the error, as gathering does to its errors. */
static recmap_status complete_error(const struct rows_reader *reader, recmap_status status,
                                    recmap_error *error) {
    if (status == RECMAP_OK || status == RECMAP_CORRUPT || status == RECMAP_FEATURE) {
        recmap_status cut_status = check_cut(reader->batch, error);
        if (cut_status != RECMAP_OK) status = cut_status;
    }
    if (status == RECMAP_CORRUPT || status == RECMAP_FEATURE || status == RECMAP_IO)
        dataset_place_error(reader->dataset, error);
    return status;
}

recmap_status rows_reader_finish(struct rows_reader *reader, recmap_status status,
                                 recmap_error *error) {
    recmap_batch *batch = reader->batch;
    if (status == RECMAP_OK)
        status = assemble_columns(columns_memory(batch->columns), &batch->interrupt, error);
    status = complete_error(reader, status, error);
    if (status == RECMAP_OK) hide_partial_records(batch, &reader->partial);
    else if (batch->columns) columns_clear(batch->columns);
    batch->is_parsed = batch->has_rows = status == RECMAP_OK;
    batch->has_place = batch->has_rows && batch->has_draws;
    return status;
}

void rows_reader_close(struct rows_reader *reader) {
    for (size_t i = 0; i < reader->feature_count; i++) row_pictures_deinit(&reader->pictures[i]);
    free(reader->pictures);
    partial_rows_deinit(&reader->partial);
    *reader = (struct rows_reader){
        .batch = reader->batch, .dataset = reader->dataset, .parser = reader->parser};
}
