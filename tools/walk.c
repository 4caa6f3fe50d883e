#include "walk.h"

#include <stdbool.h>

#include "interrupt.h"

/* A batch ends at either limit; with pread it is all in memory. */
enum { BATCH_RECORDS = 256, BATCH_BYTES = 16 << 20 };

/* The numbers first + floor(i * count / sample), without ever computing i * count. */
typedef struct walk_spread {
    uint64_t number;
    uint64_t left; /* numbers to come */
    uint64_t sample;
    uint64_t quotient; /* of count / sample */
    uint64_t remainder;
    uint64_t carry; /* remainders added up, below sample */
} walk_spread;

static walk_spread spread_begin(walk_range range) {
    uint64_t sample = range.sample ? range.sample : 1;
    return (walk_spread){.number = range.first,
                         .left = range.sample,
                         .sample = sample,
                         .quotient = range.count / sample,
                         .remainder = range.count % sample};
}

static void spread_advance(walk_spread *spread) {
    spread->left--;
    spread->number += spread->quotient;
    spread->carry += spread->remainder;
    if (spread->carry < spread->sample) return;
    spread->carry -= spread->sample;
    spread->number++;
}

/* Takes numbers until the batch is full: at least one. */
static recmap_status fill(uint64_t *numbers, size_t *count, walk_spread *spread,
                          recmap_dataset *dataset, recmap_error *error) {
    uint64_t room = BATCH_BYTES;
    size_t taken = 0;
    while (taken < BATCH_RECORDS && spread->left) {
        recmap_location location;
        recmap_status status = recmap_dataset_locate(&location, dataset, spread->number, 1, error);
        if (status != RECMAP_OK) return status;
        if (taken && location.size > room) break;
        room -= location.size < room ? location.size : room;
        numbers[taken++] = spread->number;
        spread_advance(spread);
    }
    *count = taken;
    return RECMAP_OK;
}

typedef struct walk_passed {
    uint64_t bytes;
    uint64_t records;
} walk_passed;

static recmap_status visit_batch(const recmap_batch *batch, walk_fn visit, void *context,
                                 walk_passed *passed, recmap_error *error) {
    const recmap_record *records = recmap_batch_records(batch);
    for (size_t i = 0; i < recmap_batch_count(batch); i++) {
        recmap_status status = visit(context, &records[i], error);
        if (status != RECMAP_OK) return status;
        passed->bytes += records[i].size;
        passed->records++;
    }
    return RECMAP_OK;
}

/* The bytes in all are not known before they are read: the records passed tell how far it is. */
static bool is_cancelled(recmap_progress_fn report, void *context, walk_passed passed,
                         uint64_t sample) {
    if (!report) return false;
    double whole = (double)passed.bytes / (double)passed.records * (double)sample;
    recmap_progress progress = {
        .bytes_done = passed.bytes, .bytes_total = (uint64_t)whole, .record_count = passed.records};
    return report(context, &progress) != 0;
}

recmap_status walk_records(recmap_dataset *dataset, walk_range range, walk_fn visit, void *context,
                           recmap_progress_fn report, void *report_context, recmap_error *error) {
    recmap_batch *batch = NULL;
    recmap_status status = recmap_batch_create(&batch, error);
    walk_passed passed = {0, 0};
    walk_spread spread = spread_begin(range);
    while (status == RECMAP_OK && spread.left) {
        uint64_t numbers[BATCH_RECORDS];
        size_t count = 0;
        status = fill(numbers, &count, &spread, dataset, error);
        if (status == RECMAP_OK)
            status = recmap_dataset_gather(batch, dataset, numbers, count, error);
        if (status == RECMAP_OK) status = visit_batch(batch, visit, context, &passed, error);
        if (status == RECMAP_OK && is_cancelled(report, report_context, passed, range.sample))
            status = interrupt_fail(error);
    }
    recmap_batch_destroy(batch);
    return status;
}
