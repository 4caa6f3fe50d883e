/* A job whose records were gathered by one worker and are parsed in parts by all of them. Parsing
 * hundreds of pictures takes one thread a large part of a second, in which the others would fill
 * batches that nobody waits for yet.
 *
 * The parts are consecutive records, and workers take them in this order. So if one fails, those
 * before it have been taken too, and the error of the first one that fails is that of the first bad
 * record. Those after it are not taken any more. */
#ifndef RECMAP_LOADER_FEED_JOB_PARTS_H
#define RECMAP_LOADER_FEED_JOB_PARTS_H

#include "dataset/batch/parse_parts.h"
#include "loader/feed/job.h"

struct job_part {
    struct filled_batch result; /* its skipped records, and what it took */
    const struct lost_row *lost;
    size_t lost_count;
};

struct job_parts {
    struct job job;
    struct parse_parts parse;
    uint64_t first_position; /* of the records, in the epoch */
    struct job_part *items;
    size_t count;
    /* Guarded by the loader's lock. */
    struct job_parts *next;
    size_t taken_count; /* or that are left because another one failed */
    size_t running_count;
    size_t failed; /* the first part that failed, or SIZE_MAX; job.status and error are its own */
};

/* Divides a job whose records are gathered, and takes over its result. Returns NULL, and leaves the
 * job as it is, if dividing it does not pay or memory runs out. */
struct job_parts *job_parts_create(const struct job *job, const struct filler *filler);
void job_parts_destroy(struct job_parts *parts); /* except for the job's result */

/* Parses a part. Errors: as recmap_dataset_parse. */
recmap_status job_parts_read(struct job_parts *parts, size_t index, struct filler *filler,
                             recmap_error *error);

/* Adds what the part took to the job, and keeps its error if it is the first one that failed. */
void job_parts_settle(struct job_parts *parts, size_t index, recmap_status status,
                      const recmap_error *error);

/* Assembles the batch once all parts are read, or clears it if one failed or the job is not wanted
 * any more. */
void job_parts_finish(struct job_parts *parts, bool is_wanted);

#endif
