#include "dataset/doctor/exam_team.h"

#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/os/team.h"
#include "base/os/thread.h"

/* There are more parts than threads, because some records take longer than others. A part with few
 * small records takes less time than adding its exam to that of all records. In parts, and in the
 * exam of all records while there are parts, are half of the features that may be kept. */
enum {
    THREADS_MAX = 256,
    PARTS_PER_THREAD = 4,
    PART_BYTES_MIN = 16 << 10, /* about */
    PARTED_FEATURES_MAX = FEATURES_MAX / 2,
};

/* Consecutive records. What is kept of the diagnosis are the records that findings are about. */
struct exam_part {
    struct record_exam exam;
    struct examination examination;
    recmap_doctor_options options;
    struct recmap_diagnosis diagnosis;
    recmap_status status;
};

recmap_status exam_team_init(struct exam_team *team, struct record_exam *exam,
                             recmap_error *error) {
    unsigned threads = exam->examination->options->thread_count;
    *team = (struct exam_team){.exam = exam};
    if (!threads) threads = core_count();
    team->thread_count = threads < THREADS_MAX ? threads : THREADS_MAX;
    team->parts = calloc((size_t)team->thread_count * PARTS_PER_THREAD, sizeof *team->parts);
    return team->parts ? RECMAP_OK : fail_memory(error);
}

void exam_team_deinit(struct exam_team *team) {
    free(team->parts);
    team->parts = NULL;
}

/* ---- One thread. */

static recmap_status add_alone(struct exam_team *team, recmap_error *error) {
    for (size_t i = 0; i < team->record_count; i++)
        RETURN_IF_FAILED(record_exam_add(team->exam, team->items[i], &team->records[i], error));
    return record_exam_flush(team->exam, error);
}

/* ---- Parts. */

/* Pictures of a part are decoded by the thread that examines it. */
static void init_part(struct exam_part *part, const struct exam_team *team) {
    const struct record_exam *whole = team->exam;
    *part = (struct exam_part){.examination = *whole->examination,
                               .options = *whole->examination->options};
    part->options.thread_count = 1;
    part->diagnosis.lists_records = whole->examination->diagnosis->lists_records;
    part->examination.options = &part->options;
    part->examination.diagnosis = &part->diagnosis;
    record_exam_init(&part->exam, &part->examination);
    record_exam_limit(&part->exam, whole, PARTED_FEATURES_MAX / team->part_count);
}

static void deinit_part(struct exam_part *part) {
    record_exam_deinit(&part->exam);
    free(part->diagnosis.records);
}

static size_t part_begin(const struct exam_team *team, size_t part) {
    return team->record_count * part / team->part_count;
}

static void do_part(void *context, unsigned phase, unsigned index, bool is_caller) {
    struct exam_team *team = context;
    struct exam_part *part = &team->parts[index];
    size_t end = part_begin(team, index + 1);
    (void)phase;
    (void)is_caller;
    for (size_t i = part_begin(team, index); i < end && part->status == RECMAP_OK; i++)
        part->status = record_exam_add(&part->exam, team->items[i], &team->records[i], NULL);
    if (part->status == RECMAP_OK) part->status = record_exam_flush(&part->exam, NULL);
}

static unsigned end_phase(void *context, unsigned phase, bool is_caller) {
    (void)context;
    (void)is_caller;
    return phase + 1;
}

static recmap_status merge_part(struct exam_team *team, const struct exam_part *part,
                                recmap_error *error) {
    struct recmap_diagnosis *diagnosis = team->exam->examination->diagnosis;
    for (size_t i = 0; i < part->diagnosis.listed_count; i++)
        RETURN_IF_FAILED(diagnosis_list_record(diagnosis, part->diagnosis.records[i], error));
    return record_exam_merge(team->exam, &part->exam, error);
}

/* Sets `are_complete` to false, and adds nothing, if a part has left something out. */
static recmap_status merge_parts(bool *are_complete, struct exam_team *team, recmap_error *error) {
    *are_complete = true;
    for (size_t i = 0; i < team->part_count; i++) {
        if (team->parts[i].status != RECMAP_OK) return fail_memory(error);
        *are_complete &= record_exam_is_complete(&team->parts[i].exam);
    }
    for (size_t i = 0; *are_complete && i < team->part_count; i++)
        RETURN_IF_FAILED(merge_part(team, &team->parts[i], error));
    return RECMAP_OK;
}

static recmap_status add_parts(bool *are_complete, struct exam_team *team, recmap_error *error) {
    struct team_job job = {.phase_count = 1,
                           .part_count = (unsigned)team->part_count,
                           .context = team,
                           .do_part = do_part,
                           .end_phase = end_phase};
    for (size_t i = 0; i < team->part_count; i++) init_part(&team->parts[i], team);
    team_run(&job, team->thread_count);
    recmap_status status = merge_parts(are_complete, team, error);
    for (size_t i = 0; i < team->part_count; i++) deinit_part(&team->parts[i]);
    return status;
}

static size_t count_parts(const struct exam_team *team) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < team->record_count; i++) bytes += team->records[i].size;
    uint64_t max = min_u64(bytes / PART_BYTES_MIN + 1, team->record_count);
    return (size_t)min_u64(max, (uint64_t)team->thread_count * PARTS_PER_THREAD);
}

recmap_status exam_team_add(struct exam_team *team, const uint64_t *items,
                            const recmap_record *records, size_t count, recmap_error *error) {
    bool are_complete = false;
    team->items = items;
    team->records = records;
    team->record_count = count;
    team->part_count = count_parts(team);
    if (team->thread_count > 1 && team->part_count > 1 &&
        record_exam_feature_count(team->exam) <= PARTED_FEATURES_MAX)
        RETURN_IF_FAILED(add_parts(&are_complete, team, error));
    return are_complete ? RECMAP_OK : add_alone(team, error);
}
