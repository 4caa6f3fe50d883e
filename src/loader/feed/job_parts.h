/* A job with pictures: one worker takes the step and gathers its records, and all workers decode
 * the pictures in parts. Hundreds of pictures take one thread a large part of a second, in which
 * the others would fill batches that nobody waits for yet.
 *
 *     job_parts_create   by the worker that took the step: what it reads needs no memory for pixels
 *     job_parts_start    reserves that memory, once the loader lets the job have it
 *     job_parts_read     for each part
 *     job_parts_finish   by the worker that ended the last part
 *
 * The parts of a job of records are consecutive records, and workers take them in this order. So if
 * one fails, those before it have been taken too, and the error of the first one that fails is that
 * of the first bad record. Those after it are not taken any more.
 *
 * The parts of a job of rows are pictures: rows are cut by one worker, because they share records
 * and pictures. If a part fails, one worker reads the rows again, to apply the loader's policy.
 *
 * A job is a single part if there is one worker, if it has too few pictures for two, or if memory
 * for parts runs out. */
#ifndef RECMAP_LOADER_FEED_JOB_PARTS_H
#define RECMAP_LOADER_FEED_JOB_PARTS_H

#include "dataset/batch/parse_parts.h"
#include "loader/feed/job.h"
#include "loader/slices/rows_reader.h"

struct job_part {
    struct filled_batch result; /* its skipped records, and what it took */
    const struct lost_row *lost;
    size_t lost_count;
};

enum job_division {
    JOB_WHOLE, /* a single part */
    JOB_OF_RECORDS,
    JOB_OF_ROWS,
};

enum job_stage {
    JOB_WAITS, /* until its batch may have memory for pixels */
    JOB_STARTS,
    JOB_STARTED,
};

struct job_parts {
    struct job job;
    enum job_division division;
    struct parse_parts parse;  /* JOB_OF_RECORDS */
    uint64_t first_position;   /* of the records, in the epoch */
    struct rows_reader reader; /* JOB_OF_ROWS */
    uint64_t *positions;       /* of the rows */
    struct job_part *items;
    size_t count; /* 0 until the job is started */
    /* Guarded by the loader's lock. */
    struct job_parts *next;
    enum job_stage stage;
    size_t taken_count; /* or that are left because another one failed */
    size_t running_count;
    size_t failed; /* the first part that failed, or SIZE_MAX; job.status and error are its own */
};

/* Takes over a job with pictures whose records are gathered; rows are gathered here. Returns NULL,
 * and leaves the job as it is, if it has no pictures or memory runs out. */
struct job_parts *job_parts_create(const struct job *job, struct filler *filler);
void job_parts_destroy(struct job_parts *parts); /* except for the job's result */

/* Divides the job into at least one part. */
void job_parts_start(struct job_parts *parts, struct filler *filler);

/* Decodes a part. Errors: as recmap_dataset_parse or recmap_dataset_rows. */
recmap_status job_parts_read(struct job_parts *parts, size_t index, struct filler *filler,
                             recmap_error *error);

/* Adds what the part took to the job, and keeps its error if it is the first one that failed. */
void job_parts_settle(struct job_parts *parts, size_t index, recmap_status status,
                      const recmap_error *error);

/* Assembles the batch once all parts are read, or clears it if one failed. */
void job_parts_finish(struct job_parts *parts, struct filler *filler);

/* Clears the batch of a job that is not wanted any more. No part is being read. */
void job_parts_cancel(struct job_parts *parts);

#endif
