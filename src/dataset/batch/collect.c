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

/* The records of a request, divided into those that can be read and the others. */
struct readable_records {
    uint64_t *numbers;
    size_t count;
    struct lost_row *lost;
    size_t lost_count;
};

static bool readable_init(struct readable_records *readable, size_t count) {
    *readable = (struct readable_records){.numbers = calloc(count + 1, sizeof(uint64_t)),
                                          .lost = calloc(count + 1, sizeof(struct lost_row))};
    return readable->numbers && readable->lost;
}

static void readable_deinit(struct readable_records *readable) {
    for (size_t i = 0; i < readable->lost_count; i++) free(readable->lost[i].message);
    free(readable->lost);
    free(readable->numbers);
}

/* The message of a row has the file, and the byte if it is known, because a failure has no place
 * for them. */
static recmap_status add_lost(struct readable_records *readable, size_t row,
                              const recmap_error *cause, recmap_error *error) {
    char byte[40] = "", text[sizeof cause->path + sizeof cause->message + sizeof byte];
    if (cause->offset != RECMAP_NO_OFFSET)
        snprintf(byte, sizeof byte, "byte %" PRIu64 ": ", cause->offset);
    snprintf(text, sizeof text, "%s: %s%s", cause->path, byte, cause->message);
    char *message = strdup(text);
    if (!message) return fail_memory(error);
    readable->lost[readable->lost_count++] = (struct lost_row){row, cause->status, message};
    return RECMAP_OK;
}

static recmap_status divide(struct readable_records *readable, recmap_dataset *dataset,
                            const uint64_t *numbers, size_t count, recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        bool is_damaged;
        recmap_error cause;
        recmap_status status = dataset_probe(&is_damaged, dataset, numbers[i], &cause);
        if (status != RECMAP_OK && error) *error = cause;
        if (status != RECMAP_OK) return status;
        if (is_damaged) RETURN_IF_FAILED(add_lost(readable, i, &cause, error));
        else readable->numbers[readable->count++] = numbers[i];
    }
    return RECMAP_OK;
}

/* Moves the records of the batch to their places in the request, with empty ones between them. */
static recmap_status spread(recmap_batch *batch, const struct readable_records *readable,
                            const uint64_t *numbers, size_t count, recmap_error *error) {
    static const uint8_t nothing[1];
    size_t left = readable->count, lost = readable->lost_count;
    if (!batch_reserve(batch, count)) return fail_memory(error);
    for (size_t i = count; i-- > 0;) {
        bool is_lost = lost && readable->lost[lost - 1].row == i;
        batch->records[i] = is_lost ? (recmap_record){nothing, 0, numbers[i], NULL}
                                    : batch->records[left - 1];
        if (is_lost) lost--;
        else left--;
    }
    batch->count = count;
    return RECMAP_OK;
}

static recmap_status parse_divided(recmap_batch *batch, recmap_dataset *dataset,
                                   const recmap_parser *parser, const uint64_t *numbers,
                                   size_t count, struct readable_records *readable,
                                   recmap_error *error) {
    RETURN_IF_FAILED(divide(readable, dataset, numbers, count, error));
    RETURN_IF_FAILED(
        dataset_gather_here(batch, dataset, readable->numbers, readable->count, error));
    RETURN_IF_FAILED(spread(batch, readable, numbers, count, error));
    if (!batch->columns) RETURN_IF_FAILED(recmap_columns_create(&batch->columns, error));
    columns_set_lost(batch->columns, readable->lost, readable->lost_count);
    recmap_status status = dataset_parse_batch(batch, dataset, parser, RECMAP_PARSE_COLLECT, error);
    columns_set_lost(batch->columns, NULL, 0);
    return status;
}

recmap_status dataset_parse_readable(recmap_batch *batch, recmap_dataset *dataset,
                                     const recmap_parser *parser, const uint64_t *numbers,
                                     size_t count, recmap_error *error) {
    struct readable_records readable;
    recmap_status status =
        readable_init(&readable, count)
            ? parse_divided(batch, dataset, parser, numbers, count, &readable, error)
            : fail_memory(error);
    readable_deinit(&readable);
    if (status != RECMAP_OK) recmap_batch_clear(batch);
    return status;
}
