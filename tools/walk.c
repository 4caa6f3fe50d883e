#include "walk.h"

#include <stdbool.h>

#include "interrupt.h"

/* A batch ends at either limit; with pread it is all in memory. */
enum { BATCH_RECORDS = 256, BATCH_BYTES = 16 << 20 };

typedef struct walk {
    recmap_dataset *dataset;
    recmap_batch *batch;
    uint64_t count; /* records in all */
    walk_fn visit;
    void *context;
    recmap_progress_fn report;
    void *report_context;
    uint64_t bytes_passed;
    uint64_t records_passed;
} walk;

/* How many of the numbers make a batch: at least one. */
static recmap_status fit(size_t *fitting, recmap_dataset *dataset, const uint64_t *numbers,
                         size_t count, recmap_error *error) {
    uint64_t room = BATCH_BYTES;
    size_t taken = 0;
    for (; taken < count; taken++) {
        recmap_location location;
        recmap_status status = recmap_dataset_locate(&location, dataset, numbers[taken], 1, error);
        if (status != RECMAP_OK) return status;
        if (taken && location.size > room) break;
        room -= location.size < room ? location.size : room;
    }
    *fitting = taken;
    return RECMAP_OK;
}

static recmap_status visit_batch(walk *walk, recmap_error *error) {
    const recmap_record *records = recmap_batch_records(walk->batch);
    for (size_t i = 0; i < recmap_batch_count(walk->batch); i++) {
        recmap_status status = walk->visit(walk->context, &records[i], error);
        if (status != RECMAP_OK) return status;
        walk->bytes_passed += records[i].size;
        walk->records_passed++;
    }
    return RECMAP_OK;
}

/* The bytes in all are not known before they are read: the records passed tell how far it is. */
static bool is_cancelled(const walk *walk) {
    if (!walk->report) return false;
    double mean = (double)walk->bytes_passed / (double)walk->records_passed;
    recmap_progress progress = {.bytes_done = walk->bytes_passed,
                                .bytes_total = (uint64_t)(mean * (double)walk->count),
                                .record_count = walk->records_passed};
    return walk->report(walk->report_context, &progress) != 0;
}

/* In as many batches as they need. */
static recmap_status visit_numbers(walk *walk, const uint64_t *numbers, size_t count,
                                   recmap_error *error) {
    for (size_t done = 0; done < count;) {
        size_t here = 0;
        recmap_status status = fit(&here, walk->dataset, numbers + done, count - done, error);
        if (status == RECMAP_OK)
            status = recmap_dataset_gather(walk->batch, walk->dataset, numbers + done, here, error);
        if (status == RECMAP_OK) status = visit_batch(walk, error);
        if (status != RECMAP_OK) return status;
        if (is_cancelled(walk)) return interrupt_fail(error);
        done += here;
    }
    return RECMAP_OK;
}

recmap_status walk_records(recmap_dataset *dataset, walk_source source, walk_fn visit,
                           void *context, recmap_progress_fn report, void *report_context,
                           recmap_error *error) {
    walk walk = {.dataset = dataset,
                 .count = source.count,
                 .visit = visit,
                 .context = context,
                 .report = report,
                 .report_context = report_context};
    recmap_status status = recmap_batch_create(&walk.batch, error);
    for (uint64_t left = source.count; status == RECMAP_OK && left;) {
        uint64_t numbers[BATCH_RECORDS];
        size_t count = left < BATCH_RECORDS ? (size_t)left : BATCH_RECORDS;
        status = source.next(source.context, numbers, count, error);
        if (status == RECMAP_OK) status = visit_numbers(&walk, numbers, count, error);
        left -= count;
    }
    recmap_batch_destroy(walk.batch);
    return status;
}
