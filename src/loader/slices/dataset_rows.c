/* Reading rows from a data set. */
#include <inttypes.h>

#include "base/core/error.h"
#include "base/core/plural.h"
#include "dataset/open/dataset.h"
#include "loader/slices/rows.h"
#include "loader/slices/rows_reader.h"
#include "order/kinds/order.h"
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

/* Reads the rows. Sets `has_failed` if a record that was read in part must be read as a whole. */
static recmap_status try_rows(bool *has_failed, struct rows_reader *reader, recmap_error *error) {
    recmap_status status = rows_reader_gather(reader, error);
    if (status == RECMAP_OK) {
        status = rows_reader_cut(reader, error);
        if (status == RECMAP_OK) status = rows_reader_decode(reader, error);
        status = rows_reader_finish(reader, status, error);
    }
    *has_failed = reader->partial.has_failed;
    rows_reader_close(reader);
    return status;
}

recmap_status recmap_dataset_rows(recmap_batch *batch, recmap_dataset *dataset,
                                  const recmap_order *order, const recmap_parser *parser,
                                  uint64_t epoch, const uint64_t *positions, size_t count,
                                  recmap_error *error) {
    struct rows_reader reader;
    recmap_status status =
        rows_reader_begin(&reader, batch, dataset, order, parser, epoch, positions, count, error);
    if (status != RECMAP_OK) return status;
    /* A failure makes the data set forget what it knew of one record of this batch. */
    bool has_failed = true;
    for (size_t tries = 0; has_failed && tries <= batch->pieces.count; tries++)
        status = try_rows(&has_failed, &reader, error);
    if (status != RECMAP_OK) recmap_batch_clear(batch);
    return status;
}

const recmap_pieces *recmap_batch_pieces(const recmap_batch *batch) {
    return batch->has_rows ? &batch->pieces : NULL;
}

uint64_t recmap_batch_row_width(const recmap_batch *batch) {
    return batch->has_rows ? batch->row_width : 0;
}
