#include "loader/feed/job_parts.h"

#include <stdlib.h>
#include <string.h>

#include <recmap/rows.h>

#include "base/core/error.h"
#include "base/os/process.h"
#include "dataset/batch/batch.h"
#include "loader/feed/repair.h"
#include "loader/feed/rows_filler.h"
#include "parse/columns/columns.h"

static bool gives_rows(const struct job *job) {
    return recmap_order_row_width(job->step.deal.order) > 0;
}

/* ---- Creating. */

/* The reader refers to the positions until it is closed, when the filler has those of another step.
 */
static recmap_status gather_rows(struct job_parts *parts, struct filler *filler) {
    const recmap_deal *deal = &parts->job.step.deal;
    recmap_share share;
    RETURN_IF_FAILED(recmap_deal_share(&share, deal, parts->job.step.step, filler->rank, NULL));
    const size_t count = (size_t)share.count;
    parts->positions = malloc((count + 1) * sizeof *parts->positions);
    if (!parts->positions) return RECMAP_NO_MEMORY;
    memcpy(parts->positions, filler->numbers, count * sizeof *parts->positions);
    rows_set_draws(parts->job.result.batch, filler, deal);
    RETURN_IF_FAILED(rows_reader_begin(&parts->reader, parts->job.result.batch, filler->dataset,
                                       deal->order, filler->parser, deal->epoch, parts->positions,
                                       count, NULL));
    return rows_reader_gather(&parts->reader, NULL);
}

/* A job of rows that cannot be gathered is read as a whole, which finds out why. */
static void choose_division(struct job_parts *parts, struct filler *filler) {
    if (!filler->shares_parts) return;
    if (!gives_rows(&parts->job)) parts->division = JOB_OF_RECORDS;
    else if (gather_rows(parts, filler) == RECMAP_OK) parts->division = JOB_OF_ROWS;
    else rows_reader_close(&parts->reader);
}

struct job_parts *job_parts_create(const struct job *job, struct filler *filler) {
    if (!filler->parser || !filler->parser->image_count) return NULL;
    struct job_parts *parts = malloc(sizeof *parts);
    if (!parts) return NULL;
    *parts = (struct job_parts){.job = *job, .division = JOB_WHOLE, .failed = SIZE_MAX};
    choose_division(parts, filler);
    return parts;
}

void job_parts_destroy(struct job_parts *parts) {
    for (size_t i = 0; parts->items && i < parts->count; i++)
        filled_batch_clear(&parts->items[i].result);
    rows_reader_close(&parts->reader);
    free(parts->positions);
    free(parts->items);
    free(parts);
}

/* ---- Starting. */

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

static bool add_parts(struct job_parts *parts, size_t count) {
    parts->items = calloc(count, sizeof *parts->items);
    parts->count = parts->items ? count : 0;
    return parts->items;
}

static bool start_records(struct job_parts *parts, const struct filler *filler) {
    const struct epoch_step *step = &parts->job.step;
    recmap_batch *batch = parts->job.result.batch;
    recmap_share share;
    if (parse_parts_size(batch, filler->parser) >= recmap_batch_count(batch) ||
        recmap_deal_share(&share, &step->deal, step->step, filler->rank, NULL) != RECMAP_OK)
        return false;
    parts->first_position = share.first;
    bool leaves_out = filler->policy == RECMAP_ON_BAD_RECORD_SKIP;
    if (parse_parts_start(&parts->parse, batch, filler->dataset, filler->parser, leaves_out,
                          NULL) != RECMAP_OK)
        return false;
    if (!add_parts(parts, parse_parts_count(&parts->parse))) {
        parse_parts_cancel(&parts->parse);
        return false;
    }
    divide_lost(parts);
    return true;
}

/* Cuts the rows. Pictures that are not in slices are decoded here, too: one for each row. */
static bool start_rows(struct job_parts *parts) {
    struct image_counts counts = {.clock_ns = clock_ns};
    batch_set_image_counts(parts->job.result.batch, &counts);
    recmap_status status = rows_reader_cut(&parts->reader, NULL);
    batch_set_image_counts(parts->job.result.batch, NULL);
    image_counts_add(&parts->job.result.images, &counts);
    if (status != RECMAP_OK) return false;
    const size_t count = rows_reader_part_count(&parts->reader);
    return add_parts(parts, count ? count : 1);
}

static bool start(struct job_parts *parts, const struct filler *filler) {
    switch (parts->division) {
    case JOB_OF_RECORDS: return start_records(parts, filler);
    case JOB_OF_ROWS: return start_rows(parts);
    case JOB_WHOLE: break;
    }
    return false;
}

void job_parts_start(struct job_parts *parts, struct filler *filler) {
    uint64_t started_ns = clock_ns();
    if (!start(parts, filler)) {
        rows_reader_close(&parts->reader);
        parts->division = JOB_WHOLE;
        parts->count = 1;
    }
    parts->job.result.fill_ns += clock_ns() - started_ns;
}

/* ---- Reading a part. */

static recmap_status read_records(struct job_parts *parts, size_t index, struct filler *filler,
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
    const struct part_options options = {
        .repair = filler->policy == RECMAP_ON_BAD_RECORD_ERROR ? NULL : &choices,
        .lost = part->lost,
        .lost_count = part->lost_count,
        .image_counts = &part->result.images,
        .scratch = filler->scratch};
    part->result.batch = parts->job.result.batch;
    return parse_parts_read(&parts->parse, index, &options, error);
}

static recmap_status read_pictures(struct job_parts *parts, size_t index, recmap_columns *scratch) {
    struct interrupt interrupt = parts->job.result.batch->interrupt;
    columns_set_interrupt(scratch, &interrupt);
    columns_set_image_counts(scratch, &parts->items[index].result.images);
    recmap_status status = rows_reader_decode_part(&parts->reader, index, scratch);
    columns_set_interrupt(scratch, NULL);
    columns_set_image_counts(scratch, NULL);
    return status;
}

/* Rows that were read before are read again. */
static recmap_status read_whole(struct job_parts *parts, struct filler *filler,
                                recmap_error *error) {
    struct filled_batch *result = &parts->job.result;
    const struct image_counts images = result->images;
    if (gives_rows(&parts->job))
        RETURN_IF_FAILED(filler_read(result, filler, &parts->job.step, error));
    recmap_status status = filler_parse(result, filler, &parts->job.step, error);
    image_counts_add(&result->images, &images);
    return status;
}

static recmap_status read_divided(struct job_parts *parts, size_t index, struct filler *filler,
                                  recmap_error *error) {
    if (!filler->scratch) RETURN_IF_FAILED(recmap_columns_create(&filler->scratch, error));
    parts->items[index].result.images.clock_ns = clock_ns;
    if (parts->division == JOB_OF_RECORDS) return read_records(parts, index, filler, error);
    if (error) *error = (recmap_error)RECMAP_ERROR_INIT;
    return read_pictures(parts, index, filler->scratch);
}

recmap_status job_parts_read(struct job_parts *parts, size_t index, struct filler *filler,
                             recmap_error *error) {
    uint64_t started_ns = clock_ns();
    if (parts->division == JOB_WHOLE) {
        recmap_status status = read_whole(parts, filler, error);
        parts->job.result.fill_ns += clock_ns() - started_ns;
        return status;
    }
    recmap_status status = read_divided(parts, index, filler, error);
    parts->items[index].result.fill_ns = clock_ns() - started_ns;
    return status;
}

void job_parts_settle(struct job_parts *parts, size_t index, recmap_status status,
                      const recmap_error *error) {
    struct job *job = &parts->job;
    if (parts->division != JOB_WHOLE) {
        const struct filled_batch *part = &parts->items[index].result;
        job->result.fill_ns += part->fill_ns;
        if (parts->division == JOB_OF_RECORDS) job->result.parse_ns += part->fill_ns;
        image_counts_add(&job->result.images, &part->images);
    }
    if (status == RECMAP_OK || index > parts->failed) return;
    parts->failed = index;
    job->status = status;
    job->error = *error;
}

/* ---- The end. */

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

static recmap_status finish_records(struct job_parts *parts) {
    struct job *job = &parts->job;
    if (parts->failed != SIZE_MAX) {
        parse_parts_cancel(&parts->parse);
        return job->status;
    }
    RETURN_IF_FAILED(parse_parts_finish(&parts->parse, &job->error));
    RETURN_IF_FAILED(join_skipped(parts));
    if (job->result.skipped_count) repair_close_up(job->result.batch);
    return RECMAP_OK;
}

static recmap_status finish_rows(struct job_parts *parts, struct filler *filler) {
    recmap_status status = parts->failed == SIZE_MAX ? RECMAP_OK : parts->job.status;
    if (status == RECMAP_OK) status = rows_reader_finish(&parts->reader, RECMAP_OK, NULL);
    return status == RECMAP_OK ? RECMAP_OK : read_whole(parts, filler, &parts->job.error);
}

static recmap_status finish(struct job_parts *parts, struct filler *filler) {
    switch (parts->division) {
    case JOB_OF_RECORDS: return finish_records(parts);
    case JOB_OF_ROWS: return finish_rows(parts, filler);
    case JOB_WHOLE: break;
    }
    return parts->failed == SIZE_MAX ? RECMAP_OK : parts->job.status;
}

void job_parts_finish(struct job_parts *parts, struct filler *filler) {
    struct job *job = &parts->job;
    uint64_t started_ns = clock_ns();
    job->status = finish(parts, filler);
    if (job->status == RECMAP_OK)
        job->status = filler_finish(&job->result, &job->step, &job->error);
    if (job->status != RECMAP_OK) recmap_batch_clear(job->result.batch);
    lost_rows_deinit(&job->result.lost);
    uint64_t taken_ns = clock_ns() - started_ns;
    if (parts->division == JOB_OF_RECORDS) job->result.parse_ns += taken_ns;
    job->result.fill_ns += taken_ns;
}

void job_parts_cancel(struct job_parts *parts) {
    if (parts->division == JOB_OF_RECORDS && parts->count) parse_parts_cancel(&parts->parse);
    recmap_batch_clear(parts->job.result.batch);
    lost_rows_deinit(&parts->job.result.lost);
}
