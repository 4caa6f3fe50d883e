/* The threads of a loader: each takes the next step of the epoch, fills a batch, and puts it into
 * the step's slot. Before that, it helps with earlier batches that are divided into parts. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <recmap/batch.h>
#include <recmap/interrupt.h>
#include <recmap/rows.h>

#include "base/core/error.h"
#include "base/os/process.h"
#include "dataset/batch/batch.h"
#include "loader/feed/job_parts.h"
#include "loader/feed/loader.h"

static bool has_room(const recmap_loader *loader) {
    if (loader->is_stuck || loader->issued - loader->taken >= loader->slot_count) return false;
    return epoch_cursor_epoch(&loader->cursor) < loader->options.batches_ahead_epoch_limit ||
           loader->issued < loader->wanted;
}

/* Returns true if so few slots are free that the workers would soon have to wait. */
static bool is_nearly_full(const recmap_loader *loader) {
    uint64_t reserve = loader->slot_count / 4, threads = loader->options.thread_count;
    if (reserve < (threads + 1) / 2) reserve = (threads + 1) / 2;
    return loader->slot_count - (loader->issued - loader->taken) <= reserve;
}

/* Returns true if to wake the caller now. Waking costs as much as filling dozens of records. If the
 * caller empties slots faster than workers fill them, it is woken once for several batches: while
 * batches are filled quickly it sleeps until most slots are ready, but never longer than
 * SLEEP_MAX_NS plus one batch. This cannot leave the caller asleep for good: a worker that decides
 * not to wake it has room, so it or another one fills a further batch and decides again. Batches of
 * pictures may have to wait for the caller even if there is room. */
static bool must_wake_caller(const recmap_loader *loader, const struct job *job) {
    enum { QUICK_NS = 100000, SLEEP_MAX_NS = 200000 };
    const struct loader_slot *awaited = &loader->slots[loader->taken % loader->slot_count];
    if (!loader->is_awaited || !awaited->is_ready) return false;
    if (!loader->taken || loader_has_pictures(loader)) return true;
    if (awaited->status != RECMAP_OK || !has_room(loader)) return true;
    if (loader->direct_depth || loader->readahead.is_cold || is_nearly_full(loader)) return true;
    uint64_t now_ns = clock_ns();
    return now_ns - job->started_ns > QUICK_NS || now_ns - loader->awaited_since_ns > SLEEP_MAX_NS;
}

/* Returns true if the job may have memory for pixels. The batch that the caller takes next always
 * may. */
static bool may_start(const recmap_loader *loader, const struct job *job) {
    return job->number - loader->taken < loader_decoded_ahead_max(loader);
}

/* The earliest open job that a worker can do something about: discard it, start it, or read a part
 * of it. */
static struct job_parts *find_open(const recmap_loader *loader) {
    struct job_parts *parts = loader->open;
    while (parts && (parts->stage == JOB_STARTS ||
                     (parts->stage == JOB_WAITS && parts->job.generation == loader->generation &&
                      !may_start(loader, &parts->job))))
        parts = parts->next;
    return parts;
}

static bool has_work(const recmap_loader *loader) {
    return find_open(loader) || has_room(loader);
}

/* Waits until there is something to do about an open job, or a slot is free. Returns false if the
 * loader closes. */
static bool wait_for_work(recmap_loader *loader) {
    if (!loader->is_closing && !has_work(loader)) {
        uint64_t started_ns = clock_ns();
        while (!loader->is_closing && !has_work(loader))
            pthread_cond_wait(&loader->changed_work, &loader->lock);
        loader->statistics.worker_wait_ns += clock_ns() - started_ns;
    }
    return !loader->is_closing;
}

/* Returns true if the worker that takes this step must prepare the next epoch: one of them does so,
 * once, in the second half of an epoch of rows. */
static bool must_prepare(recmap_loader *loader, const struct epoch_step *step) {
    uint64_t next = step->deal.epoch + 1;
    if (!recmap_order_row_width(loader->order) || loader->prepared_epoch == next ||
        next >= loader->options.batches_ahead_epoch_limit || step->step < step->deal.step_count / 2)
        return false;
    loader->prepared_epoch = next;
    return true;
}

/* Takes the next step. The caller holds the lock. */
static void take_step(struct job *job, recmap_loader *loader) {
    job->result = (struct filled_batch){.batch = NULL};
    assert(loader->issued - loader->taken < loader->slot_count);
    job->generation = loader->generation;
    job->number = loader->issued++;
    job->started_ns = clock_ns();
    readahead_plan_for(&job->plan, &loader->readahead, job->number);
    job->status = epoch_cursor_next(&job->step, &loader->cursor, &job->error);
    job->prepares_next = job->status == RECMAP_OK && must_prepare(loader, &job->step);
    if (job->status != RECMAP_OK) loader->is_stuck = true;
    else if (!job->step.is_end && loader->spare_count)
        job->result.batch = loader->spares[--loader->spare_count];
}

/* The interrupt function of a batch that is being filled: requests to a remote store are repeated
 * for minutes if the store does not answer, and a loader that closes must not wait for them. */
static int must_stop(void *context) {
    recmap_loader *loader = context;
    return atomic_load_explicit(&loader->is_closing, memory_order_relaxed);
}

/* Lends the batch of a job what filling it needs, until end_fill. */
static recmap_status begin_fill(struct job *job, recmap_loader *loader) {
    if (!job->result.batch) RETURN_IF_FAILED(recmap_batch_create(&job->result.batch, &job->error));
    recmap_batch_set_interrupt(job->result.batch, must_stop, loader);
    batch_set_allocator(job->result.batch, &loader->options.allocator);
    return RECMAP_OK;
}

/* The caller may keep the batch after the loader is destroyed. */
static void end_fill(struct job *job) {
    if (!job->result.batch) return;
    recmap_batch_set_draws(job->result.batch, NULL);
    recmap_batch_set_interrupt(job->result.batch, NULL, NULL);
    batch_set_allocator(job->result.batch, NULL);
}

static recmap_status read(struct job *job, recmap_loader *loader, struct filler *filler) {
    RETURN_IF_FAILED(begin_fill(job, loader));
    return filler_read(&job->result, filler, &job->step, &job->error);
}

/* Rows are read here. */
static enum activity_stage parsing_stage(const recmap_loader *loader) {
    if (loader_has_pictures(loader)) return ACTIVITY_IMAGES;
    return recmap_order_row_width(loader->order) ? ACTIVITY_DISK : ACTIVITY_PARSE;
}

static recmap_status parse(struct job *job, const recmap_loader *loader, struct filler *filler) {
    enum activity_stage former = activity_enter(parsing_stage(loader));
    recmap_status status = filler_parse(&job->result, filler, &job->step, &job->error);
    activity_leave(former);
    if (status != RECMAP_OK) return status;
    return filler_finish(&job->result, &job->step, &job->error);
}

/* Fills the job's batch. Or returns the parts of a job with pictures, after its records were read;
 * its result is then theirs. */
static struct job_parts *fill(struct job *job, recmap_loader *loader, struct filler *filler) {
    uint64_t started_ns = clock_ns();
    job->status = read(job, loader, filler);
    struct job_parts *parts = job->status == RECMAP_OK ? job_parts_create(job, filler) : NULL;
    if (!parts && job->status == RECMAP_OK) job->status = parse(job, loader, filler);
    if (!parts) end_fill(job);
    struct job *current = parts ? &parts->job : job;
    current->result.fill_ns = clock_ns() - started_ns;
    if (job->plan.is_measured) current->after = thread_get_waits();
    return parts;
}

/* Reports missing records to the other workers right away, not only after this batch is filled. */
static void report_missing(recmap_loader *loader, const struct job *job) {
    pthread_mutex_lock(&loader->lock);
    readahead_learn_missing(&loader->readahead, &job->plan, &loader->cursor, loader->issued);
    pthread_mutex_unlock(&loader->lock);
}

/* Asks the kernel for later records, then fills this job's batch, or returns the job's parts. */
static struct job_parts *do_job(struct job *job, recmap_loader *loader, struct filler *filler,
                                struct step_records *list) {
    if (job->plan.step_count) {
        readahead_do(&job->plan, list, loader->dataset, loader->options.rank);
        if (job->plan.asked_count) report_missing(loader, job);
    }
    if (job->plan.is_measured) job->after = job->plan.before = thread_get_waits();
    if (!job->step.is_end) return fill(job, loader, filler);
    job->status =
        epoch_step_state(&job->result.epoch, &job->result.position, &job->step, &job->error);
    return NULL;
}

/* Stores the error of a failed job; its empty batch becomes a spare. */
static void put_failed(recmap_loader *loader, struct loader_slot *slot, struct job *job) {
    slot->error = malloc(sizeof *slot->error);
    if (slot->error) *slot->error = job->error;
    loader_add_spare(loader, job->result.batch);
    job->result.batch = NULL;
    filled_batch_clear(&job->result);
}

/* Learns how large batches are. After the first one, more jobs may start than before. */
static void learn_pixels(recmap_loader *loader, uint64_t size) {
    if (size <= loader->pixels_size_max) return;
    if (!loader->pixels_size_max) pthread_cond_broadcast(&loader->changed_work);
    loader->pixels_size_max = size;
}

static void learn(recmap_loader *loader, const struct job *job) {
    loader->statistics.fill_ns += job->result.fill_ns;
    loader->statistics.parse_ns += job->result.parse_ns;
    loader_count_images(loader, &job->result.images);
    learn_pixels(loader, job->result.pixels_size);
    loader->statistics.readahead_count += job->plan.asked_count;
    if (job->status == RECMAP_OK && job->plan.is_measured && job->result.batch)
        readahead_learn_waits(&loader->readahead, &job->plan, &job->after,
                              recmap_batch_count(job->result.batch), &loader->cursor,
                              loader->issued);
}

/* Puts a finished job into its slot, or discards it if the loader has moved to another position
 * since the job was taken. The caller holds the lock. */
static void put_result(recmap_loader *loader, struct job *job) {
    learn(loader, job);
    if (job->generation != loader->generation) {
        if (job->result.batch) recmap_batch_clear(job->result.batch);
        loader_add_spare(loader, job->result.batch);
        filled_batch_clear(&job->result);
        return;
    }
    struct loader_slot *slot = &loader->slots[job->number % loader->slot_count];
    assert(!slot->is_ready && job->number - loader->taken < loader->slot_count);
    slot->is_ready = true;
    slot->status = job->status;
    if (job->status != RECMAP_OK) put_failed(loader, slot, job);
    slot->result = job->result;
    loader->statistics.batches_ready++;
}

static void put_and_wake(recmap_loader *loader, struct job *job) {
    put_result(loader, job);
    if (must_wake_caller(loader, job)) pthread_cond_signal(&loader->changed_results);
}

/* The jobs of one worker, oldest first. There are several with a direct reader, so that the
 * device has reads in flight while the worker finishes the oldest job. */
enum { JOBS_MAX = 64 };
struct job_queue {
    struct job one; /* used instead of an array without a direct reader */
    struct job *jobs;
    unsigned capacity;
    unsigned first, count;
};

static struct job *job_at(struct job_queue *queue, unsigned index) {
    return &queue->jobs[(queue->first + index) % queue->capacity];
}

static void queue_init(struct job_queue *queue, struct filler *filler,
                       const recmap_loader *loader) {
    *queue = (struct job_queue){.jobs = &queue->one, .capacity = 1};
    if (loader->direct_depth)
        filler->reader = direct_reader_create(loader->dataset, loader->direct_depth);
    struct job *more = filler->reader ? calloc(JOBS_MAX, sizeof *more) : NULL;
    if (!more) return;
    queue->jobs = more;
    queue->capacity = JOBS_MAX;
}

/* Called when the loader closes: waits for the reads in flight and discards their batches. */
static void queue_deinit(struct job_queue *queue, struct filler *filler) {
    if (filler->reader) direct_reader_stop(filler->reader);
    for (unsigned i = 0; i < queue->count; i++) {
        struct filled_batch *result = &job_at(queue, i)->result;
        if (result->is_started) direct_reader_finish(filler->reader, result->batch);
        recmap_batch_destroy(result->batch);
        filled_batch_clear(result);
    }
    if (queue->jobs != &queue->one) free(queue->jobs);
}

/* Returns true if to take another step before the oldest job is finished. */
static bool wants_more(struct job_queue *queue, const struct filler *filler,
                       const recmap_loader *loader) {
    if (!queue->count) return true;
    const struct filled_batch *oldest = &job_at(queue, 0)->result;
    return queue->count < queue->capacity && has_room(loader) && oldest->is_started &&
           direct_reader_wants_more(filler->reader, oldest->batch);
}

static void start_reading(struct job *job, struct filler *filler) {
    if (job->status != RECMAP_OK || job->step.is_end) return;
    if (!job->result.batch && recmap_batch_create(&job->result.batch, NULL) != RECMAP_OK) return;
    filler_start(&job->result, filler, &job->step);
}

/* Takes steps while there is capacity and starts reading them. The caller holds the lock; it is
 * released while reads are started. */
static void begin_jobs(struct job_queue *queue, struct filler *filler, recmap_loader *loader) {
    while (wants_more(queue, filler, loader)) {
        assert(queue->count < queue->capacity);
        struct job *job = job_at(queue, queue->count++);
        enum activity_stage former = activity_enter(ACTIVITY_DISK); /* of pages of the index */
        take_step(job, loader);
        activity_leave(former);
        if (!filler->reader) return;
        pthread_mutex_unlock(&loader->lock);
        start_reading(job, filler);
        pthread_mutex_lock(&loader->lock);
    }
}

/* ---- Jobs in parts. The caller of these functions holds the lock. */

/* Jobs of a former generation are first: they are to be discarded. */
static bool is_before(const struct job *job, const struct job *other) {
    if (job->generation != other->generation) return job->generation < other->generation;
    return job->number < other->number;
}

/* Opens a job to all workers. */
static void add_open_job(recmap_loader *loader, struct job_parts *parts) {
    struct job_parts **link = &loader->open;
    while (*link && is_before(&(*link)->job, &parts->job)) link = &(*link)->next;
    parts->next = *link;
    *link = parts;
    pthread_cond_broadcast(&loader->changed_work);
}

/* No further part of the job is taken. */
static void remove_open_job(recmap_loader *loader, struct job_parts *parts) {
    struct job_parts **link = &loader->open;
    while (*link && *link != parts) link = &(*link)->next;
    if (*link) *link = parts->next;
    parts->taken_count = parts->count;
}

/* Gives the job's batch memory for pixels, and divides the job. The lock is released meanwhile. */
static void start_job(recmap_loader *loader, struct job_parts *parts, struct filler *filler) {
    recmap_batch *batch = parts->job.result.batch;
    parts->stage = JOB_STARTS;
    if (!batch->columns) batch->columns = loader_take_spare_columns(loader);
    pthread_mutex_unlock(&loader->lock);
    job_parts_start(parts, filler);
    pthread_mutex_lock(&loader->lock);
    parts->stage = JOB_STARTED;
    pthread_cond_broadcast(&loader->changed_work);
}

/* Takes the next part and reads it. The lock is released meanwhile. */
static void do_part(recmap_loader *loader, struct job_parts *parts, struct filler *filler) {
    recmap_error error;
    size_t index = parts->taken_count++;
    parts->running_count++;
    if (parts->taken_count == parts->count) remove_open_job(loader, parts);
    pthread_mutex_unlock(&loader->lock);
    activity_begin(parts->job.number);
    enum activity_stage former = activity_enter(ACTIVITY_IMAGES);
    recmap_status status = job_parts_read(parts, index, filler, &error);
    activity_leave(former);
    pthread_mutex_lock(&loader->lock);
    parts->running_count--;
    job_parts_settle(parts, index, status, &error);
    if (status != RECMAP_OK) remove_open_job(loader, parts);
}

/* Called by the worker that ends the last part. The lock is released meanwhile. */
static void end_job(recmap_loader *loader, struct job_parts *parts, struct filler *filler) {
    bool is_wanted = parts->job.generation == loader->generation;
    pthread_mutex_unlock(&loader->lock);
    if (is_wanted) job_parts_finish(parts, filler);
    else job_parts_cancel(parts);
    end_fill(&parts->job);
    pthread_mutex_lock(&loader->lock);
    put_and_wake(loader, &parts->job);
    job_parts_destroy(parts);
}

/* Returns true if the worker itself has a job of an earlier step, which the caller needs first. */
static bool has_earlier(struct job_queue *queue, const struct job *other) {
    if (!queue->count) return false;
    const struct job *oldest = job_at(queue, 0);
    return oldest->generation == other->generation && oldest->number < other->number;
}

/* Starts the earliest open job, or does a part of it, or discards it if the loader has moved to
 * another position. Returns false if there is nothing to do before the worker's own jobs. */
static bool help(recmap_loader *loader, struct job_queue *queue, struct filler *filler) {
    struct job_parts *parts = find_open(loader);
    if (!parts || has_earlier(queue, &parts->job)) return false;
    if (parts->job.generation != loader->generation) remove_open_job(loader, parts);
    else if (parts->stage == JOB_WAITS) start_job(loader, parts, filler);
    else do_part(loader, parts, filler);
    if (!parts->running_count && parts->taken_count == parts->count) end_job(loader, parts, filler);
    return true;
}

void loader_discard_open(recmap_loader *loader) {
    while (loader->open) {
        struct job_parts *parts = loader->open;
        loader->open = parts->next;
        job_parts_cancel(parts);
        recmap_batch_destroy(parts->job.result.batch);
        filled_batch_clear(&parts->job.result);
        job_parts_destroy(parts);
    }
}

/* ---- The loop of a worker. */

/* Prepares the epoch after the job's. If that fails, the first batch of that epoch says why. The
 * caller holds the lock; it is released meanwhile. */
static void prepare_next(recmap_loader *loader, const struct job *job) {
    uint64_t next = job->step.deal.epoch + 1;
    pthread_mutex_unlock(&loader->lock);
    recmap_status status = recmap_order_prepare(loader->order, next, NULL);
    (void)status;
    pthread_mutex_lock(&loader->lock);
}

/* Fills the worker's oldest job, or opens it to all workers. The caller holds the lock; it
 * is released meanwhile. */
static void do_oldest(recmap_loader *loader, struct job_queue *queue, struct filler *filler,
                      struct step_records *list) {
    struct job *job = job_at(queue, 0);
    struct job_parts *parts = NULL;
    pthread_mutex_unlock(&loader->lock);
    activity_begin(job->number);
    enum activity_stage former = activity_enter(ACTIVITY_DISK);
    if (job->status == RECMAP_OK) parts = do_job(job, loader, filler, list);
    activity_leave(former);
    pthread_mutex_lock(&loader->lock);
    if (parts) add_open_job(loader, parts);
    else put_and_wake(loader, job);
    if (job->prepares_next) prepare_next(loader, job);
    queue->first = (queue->first + 1) % queue->capacity;
    queue->count--;
}

/* A worker repeats: help with open jobs, take steps, fill the oldest, put it into its slot. It
 * holds the loader's lock except while it starts reads and fills a batch or a part of one. */
void *loader_work(void *context) {
    recmap_loader *loader = context;
    struct filler filler = {.dataset = loader->dataset,
                            .rank = loader->options.rank,
                            .policy = loader->options.on_bad_record,
                            .draw_seed = loader->options.draw_seed,
                            .order = loader->order,
                            .draw_order = loader->options.draw_order,
                            .parser = loader->options.parser,
                            .shares_parts = loader->options.thread_count > 1};
    struct step_records list = {.numbers = NULL};
    struct job_queue queue;
    recmap_thread_set_interrupt(must_stop, loader);
    activity_attach(&loader->activities[atomic_fetch_add(&loader->activity_count, 1)]);
    queue_init(&queue, &filler, loader);
    pthread_mutex_lock(&loader->lock);
    /* A worker with jobs never waits for work: the caller may need their results to make room. */
    while (queue.count ? !loader->is_closing : wait_for_work(loader)) {
        if (help(loader, &queue, &filler)) continue;
        begin_jobs(&queue, &filler, loader);
        do_oldest(loader, &queue, &filler, &list);
    }
    pthread_mutex_unlock(&loader->lock);
    queue_deinit(&queue, &filler);
    filler_deinit(&filler);
    step_records_deinit(&list);
    activity_attach(NULL);
    return NULL;
}
