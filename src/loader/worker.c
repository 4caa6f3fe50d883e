/* The threads of a loader: each takes the next station of the walk, fills a batch, and puts it into
 * its slot. */
#include <stdlib.h>

#include "base/error.h"
#include "loader/loader.h"
#include "os/process.h"

/* A station on its way to its slot. */
typedef struct job {
    station at;
    uint64_t number; /* of the station, since the generation began */
    uint64_t generation;
    recmap_status status;
    recmap_error error;
    filled result;
} job;

static bool has_room(const recmap_loader *loader) {
    return !loader->is_stuck && loader->issued - loader->taken < loader->slot_count;
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

/* Takes the next station on. */
static void take_on(job *taken, recmap_loader *loader) {
    taken->result = (filled){.batch = NULL};
    taken->generation = loader->generation;
    taken->number = loader->issued++;
    taken->status = walk_next(&taken->at, &loader->walk, &taken->error);
    if (taken->status != RECMAP_OK) loader->is_stuck = true;
    else if (!taken->at.is_end && loader->spare_count)
        taken->result.batch = loader->spares[--loader->spare_count];
}

static recmap_status fill(job *at, filler *with) {
    if (at->at.is_end)
        return station_state(&at->result.epoch, &at->result.position, &at->at, &at->error);
    if (!at->result.batch) {
        recmap_status status = recmap_batch_create(&at->result.batch, &at->error);
        if (status != RECMAP_OK) return status;
    }
    return filler_fill(&at->result, with, &at->at, &at->error);
}

/* A failed one leaves its batch, which is empty, to others. */
static void put_failed(recmap_loader *loader, loader_slot *slot, job *done) {
    slot->error = malloc(sizeof *slot->error);
    if (slot->error) *slot->error = done->error;
    loader_add_spare(loader, done->result.batch);
    done->result.batch = NULL;
    filled_clear(&done->result);
}

static void put(recmap_loader *loader, job *done) {
    if (done->generation != loader->generation) {
        if (done->result.batch) recmap_batch_clear(done->result.batch);
        loader_add_spare(loader, done->result.batch);
        filled_clear(&done->result);
        return;
    }
    loader_slot *slot = &loader->slots[done->number % loader->slot_count];
    slot->is_ready = true;
    slot->status = done->status;
    if (done->status != RECMAP_OK) put_failed(loader, slot, done);
    slot->result = done->result;
    loader->statistics.batches_ready++;
    if (done->number == loader->taken) pthread_cond_signal(&loader->changed_results);
}

void *loader_work(void *context) {
    recmap_loader *loader = context;
    filler with = {.dataset = loader->dataset,
                   .rank = loader->options.rank,
                   .policy = loader->options.bad_record};
    job at;
    pthread_mutex_lock(&loader->lock);
    while (wait_for_room(loader)) {
        take_on(&at, loader);
        pthread_mutex_unlock(&loader->lock);
        if (at.status == RECMAP_OK) at.status = fill(&at, &with);
        pthread_mutex_lock(&loader->lock);
        put(loader, &at);
    }
    pthread_mutex_unlock(&loader->lock);
    filler_free(&with);
    return NULL;
}
