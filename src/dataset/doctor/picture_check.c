#include "dataset/doctor/picture_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/os/team.h"
#include "base/os/thread.h"

/* Pictures that are decoded together, and the side of the pixels that each becomes: scaling needs
 * all rows, as training does, but no memory for them. */
enum { JOBS_MAX = 1024, SIDE = 8, THREADS_MAX = 256 };

struct picture_job {
    struct feature_exam *feature;
    uint64_t item;
    const uint8_t *data;
    size_t size;
    bool is_gray, is_wide;
    recmap_status status;
    char reason[PICTURE_FAULT_SIZE];
};

/* ---- One value. */

static recmap_status add_damaged(const struct picture_check *check, struct feature_exam *feature,
                                 uint64_t item, const char *reason, recmap_error *error) {
    if (!feature->traits[TRAIT_DAMAGED_PICTURE].count)
        snprintf(feature->picture_fault, sizeof feature->picture_fault, "%s", reason);
    feature_exam_note(feature, TRAIT_DAMAGED_PICTURE, item);
    return diagnosis_list_record(check->examination->diagnosis, item, error);
}

/* Notes what the header says. */
static recmap_status note_header(const struct picture_check *check, struct feature_exam *feature,
                                 uint64_t item, const recmap_image_info *info,
                                 recmap_error *error) {
    bool is_cmyk = !strcmp(info->mode, "CMYK"), is_oriented = info->orientation != 1;
    bool is_wide = info->depth == 16;
    feature_exam_note(feature, TRAIT_PICTURE, item);
    if (is_cmyk) feature_exam_note(feature, TRAIT_CMYK_PICTURE, item);
    if (is_oriented) feature_exam_note(feature, TRAIT_ORIENTED_PICTURE, item);
    if (is_wide) feature_exam_note(feature, TRAIT_WIDE_PICTURE, item);
    if (!is_cmyk && !is_oriented && !is_wide) return RECMAP_OK;
    return diagnosis_list_record(check->examination->diagnosis, item, error);
}

static recmap_status add_job(struct picture_check *check, struct picture_job job,
                             recmap_error *error) {
    if (check->count == JOBS_MAX) RETURN_IF_FAILED(picture_check_run(check, error));
    if (!array_reserve(&check->jobs, &check->capacity, check->count + 1, sizeof *check->jobs))
        return fail_memory(error);
    check->jobs[check->count++] = job;
    return RECMAP_OK;
}

recmap_status picture_check_add(int *format, struct picture_check *check,
                                struct feature_exam *feature, uint64_t item, const uint8_t *data,
                                size_t size, recmap_error *error) {
    const recmap_doctor_options *options = check->examination->options;
    recmap_image_info info;
    *format = -1;
    recmap_status status = size ? recmap_image_describe_with(&info, data, size, options->decoders,
                                                             options->decoder_count, NULL)
                                : RECMAP_UNSUPPORTED;
    if (status == RECMAP_NO_MEMORY) return fail_memory(error);
    if (status == RECMAP_UNSUPPORTED) {
        feature_exam_note(feature, TRAIT_NO_PICTURE, item);
        return RECMAP_OK;
    }
    struct picture_job job = {
        .feature = feature, .item = item, .data = data, .size = size, .status = status};
    if (status == RECMAP_OK) {
        *format = (int)info.format;
        job.is_gray = info.mode[0] == 'L';
        job.is_wide = info.depth == 16;
        RETURN_IF_FAILED(note_header(check, feature, item, &info, error));
    }
    return add_job(check, job, error);
}

/* ---- Decoding. */

/* Decodes a picture, unless its header is damaged: then only says why. */
static recmap_status decode_job(const struct picture_job *job, const recmap_doctor_options *options,
                                recmap_error *error) {
    uint16_t pixels[SIDE * SIDE * 3];
    recmap_image image = {.version = RECMAP_IMAGE_VERSION,
                          .height = SIDE,
                          .width = SIDE,
                          .mode = job->is_gray ? RECMAP_IMAGE_GRAY : RECMAP_IMAGE_RGB,
                          .element = job->is_wide ? RECMAP_ELEMENT_UINT16 : RECMAP_ELEMENT_UINT8,
                          .ignores_exif = 1,
                          .decoders = options->decoders,
                          .decoder_count = options->decoder_count};
    recmap_image_info info;
    if (job->status != RECMAP_OK)
        return recmap_image_describe_with(&info, job->data, job->size, options->decoders,
                                          options->decoder_count, error);
    return recmap_image_decode(pixels, sizeof pixels, &image, job->data, job->size, NULL, error);
}

static void decode(void *context, unsigned phase, unsigned part, bool is_caller) {
    const struct picture_check *check = context;
    struct picture_job *job = &check->jobs[part];
    recmap_error wrong = RECMAP_ERROR_INIT;
    (void)phase;
    (void)is_caller;
    job->status = decode_job(job, check->examination->options, &wrong);
    job->reason[0] = 0;
    if (job->status != RECMAP_OK)
        snprintf(job->reason, sizeof job->reason, "%.*s", PICTURE_FAULT_SIZE - 1, wrong.message);
}

static unsigned end_phase(void *context, unsigned phase, bool is_caller) {
    (void)context;
    (void)is_caller;
    return phase + 1;
}

/* A build without image libraries decodes nothing, which is not the pictures' fault. */
recmap_status picture_check_run(struct picture_check *check, recmap_error *error) {
    unsigned threads = check->examination->options->thread_count;
    size_t count = check->count;
    struct team_job team = {.phase_count = 1,
                            .part_count = (unsigned)count,
                            .context = check,
                            .do_part = decode,
                            .end_phase = end_phase};
    if (!threads) threads = core_count();
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    if (count) team_run(&team, threads);
    check->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct picture_job *job = &check->jobs[i];
        if (job->status == RECMAP_NO_MEMORY) return fail_memory(error);
        if (job->status == RECMAP_OK || job->status == RECMAP_UNSUPPORTED) continue;
        RETURN_IF_FAILED(add_damaged(check, job->feature, job->item, job->reason, error));
    }
    return RECMAP_OK;
}

void picture_check_deinit(struct picture_check *check) {
    free(check->jobs);
    check->jobs = NULL;
}
