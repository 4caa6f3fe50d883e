/* The threads of a loader: each takes the next epoch_step of the walk, fills a batch, and puts it
 * into its slot. */
#include <stdlib.h>

#include "loader/loader.h"
#include "os/process.h"

/* A epoch_step on its way to its slot. */
struct job {
    struct epoch_step at;
    uint64_t number; /* of the epoch_step, since the generation began */
    uint64_t generation;
    uint64_t begun_ns;
    recmap_status status;
    recmap_error error;
    struct filled result;
    struct readahead_plan plan;
    struct thread_waits after;
};

static bool has_room(const recmap_loader *loader) {
    return !loader->is_stuck && loader->issued - loader->taken < loader->slot_count;
}

/* So few slots are free that the workers would soon have none. */
static bool is_nearly_full(const recmap_loader *loader) {
    uint64_t least = loader->slot_count / 4, threads = loader->options.thread_count;
    if (least < (threads + 1) / 2) least = (threads + 1) / 2;
    return loader->slot_count - (loader->issued - loader->taken) <= least;
}

/* Whether the caller is to be woken now. That costs as much as filling dozens of records, so where
 * it empties slots faster than they are filled it is woken for several at once: as long as batches
 * come quickly it sleeps on until most slots are ready, though never for long. Who lets it sleep
 * has room, so fills another slot, and asks again then. */
static bool must_wake_caller(const recmap_loader *loader, const struct job *job) {
    enum { QUICK_NS = 100000, SLEEP_MAX_NS = 200000 };
    const struct loader_slot *awaited = &loader->slots[loader->taken % loader->slot_count];
    if (!loader->is_awaited || !awaited->is_ready) return false;
    if (!loader->taken || awaited->status != RECMAP_OK || loader->is_stuck) return true;
    if (loader->fetch_depth || loader->readahead.is_cold || is_nearly_full(loader)) return true;
    uint64_t now_ns = clock_ns();
    return now_ns - job->begun_ns > QUICK_NS || now_ns - loader->awaited_since_ns > SLEEP_MAX_NS;
}

/* False when the loader closes. */
static bool wait_for_room(recmap_loader *loader) {
    if (!loader->is_closing && !has_room(loader)) {
        uint64_t begun_ns = clock_ns();
        while (!loader->is_closing && !has_room(loader))
            pthread_cond_wait(&loader->changed_work, &loader->lock);
        loader->statistics.worker_wait_ns += clock_ns() - begun_ns;
    }
    return !loader->is_closing;
}

/* Takes the next epoch_step on. */
static void take_on(struct job *job, recmap_loader *loader) {
    job->result = (struct filled){.batch = NULL};
    job->generation = loader->generation;
    job->number = loader->issued++;
    job->begun_ns = clock_ns();
    readahead_plan_for(&job->plan, &loader->readahead, job->number);
    job->status = epoch_cursor_next(&job->at, &loader->walk, &job->error);
    if (job->status != RECMAP_OK) loader->is_stuck = true;
    else if (!job->at.is_end && loader->spare_count)
        job->result.batch = loader->spares[--loader->spare_count];
}

static recmap_status fill(struct job *job, struct filler *filler) {
    if (job->at.is_end)
        return epoch_step_state(&job->result.epoch, &job->result.position, &job->at, &job->error);
    if (!job->result.batch) {
        recmap_status status = recmap_batch_create(&job->result.batch, &job->error);
        if (status != RECMAP_OK) return status;
    }
    return filler_fill(&job->result, filler, &job->at, &job->error);
}

/* The others learn it before this batch is filled, which takes its time. */
static void tell_missing(recmap_loader *loader, const struct job *job) {
    pthread_mutex_lock(&loader->lock);
    readahead_learn_missing(&loader->readahead, &job->plan, &loader->walk, loader->issued);
    pthread_mutex_unlock(&loader->lock);
}

/* Asks for what comes, then fills what is due. */
static void do_job(struct job *job, recmap_loader *loader, struct filler *filler,
                   struct readahead_room *room) {
    if (job->plan.station_count) {
        readahead_do(&job->plan, room, loader->dataset, loader->options.rank);
        if (job->plan.asked_count) tell_missing(loader, job);
    }
    if (job->plan.is_measured) job->plan.before = thread_get_waits();
    job->status = fill(job, filler);
    if (job->plan.is_measured) job->after = thread_get_waits();
}

/* A failed one leaves its batch, which is empty, to others. */
static void put_failed(recmap_loader *loader, struct loader_slot *slot, struct job *job) {
    slot->error = malloc(sizeof *slot->error);
    if (slot->error) *slot->error = job->error;
    loader_add_spare(loader, job->result.batch);
    job->result.batch = NULL;
    filled_clear(&job->result);
}

static void learn(recmap_loader *loader, const struct job *job) {
    loader->statistics.readahead_count += job->plan.asked_count;
    if (job->status == RECMAP_OK && job->plan.is_measured && job->result.batch)
        readahead_learn_waits(&loader->readahead, &job->plan, &job->after,
                              recmap_batch_count(job->result.batch), &loader->walk, loader->issued);
}

static void put(recmap_loader *loader, struct job *job) {
    learn(loader, job);
    if (job->generation != loader->generation) {
        if (job->result.batch) recmap_batch_clear(job->result.batch);
        loader_add_spare(loader, job->result.batch);
        filled_clear(&job->result);
        return;
    }
    struct loader_slot *slot = &loader->slots[job->number % loader->slot_count];
    slot->is_ready = true;
    slot->status = job->status;
    if (job->status != RECMAP_OK) put_failed(loader, slot, job);
    slot->result = job->result;
    loader->statistics.batches_ready++;
}

/* What a worker has taken on, oldest first: several where records are fetched, so that the device
 * has some to read while the oldest is finished. */
enum { JOBS_MAX = 64 };
struct job_queue {
    struct job one; /* enough where nothing is fetched */
    struct job *jobs;
    unsigned capacity;
    unsigned first, count;
};

static struct job *job_at(struct job_queue *queue, unsigned place) {
    return &queue->jobs[(queue->first + place) % queue->capacity];
}

static void queue_init(struct job_queue *queue, struct filler *filler,
                       const recmap_loader *loader) {
    *queue = (struct job_queue){.jobs = &queue->one, .capacity = 1};
    if (loader->fetch_depth) filler->fetch = fetcher_create(loader->dataset, loader->fetch_depth);
    struct job *more = filler->fetch ? calloc(JOBS_MAX, sizeof *more) : NULL;
    if (!more) return;
    queue->jobs = more;
    queue->capacity = JOBS_MAX;
}

/* The loader closes: what is under way is waited for, and thrown away. */
static void queue_free(struct job_queue *queue, struct filler *filler) {
    if (filler->fetch) fetcher_stop(filler->fetch);
    for (unsigned i = 0; i < queue->count; i++) {
        struct filled *result = &job_at(queue, i)->result;
        if (result->is_begun) fetcher_finish(filler->fetch, result->batch);
        recmap_batch_destroy(result->batch);
        filled_clear(result);
    }
    if (queue->jobs != &queue->one) free(queue->jobs);
}

/* Whether another epoch_step is to be taken on before the oldest job is done. */
static bool wants_more(struct job_queue *queue, const struct filler *filler,
                       const recmap_loader *loader) {
    if (!queue->count) return true;
    const struct filled *oldest = &job_at(queue, 0)->result;
    return queue->count < queue->capacity && has_room(loader) && oldest->is_begun &&
           fetcher_wants_more(filler->fetch, oldest->batch);
}

static void begin(struct job *job, struct filler *filler) {
    if (job->status != RECMAP_OK || job->at.is_end) return;
    if (!job->result.batch && recmap_batch_create(&job->result.batch, NULL) != RECMAP_OK) return;
    filler_begin(&job->result, filler, &job->at);
}

/* Takes on what is to be taken on, and begins it; the lock is held. */
static void begin_jobs(struct job_queue *queue, struct filler *filler, recmap_loader *loader) {
    while (wants_more(queue, filler, loader)) {
        struct job *begun = job_at(queue, queue->count++);
        take_on(begun, loader);
        if (!filler->fetch) return;
        pthread_mutex_unlock(&loader->lock);
        begin(begun, filler);
        pthread_mutex_lock(&loader->lock);
    }
}

void *loader_work(void *context) {
    recmap_loader *loader = context;
    struct filler with = {.dataset = loader->dataset,
                          .rank = loader->options.rank,
                          .policy = loader->options.bad_record,
                          .parser = loader->options.parser};
    struct readahead_room room = {NULL, 0};
    struct job_queue queue;
    queue_init(&queue, &with, loader);
    pthread_mutex_lock(&loader->lock);
    while (queue.count ? !loader->is_closing : wait_for_room(loader)) {
        begin_jobs(&queue, &with, loader);
        pthread_mutex_unlock(&loader->lock);
        struct job *at = job_at(&queue, 0);
        if (at->status == RECMAP_OK) do_job(at, loader, &with, &room);
        pthread_mutex_lock(&loader->lock);
        put(loader, at);
        if (must_wake_caller(loader, at)) pthread_cond_signal(&loader->changed_results);
        queue.first = (queue.first + 1) % queue.capacity;
        queue.count--;
    }
    pthread_mutex_unlock(&loader->lock);
    queue_free(&queue, &with);
    filler_free(&with);
    free(room.numbers);
    return NULL;
}
