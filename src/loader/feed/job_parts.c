#include "loader/feed/job_parts.h"

#include <stdlib.h>

#include "base/core/error.h"
#include "base/os/process.h"
#include "dataset/batch/batch.h"
#include "loader/feed/repair.h"
#include "parse/columns/columns.h"

/* Gives each part its lost rows, and counts these from the part's first record. */
static void divide_lost(struct job_parts *parts) {
    const struct lost_rows *lost = &parts->job.result.lost;
    size_t row = 0;
    for (size_t i = 0; i < parts->count; i++) {
        struct job_part *part = &parts->items[i];
        size_t first = parse_parts_first(&parts->parse, i);
        size_t end = parse_parts_first(&parts->parse, i + 1);
        part->lost = lost->rows + row;
        for (; row < lost->count && lost->rows[row].row < end; row++, part->lost_count++)
            lost->rows[row].row -= first;
    }
}

static recmap_status start(struct job_parts *parts, const struct filler *filler) {
    const struct epoch_step *step = &parts->job.step;
    recmap_share share;
    RETURN_IF_FAILED(recmap_deal_share(&share, &step->deal, step->step, filler->rank, NULL));
    parts->first_position = share.first;
    bool leaves_out = filler->policy == RECMAP_ON_BAD_RECORD_SKIP;
    RETURN_IF_FAILED(parse_parts_start(&parts->parse, parts->job.result.batch, filler->dataset,
                                       filler->parser, leaves_out, NULL));
    divide_lost(parts);
    return RECMAP_OK;
}

struct job_parts *job_parts_create(const struct job *job, const struct filler *filler) {
    const recmap_batch *batch = job->result.batch;
    size_t count = filler->parser && filler->shares_parts &&
                           !recmap_order_row_width(job->step.deal.order)
                       ? parse_parts_count(filler->parser, recmap_batch_count(batch))
                       : 1;
    if (count == 1) return NULL;
    struct job_parts *parts = malloc(sizeof *parts);
    struct job_part *items = calloc(count, sizeof *items);
    if (parts)
        *parts =
            (struct job_parts){.job = *job, .items = items, .count = count, .failed = SIZE_MAX};
    if (parts && items && start(parts, filler) == RECMAP_OK) return parts;
    free(items);
    free(parts);
    return NULL;
}

void job_parts_destroy(struct job_parts *parts) {
    for (size_t i = 0; i < parts->count; i++) filled_batch_clear(&parts->items[i].result);
    free(parts->items);
    free(parts);
}

static recmap_status read_part(struct job_parts *parts, size_t index, struct filler *filler,
                               recmap_error *error) {
    struct job_part *part = &parts->items[index];
    const size_t first = parse_parts_first(&parts->parse, index);
    struct repair repair = {.result = &part->result,
                            .filler = filler,
                            .deal = &parts->job.step.deal,
                            .first = parts->first_position + first,
                            .first_record = first,
                            .memory = parse_parts_memory(&parts->parse, index)};
    const struct row_repair choices = {repair_choose, &repair};
    if (!filler->scratch) RETURN_IF_FAILED(recmap_columns_create(&filler->scratch, error));
    const struct parse_part how = {
        .repair = filler->policy == RECMAP_ON_BAD_RECORD_ERROR ? NULL : &choices,
        .lost = part->lost,
        .lost_count = part->lost_count,
        .image_counts = &part->result.images,
        .scratch = filler->scratch};
    return parse_parts_read(&parts->parse, index, &how, error);
}

recmap_status job_parts_read(struct job_parts *parts, size_t index, struct filler *filler,
                             recmap_error *error) {
    struct filled_batch *result = &parts->items[index].result;
    uint64_t started_ns = clock_ns();
    result->batch = parts->job.result.batch;
    result->images.clock_ns = clock_ns;
    recmap_status status = read_part(parts, index, filler, error);
    result->parse_ns = clock_ns() - started_ns;
    return status;
}

void job_parts_settle(struct job_parts *parts, size_t index, recmap_status status,
                      const recmap_error *error) {
    const struct filled_batch *part = &parts->items[index].result;
    struct job *job = &parts->job;
    job->result.parse_ns += part->parse_ns;
    job->result.fill_ns += part->parse_ns;
    image_counts_add(&job->result.images, &part->images);
    if (status == RECMAP_OK || index > parts->failed) return;
    parts->failed = index;
    job->status = status;
    job->error = *error;
}

/* Lists the skipped records of all parts in the order of their positions. */
static recmap_status join_skipped(struct job_parts *parts) {
    for (size_t i = 0; i < parts->count; i++) {
        const struct filled_batch *part = &parts->items[i].result;
        for (size_t s = 0; s < part->skipped_count; s++)
            if (!filled_batch_add_skipped(&parts->job.result, &part->skipped[s]))
                return fail_memory(&parts->job.error);
    }
    return RECMAP_OK;
}

static recmap_status assemble(struct job_parts *parts) {
    struct job *job = &parts->job;
    RETURN_IF_FAILED(parse_parts_finish(&parts->parse, &job->error));
    RETURN_IF_FAILED(join_skipped(parts));
    if (job->result.skipped_count) repair_close_up(job->result.batch);
    return filler_finish(&job->result, &job->step, &job->error);
}

void job_parts_finish(struct job_parts *parts, bool is_wanted) {
    struct job *job = &parts->job;
    uint64_t started_ns = clock_ns();
    if (is_wanted && parts->failed == SIZE_MAX) job->status = assemble(parts);
    else parse_parts_cancel(&parts->parse);
    if (!is_wanted || job->status != RECMAP_OK) recmap_batch_clear(job->result.batch);
    lost_rows_deinit(&job->result.lost);
    uint64_t taken_ns = clock_ns() - started_ns;
    job->result.parse_ns += taken_ns;
    job->result.fill_ns += taken_ns;
}
