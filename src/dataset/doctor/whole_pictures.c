#include "dataset/doctor/whole_pictures.h"

#include <stdlib.h>

#include "base/core/error.h"
#include "dataset/doctor/reading.h"

enum { SAMPLE = 64 };

static recmap_status add_records(void *context, const uint64_t *items, const recmap_record *records,
                                 size_t count, recmap_error *error) {
    struct record_exam *exam = context;
    for (size_t i = 0; i < count; i++)
        RETURN_IF_FAILED(record_exam_add(exam, items[i], &records[i], error));
    return record_exam_flush(exam, error);
}

static recmap_status read_sample(struct record_exam *exam, recmap_error *error) {
    struct reading reading = {.batch = NULL};
    recmap_status status = reading_init(&reading, exam->examination, error);
    if (status == RECMAP_OK)
        status = reading_pass(&reading, (struct reading_visit){add_records, exam}, error);
    reading_deinit(&reading);
    return status;
}

static void mark(struct feature_table *selected, struct feature_table *sampled) {
    for (size_t i = 0; i < selected->count; i++) {
        struct feature_exam *feature = selected->features[i];
        const struct feature_exam *other = feature_table_look_up(
            sampled, (const uint8_t *)feature->name, feature->name_size, feature->is_list);
        feature->is_picture = other && feature_exam_has_pictures(other);
    }
}

/* A selection of records with bad pictures has no good ones that show what the feature is, but
 * other records of the data set have. What is wrong with the sample itself is not reported, and if
 * it cannot be read, nothing is marked. */
recmap_status whole_pictures_mark(struct record_exam *exam, recmap_error *error) {
    struct examination whole = *exam->examination;
    recmap_doctor_options options = *whole.options;
    struct record_exam sampled;
    if (!whole.numbers) return RECMAP_OK;
    options.sample = SAMPLE;
    options.lists_records = 0;
    options.progress = NULL;
    whole.numbers = NULL;
    whole.item_count = recmap_dataset_count(whole.dataset);
    whole.options = &options;
    whole.diagnosis = calloc(1, sizeof *whole.diagnosis);
    if (!whole.diagnosis) return fail_memory(error);
    record_exam_init(&sampled, &whole);
    recmap_status status = read_sample(&sampled, error);
    for (size_t kind = 0; status == RECMAP_OK && kind < RECORD_OTHER; kind++)
        mark(&exam->tables[kind], &sampled.tables[kind]);
    record_exam_deinit(&sampled);
    recmap_diagnosis_destroy(whole.diagnosis);
    return status == RECMAP_NO_MEMORY || status == RECMAP_CANCELLED ? status : RECMAP_OK;
}
