#include "records/iterate.h"

#include <stdbool.h>

#include "terminal/interrupt.h"
#include "terminal/message.h"

/* A batch ends at either limit. Unless shards are mapped, all of it is copied to memory. */
enum { BATCH_RECORDS_MAX = 256, BATCH_BYTES_MAX = 16 << 20 };

struct iteration {
    recmap_dataset *dataset;
    recmap_batch *batch;
    uint64_t count; /* of the source */
    record_visit_fn visit;
    void *context;
    recmap_progress_fn report;
    void *report_context;
    uint64_t bytes_visited;
    uint64_t records_visited;
};

/* Counts how many of the numbers fit into a batch; at least one does. */
static recmap_status count_fitting(size_t *fit_count, recmap_dataset *dataset,
                                   const uint64_t *numbers, size_t count, recmap_error *error) {
    uint64_t room = BATCH_BYTES_MAX;
    size_t fitting = 0;
    for (; fitting < count; fitting++) {
        recmap_location location;
        RETURN_IF_FAILED(recmap_dataset_locate(&location, dataset, numbers[fitting], 1, error));
        if (fitting && location.size > room) break;
        room -= location.size < room ? location.size : room;
    }
    *fit_count = fitting;
    return RECMAP_OK;
}

static recmap_status visit_batch(struct iteration *iteration, recmap_error *error) {
    const recmap_record *records = recmap_batch_records(iteration->batch);
    for (size_t i = 0; i < recmap_batch_count(iteration->batch); i++) {
        RETURN_IF_FAILED(iteration->visit(iteration->context, &records[i], error));
        iteration->bytes_visited += records[i].size;
        iteration->records_visited++;
    }
    return RECMAP_OK;
}

/* The total size of the records is unknown; it is estimated from the mean of those visited. */
static bool is_cancelled(const struct iteration *iteration) {
    if (!iteration->report) return false;
    double mean = (double)iteration->bytes_visited / (double)iteration->records_visited;
    recmap_progress progress = {.bytes_done = iteration->bytes_visited,
                                .bytes_total = (uint64_t)(mean * (double)iteration->count),
                                .record_count = iteration->records_visited};
    return iteration->report(&progress, iteration->report_context) != 0;
}

static recmap_status visit_numbers(struct iteration *iteration, const uint64_t *numbers,
                                   size_t count, recmap_error *error) {
    for (size_t done = 0; done < count;) {
        size_t batch_size = 0;
        RETURN_IF_FAILED(
            count_fitting(&batch_size, iteration->dataset, numbers + done, count - done, error));
        RETURN_IF_FAILED(recmap_dataset_gather(iteration->batch, iteration->dataset, numbers + done,
                                               batch_size, error));
        RETURN_IF_FAILED(visit_batch(iteration, error));
        if (is_cancelled(iteration)) return interrupt_fail(error);
        done += batch_size;
    }
    return RECMAP_OK;
}

/* Numbers are requested in groups of BATCH_RECORDS_MAX, and visit_numbers splits a group further if
 * its records are large. */
recmap_status iterate_records(recmap_dataset *dataset, struct number_source source,
                              record_visit_fn visit, void *context, recmap_progress_fn report,
                              void *report_context, recmap_error *error) {
    struct iteration iteration = {.dataset = dataset,
                                  .count = source.count,
                                  .visit = visit,
                                  .context = context,
                                  .report = report,
                                  .report_context = report_context};
    recmap_status status = recmap_batch_create(&iteration.batch, error);
    for (uint64_t left = source.count; status == RECMAP_OK && left;) {
        uint64_t numbers[BATCH_RECORDS_MAX];
        size_t count = left < BATCH_RECORDS_MAX ? (size_t)left : BATCH_RECORDS_MAX;
        status = source.next(source.context, numbers, count, error);
        if (status == RECMAP_OK) status = visit_numbers(&iteration, numbers, count, error);
        left -= count;
    }
    recmap_batch_destroy(iteration.batch);
    return status;
}
