/* Examining data sets and shards: what is checked, and in which order. */
#include <recmap/doctor.h>

#include <stdlib.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/process.h"
#include "dataset/doctor/exam_team.h"
#include "dataset/doctor/index_checks.h"
#include "dataset/doctor/name_checks.h"
#include "dataset/doctor/reading.h"
#include "dataset/doctor/whole_pictures.h"
#include "dataset/open/dataset.h"

enum { PROGRESS_NS = 50 * 1000 * 1000 };

/* ---- Checks. */

/* The metadata may describe several sets, so it is compared before they are found. */
static recmap_status check_names(struct examination *examination, recmap_error *error) {
    RETURN_IF_FAILED(set_list_init(&examination->sets, &examination->shards, error));
    RETURN_IF_FAILED(check_missing_shards(examination, error));
    RETURN_IF_FAILED(check_metadata(examination, error));
    return check_sets(examination, error);
}

static recmap_status check_index(struct examination *examination, recmap_error *error) {
    RETURN_IF_FAILED(check_damage(examination, error));
    RETURN_IF_FAILED(check_no_records(examination, error));
    RETURN_IF_FAILED(check_shard_sizes(examination, error));
    RETURN_IF_FAILED(check_seek_points(examination, error));
    if (examination->options->index_only) return check_id_share(examination, error);
    RETURN_IF_FAILED(check_ids(examination, error));
    return check_record_sizes(examination, error);
}

static recmap_status add_records(void *context, const uint64_t *items, const recmap_record *records,
                                 size_t count, recmap_error *error) {
    return exam_team_add(context, items, records, count, error);
}

static recmap_status list_odd(void *context, const uint64_t *items, const recmap_record *records,
                              size_t count, recmap_error *error) {
    struct record_exam *exam = context;
    for (size_t i = 0; i < count; i++)
        if (record_exam_is_odd(exam, &records[i]))
            RETURN_IF_FAILED(diagnosis_list_record(exam->examination->diagnosis, items[i], error));
    return RECMAP_OK;
}

/* Which records differ from most others shows only when all were read. */
static recmap_status read_records(struct reading *reading, struct record_exam *exam,
                                  struct exam_team *team, recmap_error *error) {
    struct reading_visit add = {add_records, team}, list = {list_odd, exam};
    RETURN_IF_FAILED(reading_pass(reading, add, error));
    RETURN_IF_FAILED(whole_pictures_mark(exam, error));
    RETURN_IF_FAILED(record_exam_report(exam, error));
    if (!exam->examination->diagnosis->lists_records) return RECMAP_OK;
    return reading_pass(reading, list, error);
}

static recmap_status check_records(const struct examination *examination, recmap_error *error) {
    struct record_exam exam;
    struct reading reading = {.batch = NULL};
    struct exam_team team;
    record_exam_init(&exam, examination);
    recmap_status status = exam_team_init(&team, &exam, error);
    if (status == RECMAP_OK) status = reading_init(&reading, examination, error);
    if (status == RECMAP_OK) status = read_records(&reading, &exam, &team, error);
    reading_deinit(&reading);
    exam_team_deinit(&team);
    record_exam_deinit(&exam);
    return status;
}

static recmap_status check_all(struct examination *examination, recmap_error *error) {
    const recmap_doctor_options *options = examination->options;
    RETURN_IF_FAILED(
        shard_list_init(&examination->shards, examination->dataset, options->shards, error));
    RETURN_IF_FAILED(check_names(examination, error));
    RETURN_IF_FAILED(check_index(examination, error));
    if (!options->index_only) RETURN_IF_FAILED(check_records(examination, error));
    return diagnosis_finish(examination->diagnosis, error);
}

/* ---- The examination. */

/* The progress function, as the interrupt of what reads no records. */
struct doctor_interrupt {
    const recmap_doctor_options *options;
    uint64_t asked_ns;
};

static int ask_progress(void *context) {
    struct doctor_interrupt *asked = context;
    uint64_t now = clock_ns();
    if (now - asked->asked_ns < PROGRESS_NS) return 0;
    asked->asked_ns = now;
    recmap_progress progress = {.record_count = 0};
    return asked->options->progress(&progress, asked->options->progress_context);
}

static void examination_deinit(struct examination *examination) {
    set_list_deinit(&examination->sets);
    shard_list_deinit(&examination->shards);
}

static recmap_status fail_version(const recmap_doctor_options *options, recmap_error *error) {
    return fail(error, RECMAP_INVALID, "recmap_doctor_options has version %u, expected %d",
                options->version, RECMAP_DOCTOR_OPTIONS_VERSION);
}

static const recmap_doctor_options defaults = RECMAP_DOCTOR_OPTIONS_INIT;

recmap_status recmap_dataset_examine(recmap_diagnosis **diagnosis, recmap_dataset *dataset,
                                     const uint64_t *numbers, size_t count,
                                     const recmap_doctor_options *options, recmap_error *error) {
    if (!options) options = &defaults;
    if (options->version != RECMAP_DOCTOR_OPTIONS_VERSION) return fail_version(options, error);
    bool is_whole = count == recmap_dataset_count(dataset);
    for (size_t i = 0; numbers && i < count; i++) {
        RETURN_IF_FAILED(dataset_check_range(dataset, numbers[i], 1, error));
        is_whole &= numbers[i] == i;
    }
    if (!numbers) RETURN_IF_FAILED(dataset_check_range(dataset, 0, count, error));
    recmap_diagnosis *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    struct examination examination = {
        .dataset = dataset,
        .numbers = is_whole ? NULL : numbers,
        .item_count = count,
        .options = options,
        .diagnosis = fresh,
    };
    fresh->record_count = examination.item_count;
    fresh->lists_records = options->lists_records != 0;
    struct doctor_interrupt asked = {.options = options};
    struct interrupt former =
        thread_interrupt_replace(options->progress ? ask_progress : NULL, &asked);
    recmap_status status = check_all(&examination, error);
    thread_interrupt_restore(&former);
    examination_deinit(&examination);
    if (status == RECMAP_OK) *diagnosis = fresh;
    else recmap_diagnosis_destroy(fresh);
    return status;
}

recmap_status recmap_shards_examine(recmap_diagnosis **diagnosis, const recmap_shards *shards,
                                    const recmap_doctor_options *options, recmap_error *error) {
    recmap_doctor_options named = options ? *options : defaults;
    if (named.version != RECMAP_DOCTOR_OPTIONS_VERSION) return fail_version(&named, error);
    named.shards = shards;
    recmap_diagnosis *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    struct examination examination = {.options = &named, .diagnosis = fresh};
    recmap_status status = shard_list_init_named(&examination.shards, shards, error);
    if (status == RECMAP_OK) status = check_names(&examination, error);
    if (status == RECMAP_OK) status = diagnosis_finish(fresh, error);
    examination_deinit(&examination);
    if (status == RECMAP_OK) *diagnosis = fresh;
    else recmap_diagnosis_destroy(fresh);
    return status;
}
