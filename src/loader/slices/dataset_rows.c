/* Reading rows from a data set. */
#include <inttypes.h>

#include "base/core/array.h"
#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "dataset/batch/gather.h"
#include "dataset/batch/parse.h"
#include "dataset/open/dataset.h"
#include "loader/slices/rows.h"
#include "order/kinds/order.h"
#include "parse/columns/columns.h"
#include "parse/plan/plan.h"
#include "parse/plan/spec.h"

static recmap_status check_records(const recmap_dataset *dataset, const recmap_order *order,
                                   recmap_error *error) {
    uint64_t count = recmap_dataset_count(dataset);
    if (!order->rows.width)
        return fail(error, RECMAP_INVALID, "a %s order gives records, not rows", order->kind->name);
    if (order->record_limit <= count) return RECMAP_OK;
    fail(error, RECMAP_INVALID,
         "the order covers %" PRIu64 " record%s, but the data set has %" PRIu64,
         order->record_limit, plural(order->record_limit), count);
    fail_advise(error, "make the order from the counts of this data set");
    return RECMAP_INVALID;
}

static recmap_status check_added(const recmap_order *order, const struct column_plan *column,
                                 recmap_error *error) {
    const recmap_feature *feature = &column->feature;
    uint64_t added = feature->prepend_count + feature->append_count;
    if (order->rows.add == added) return RECMAP_OK;
    if (order->rows.add == ROW_ADD_MIXED)
        fail(error, RECMAP_INVALID,
             "the sources of the mixture add different numbers of elements to a document");
    else
        fail(error, RECMAP_INVALID,
             "feature '%.200s' prepends and appends %" PRIu64
             " elements, but the order adds %" PRIu64 " to each document",
             feature->name, added, order->rows.add);
    if (column->is_output)
        fail_advise(error, "make the order with add=0: no pictures can be added to a document");
    else fail_advise(error, "give as many elements to prepend and append as `add` of the order");
    return RECMAP_INVALID;
}

static recmap_status check_size(const recmap_order *order, const struct column_plan *column,
                                recmap_error *error) {
    if (order->rows.width < SPEC_ELEMENT_LIMIT / column->stride) return RECMAP_OK;
    fail(error, RECMAP_INVALID,
         "feature '%.200s': a row of %" PRIu64 " elements has 2^31 values or more",
         column->feature.name, order->rows.width);
    fail_advise(error, "use shorter rows");
    return RECMAP_INVALID;
}

/* Rows of several documents have no single value for them. */
static recmap_status check_other(const recmap_order *order, const recmap_feature *feature,
                                 recmap_error *error) {
    if (order->rows.has_windows) return RECMAP_OK;
    fail(error, RECMAP_INVALID,
         "feature '%.200s' is not sliced, but a row of a %s order holds pieces of several records",
         feature->name, order->kind->name);
    fail_advise(error, "request it as SLICED, or read it for the records that the pieces name");
    return RECMAP_INVALID;
}

recmap_status rows_check(const recmap_dataset *dataset, const recmap_order *order,
                         const recmap_parser *parser, recmap_error *error) {
    RETURN_IF_FAILED(check_records(dataset, order, error));
    if (!parser || !parser->slice_count) {
        fail(error, RECMAP_INVALID, "the order gives rows, but no feature is sliced into rows");
        fail_advise(error,
                    "request a Sliced feature, such as Sliced((), \"int64\"); in C, of the kind "
                    "RECMAP_FEATURE_SLICED");
        return RECMAP_INVALID;
    }
    for (size_t i = 0; i < parser->column_count; i++) {
        const struct column_plan *column = &parser->columns[i];
        if (column->feature.kind != RECMAP_FEATURE_SLICED) {
            RETURN_IF_FAILED(check_other(order, &column->feature, error));
            continue;
        }
        RETURN_IF_FAILED(check_added(order, column, error));
        RETURN_IF_FAILED(check_size(order, column, error));
    }
    return RECMAP_OK;
}

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

/* Cuts the rows. Adds the place of the record to the error, as gathering does to its errors. */
static recmap_status cut_rows(recmap_batch *batch, recmap_dataset *dataset,
                              struct partial_rows *partial, recmap_error *error) {
    recmap_status status = rows_read(batch, partial, error);
    if (status == RECMAP_OK || status == RECMAP_CORRUPT || status == RECMAP_FEATURE) {
        recmap_status cut_status = check_cut(batch, error);
        if (cut_status != RECMAP_OK) status = cut_status;
    }
    if (status == RECMAP_CORRUPT || status == RECMAP_FEATURE || status == RECMAP_IO)
        dataset_place_error(dataset, error);
    return status;
}

/* Outside the ranges that the rows need, the memory of a partial record was never written. Callers
 * get no pointer to it. The size is right, and the columns still view the ranges. */
static void hide_partial_records(recmap_batch *batch, const struct partial_rows *partial) {
    for (size_t i = 0; i < batch->count; i++)
        if (partial->parts.records[i].is_partial) batch->records[i].data = NULL;
}

/* Reads the records of the pieces, as far as they are needed, and cuts the rows from them. Sets
 * `has_failed` if a record that was read in part must be read as a whole. */
static recmap_status try_pieces(bool *has_failed, recmap_batch *batch, recmap_dataset *dataset,
                                const recmap_parser *parser, recmap_error *error) {
    struct row_caches *caches = row_caches_of(dataset);
    size_t record_count;
    if (!caches) return fail_memory(error);
    RETURN_IF_FAILED(dataset_request_records(batch->piece_records, &record_count, batch, dataset,
                                             batch->pieces.items, batch->pieces.count, error));
    struct partial_rows partial;
    recmap_status status = partial_rows_init(&partial, batch, parser, caches, record_count, error);
    if (status == RECMAP_OK)
        status = dataset_gather_requested(batch, dataset, &partial.parts, record_count, error);
    if (status == RECMAP_OK) status = cut_rows(batch, dataset, &partial, error);
    if (status == RECMAP_OK) hide_partial_records(batch, &partial);
    *has_failed = partial.has_failed;
    partial_rows_deinit(&partial);
    return status;
}

static recmap_status read_pieces(recmap_batch *batch, recmap_dataset *dataset,
                                 const recmap_parser *parser, recmap_error *error) {
    bool has_failed = true;
    recmap_status status = RECMAP_OK;
    if (!array_reserve(&batch->piece_records, &batch->piece_records_capacity, batch->pieces.count,
                       sizeof *batch->piece_records))
        return fail_memory(error);
    /* A failure makes the data set forget what it knew of one record of this batch. */
    for (size_t tries = 0; has_failed && tries <= batch->pieces.count; tries++) {
        has_failed = false;
        status = try_pieces(&has_failed, batch, dataset, parser, error);
    }
    return status;
}

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

recmap_status recmap_dataset_rows(recmap_batch *batch, recmap_dataset *dataset,
                                  const recmap_order *order, const recmap_parser *parser,
                                  uint64_t epoch, const uint64_t *positions, size_t count,
                                  recmap_error *error) {
    recmap_batch_clear(batch);
    RETURN_IF_FAILED(rows_check(dataset, order, parser, error));
    RETURN_IF_FAILED(columns_check_draws(parser, batch_draws(batch), error));
    RETURN_IF_FAILED(recmap_order_pieces(&batch->pieces, order, epoch, positions, count, error));
    RETURN_IF_FAILED(take_draws(batch, order, epoch, positions, count, error));
    batch->row_width = order->rows.width;
    recmap_status status = read_pieces(batch, dataset, parser, error);
    if (status != RECMAP_OK) recmap_batch_clear(batch);
    batch->is_parsed = batch->has_rows = status == RECMAP_OK;
    batch->has_place = batch->has_rows && batch->has_draws;
    return status;
}

const recmap_pieces *recmap_batch_pieces(const recmap_batch *batch) {
    return batch->has_rows ? &batch->pieces : NULL;
}

uint64_t recmap_batch_row_width(const recmap_batch *batch) {
    return batch->has_rows ? batch->row_width : 0;
}
