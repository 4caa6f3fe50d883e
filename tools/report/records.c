#include "report/records.h"

#include <stdlib.h>
#include <string.h>

#include "base/words/sample.h"
#include "base/words/url_prefix.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

/* Records are read in groups. If a group fails, its records are read one by one. */
enum { GROUP_SIZE = 256, UNREADABLE_MAX = 1000 };

struct reading {
    struct record_sample *sample;
    const struct view *view;
    uint64_t next;        /* of the sample: the first record that was not read */
    uint64_t source_next; /* of the sample: where the source of numbers is */
};

bool record_error_is_local(const recmap_error *error) {
    if (error->status == RECMAP_CANCELLED || error->status == RECMAP_NO_MEMORY) return false;
    return error->status != RECMAP_IO || !url_is_url(error->path);
}

static uint64_t number_at(const struct reading *reading, uint64_t index) {
    uint64_t position = sample_position(index, reading->sample->size, reading->view->count);
    return view_number(reading->view, position);
}

static recmap_status next_numbers(void *context, uint64_t *numbers, size_t count,
                                  recmap_error *error) {
    struct reading *reading = context;
    (void)error;
    for (size_t i = 0; i < count; i++) numbers[i] = number_at(reading, reading->source_next++);
    return RECMAP_OK;
}

static recmap_status add_record(void *context, const recmap_record *record, recmap_error *error) {
    struct reading *reading = context;
    reading->next++;
    reading->sample->read_count++;
    return record_features_add(&reading->sample->features, record, error);
}

static void list_unreadable(struct record_sample *sample, uint64_t number,
                            const recmap_error *error) {
    if (sample->unreadable_count < UNREADABLE_LISTED_MAX)
        sample->unreadable[sample->unreadable_count] =
            (struct unreadable_record){number, strdup(error->message)};
    sample->unreadable_count++;
}

/* Reads the next records one by one, as many as a group has. */
static recmap_status read_singly(struct reading *reading, recmap_error *error) {
    uint64_t end = reading->next + GROUP_SIZE;
    if (end > reading->sample->size) end = reading->sample->size;
    while (reading->next < end && reading->sample->unreadable_count < UNREADABLE_MAX) {
        uint64_t number = number_at(reading, reading->next);
        recmap_record record = {.size = 0};
        if (interrupt_is_pending()) return interrupt_fail(error);
        recmap_status status = recmap_dataset_get(&record, reading->view->dataset, number, error);
        if (status == RECMAP_OK) {
            status = add_record(reading, &record, error);
            recmap_record_release(&record);
            if (status != RECMAP_OK) return status;
            continue;
        }
        if (!record_error_is_local(error)) return status;
        list_unreadable(reading->sample, number, error);
        reading->next++;
    }
    return RECMAP_OK;
}

/* Reads groups until one fails. */
static recmap_status read_groups(struct reading *reading, struct progress_bar *progress,
                                 recmap_error *error) {
    reading->source_next = reading->next;
    struct number_source source = {reading->sample->size - reading->next, next_numbers, reading};
    return iterate_records(reading->view->dataset, source, add_record, reading, progress_bar_report,
                           progress, error);
}

static recmap_status read_all(struct reading *reading, recmap_error *error) {
    struct progress_bar progress = progress_bar_start("reading");
    recmap_status status = RECMAP_OK;
    while (status == RECMAP_OK && reading->next < reading->sample->size &&
           reading->sample->unreadable_count < UNREADABLE_MAX) {
        status = read_groups(reading, &progress, error);
        if (status != RECMAP_OK && record_error_is_local(error))
            status = read_singly(reading, error);
    }
    progress_bar_clear(&progress);
    return status;
}

recmap_status record_sample_read(struct record_sample *sample, const struct view *view,
                                 recmap_error *error) {
    struct reading reading = {.sample = sample, .view = view};
    RETURN_IF_FAILED(record_features_init(&sample->features, view->dataset, error));
    return read_all(&reading, error);
}

void record_sample_deinit(struct record_sample *sample) {
    for (size_t i = 0; i < UNREADABLE_LISTED_MAX; i++) free(sample->unreadable[i].message);
    record_features_deinit(&sample->features);
}
