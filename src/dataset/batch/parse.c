/* Records parsed into the columns of their batch. */
#include "dataset/batch/parse.h"

#include "base/core/error.h"
#include "dataset/batch/batch.h"
#include "dataset/batch/collect.h"
#include "dataset/batch/gather.h"
#include "dataset/batch/parallel.h"
#include "dataset/open/dataset.h"
#include "parse/columns/columns.h"

void dataset_place_error(recmap_dataset *dataset, recmap_error *error) {
    struct index_place place;
    if (!error || error->record == RECMAP_NO_RECORD || error->path[0] ||
        dataset_find_place(&place, dataset, error->record, NULL) != RECMAP_OK)
        return;
    uint64_t offset = place.offset + dataset->framings[place.shard_index]->header_size;
    if (error->offset != RECMAP_NO_OFFSET) offset += error->offset;
    dataset_fail_at(error, dataset, place.shard_index, error->record, offset);
}

recmap_status dataset_parse_batch(recmap_batch *batch, recmap_dataset *dataset,
                                  const recmap_parser *parser, recmap_parse_mode mode,
                                  recmap_error *error) {
    recmap_status status = RECMAP_OK;
    if (!batch->columns) status = recmap_columns_create(&batch->columns, error);
    if (status == RECMAP_OK) {
        columns_set_interrupt(batch->columns, &batch->interrupt);
        columns_set_allocator(batch->columns, batch->allocator);
        columns_set_draws(batch->columns, batch_draws(batch), 0);
        columns_set_image_counts(batch->columns, batch->image_counts);
        columns_set_repair(batch->columns, batch->repair);
        status =
            recmap_parser_parse(batch->columns, parser, batch->records, batch->count, mode, error);
        columns_set_interrupt(batch->columns, NULL);
        columns_set_allocator(batch->columns, NULL);
        columns_set_draws(batch->columns, NULL, 0);
        columns_set_image_counts(batch->columns, NULL);
        columns_set_repair(batch->columns, NULL);
        if (status == RECMAP_CORRUPT || status == RECMAP_FEATURE)
            dataset_place_error(dataset, error);
    }
    batch->is_parsed = status == RECMAP_OK;
    return status;
}

static recmap_status parse(recmap_batch *batch, recmap_dataset *dataset,
                           const struct fill_request *request, recmap_error *error) {
    const uint64_t *numbers = request->numbers;
    bool is_done;
    recmap_status status = parallel_fill(&is_done, batch, dataset, request, error);
    if (is_done || status != RECMAP_OK) return status;
    status = dataset_gather_here(batch, dataset, numbers, request->count, error);
    if (status == RECMAP_CORRUPT && request->mode == RECMAP_PARSE_COLLECT)
        return dataset_parse_readable(batch, dataset, request->parser, numbers, request->count,
                                      error);
    if (status != RECMAP_OK) return status;
    status = dataset_parse_batch(batch, dataset, request->parser, request->mode, error);
    if (status != RECMAP_OK) recmap_batch_clear(batch);
    return status;
}

recmap_status recmap_dataset_parse(recmap_batch *batch, recmap_dataset *dataset,
                                   const recmap_parser *parser, const uint64_t *numbers,
                                   size_t count, recmap_parse_mode mode, recmap_error *error) {
    const struct fill_request request = {
        .numbers = numbers, .count = count, .parser = parser, .mode = mode};
    RETURN_IF_FAILED(columns_check_records(parser, error));
    RETURN_IF_FAILED(columns_check_draws(parser, batch_draws(batch), error));
    if (batch->has_draws) RETURN_IF_FAILED(batch_take_draws(batch, &batch->draws, count, error));
    RETURN_IF_FAILED(parse(batch, dataset, &request, error));
    batch->has_place = batch->has_draws;
    return RECMAP_OK;
}
