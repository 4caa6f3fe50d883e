#include "dataset/batch/collect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "dataset/batch/batch.h"
#include "dataset/batch/gather.h"
#include "dataset/batch/parse.h"
#include "dataset/batch/probe.h"
#include "parse/columns/columns.h"

/* The records of a request that can be read. */
struct readable_records {
    uint64_t *numbers;
    size_t count;
};

void lost_rows_deinit(struct lost_rows *lost) {
    for (size_t i = 0; i < lost->count; i++) free(lost->rows[i].message);
    free(lost->rows);
    *lost = (struct lost_rows){.rows = NULL};
}

/* The message of a row has the file, and the byte if it is known, because a failure has no place
 * for them. */
static recmap_status add_lost(struct lost_rows *lost, size_t row, const recmap_error *cause,
                              recmap_error *error) {
    char byte[40] = "", text[sizeof cause->path + sizeof cause->message + sizeof byte];
    if (cause->offset != RECMAP_NO_OFFSET)
        snprintf(byte, sizeof byte, "byte %" PRIu64 ": ", cause->offset);
    snprintf(text, sizeof text, "%s: %s%s", cause->path, byte, cause->message);
    char *message = strdup(text);
    if (!message) return fail_memory(error);
    lost->rows[lost->count++] = (struct lost_row){row, cause->status, message};
    return RECMAP_OK;
}

static recmap_status divide(struct lost_rows *lost, struct readable_records *readable,
                            recmap_dataset *dataset, const uint64_t *numbers, size_t count,
                            recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        bool is_damaged;
        recmap_error cause;
        recmap_status status = dataset_probe(&is_damaged, dataset, numbers[i], &cause);
        if (status != RECMAP_OK && error) *error = cause;
        if (status != RECMAP_OK) return status;
        if (is_damaged) RETURN_IF_FAILED(add_lost(lost, i, &cause, error));
        else readable->numbers[readable->count++] = numbers[i];
    }
    return RECMAP_OK;
}

/* Moves the records of the batch to their places in the request, with empty ones between them. */
static recmap_status spread(recmap_batch *batch, const struct lost_rows *lost,
                            const uint64_t *numbers, size_t count, recmap_error *error) {
    static const uint8_t nothing[1];
    size_t records_left = batch->count, lost_left = lost->count;
    if (!batch_reserve(batch, count)) return fail_memory(error);
    for (size_t i = count; i-- > 0;) {
        bool is_lost = lost_left && lost->rows[lost_left - 1].row == i;
        batch->records[i] = is_lost ? (recmap_record){nothing, 0, numbers[i], NULL}
                                    : batch->records[records_left - 1];
        if (is_lost) lost_left--;
        else records_left--;
    }
    batch->count = count;
    return RECMAP_OK;
}

static recmap_status gather_divided(struct lost_rows *lost, struct readable_records *readable,
                                    recmap_batch *batch, recmap_dataset *dataset,
                                    const uint64_t *numbers, size_t count, recmap_error *error) {
    RETURN_IF_FAILED(divide(lost, readable, dataset, numbers, count, error));
    RETURN_IF_FAILED(
        dataset_gather_here(batch, dataset, readable->numbers, readable->count, error));
    return spread(batch, lost, numbers, count, error);
}

recmap_status dataset_gather_readable(struct lost_rows *lost, recmap_batch *batch,
                                      recmap_dataset *dataset, const uint64_t *numbers,
                                      size_t count, recmap_error *error) {
    struct readable_records readable = {.numbers = calloc(count + 1, sizeof *readable.numbers)};
    lost->rows = calloc(count + 1, sizeof *lost->rows);
    recmap_status status =
        readable.numbers && lost->rows
            ? gather_divided(lost, &readable, batch, dataset, numbers, count, error)
            : fail_memory(error);
    free(readable.numbers);
    if (status == RECMAP_OK) return RECMAP_OK;
    lost_rows_deinit(lost);
    recmap_batch_clear(batch);
    return status;
}

recmap_status dataset_parse_around(recmap_batch *batch, recmap_dataset *dataset,
                                   const recmap_parser *parser, const struct lost_rows *lost,
                                   recmap_error *error) {
    if (!batch->columns) RETURN_IF_FAILED(recmap_columns_create(&batch->columns, error));
    columns_set_lost(batch->columns, lost->rows, lost->count);
    recmap_status status = dataset_parse_batch(batch, dataset, parser, RECMAP_PARSE_COLLECT, error);
    columns_set_lost(batch->columns, NULL, 0);
    return status;
}

recmap_status dataset_parse_readable(recmap_batch *batch, recmap_dataset *dataset,
                                     const recmap_parser *parser, const uint64_t *numbers,
                                     size_t count, recmap_error *error) {
    struct lost_rows lost = {.rows = NULL};
    RETURN_IF_FAILED(dataset_gather_readable(&lost, batch, dataset, numbers, count, error));
    recmap_status status = dataset_parse_around(batch, dataset, parser, &lost, error);
    lost_rows_deinit(&lost);
    if (status != RECMAP_OK) recmap_batch_clear(batch);
    return status;
}
