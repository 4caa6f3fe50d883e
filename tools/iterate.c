#include "iterate.h"

#include <stdbool.h>

#include "interrupt.h"

/* A batch ends at either limit; with pread it is all in memory. */
enum { BATCH_RECORDS_MAX = 256, BATCH_BYTES_MAX = 16 << 20 };

struct iteration {
    recmap_dataset *dataset;
    recmap_batch *batch;
    uint64_t count; /* records in all */
    record_visit_fn visit;
    void *context;
    recmap_progress_fn report;
    void *report_context;
    uint64_t bytes_passed;
    uint64_t records_passed;
};

/* How many of the numbers make a batch: at least one. */
static recmap_status count_fitting(size_t *fit_count, recmap_dataset *dataset,
                                   const uint64_t *numbers, size_t count, recmap_error *error) {
    uint64_t room = BATCH_BYTES_MAX;
    size_t taken = 0;
    for (; taken < count; taken++) {
        recmap_location location;
        recmap_status status = recmap_dataset_locate(&location, dataset, numbers[taken], 1, error);
        if (status != RECMAP_OK) return status;
        if (taken && location.size > room) break;
        room -= location.size < room ? location.size : room;
    }
    *fit_count = taken;
    return RECMAP_OK;
}

static recmap_status visit_batch(struct iteration *iteration, recmap_error *error) {
    const recmap_record *records = recmap_batch_records(iteration->batch);
    for (size_t i = 0; i < recmap_batch_count(iteration->batch); i++) {
        recmap_status status = iteration->visit(iteration->context, &records[i], error);
        if (status != RECMAP_OK) return status;
        iteration->bytes_passed += records[i].size;
        iteration->records_passed++;
    }
    return RECMAP_OK;
}

/* The bytes in all are not known before they are read: the records passed tell how far it is. */
static bool is_cancelled(const struct iteration *iteration) {
    if (!iteration->report) return false;
    double mean = (double)iteration->bytes_passed / (double)iteration->records_passed;
    recmap_progress progress = {.bytes_done = iteration->bytes_passed,
                                .bytes_total = (uint64_t)(mean * (double)iteration->count),
                                .record_count = iteration->records_passed};
    return iteration->report(iteration->report_context, &progress) != 0;
}

/* In as many batches as they need. */
static recmap_status visit_numbers(struct iteration *iteration, const uint64_t *numbers,
                                   size_t count, recmap_error *error) {
    for (size_t done = 0; done < count;) {
        size_t batch_count = 0;
        recmap_status status =
            count_fitting(&batch_count, iteration->dataset, numbers + done, count - done, error);
        if (status == RECMAP_OK)
            status = recmap_dataset_gather(iteration->batch, iteration->dataset, numbers + done,
                                           batch_count, error);
        if (status == RECMAP_OK) status = visit_batch(iteration, error);
        if (status != RECMAP_OK) return status;
        if (is_cancelled(iteration)) return interrupt_fail(error);
        done += batch_count;
    }
    return RECMAP_OK;
}

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
