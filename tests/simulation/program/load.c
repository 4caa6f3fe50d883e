/* A rank: reads its batches of some epochs, saves states, stops, waits and moves. */
#include <stdlib.h>
#include <string.h>

#include "simulation/program/corpus.h"
#include "simulation/program/program.h"
#include "simulation/world/oracle.h"
#include "simulation/world/report.h"

enum { TRIES_MAX = 8, BATCH_MAX = 64 };

struct rank {
    struct actor *actor;
    struct corpus corpus;
    recmap_loader *loader;
    recmap_batch *batch;
    struct place place;
};

/* ---- The order. */

void actor_set_sequence(struct actor *actor) {
    struct corpus corpus;
    const struct epochs *epochs = &actor->role->epochs;
    if (!corpus_open(&corpus, actor) || corpus_create_order(&corpus, epochs, NULL) != RECMAP_OK)
        run_fail("the order cannot be created");
    size_t count = (size_t)recmap_order_count(corpus.order);
    uint64_t *numbers = malloc((count + 1) * sizeof *numbers);
    for (uint64_t epoch = 0; epoch <= epochs->epoch_count; epoch++) {
        if (recmap_order_read(numbers, corpus.order, epoch, 0, count, NULL) != RECMAP_OK)
            run_fail("the order cannot be read");
        oracle_set_sequence(epochs, &corpus.mixture, epoch, numbers, count);
    }
    free(numbers);
    corpus_close(&corpus);
}

/* ---- Places. */

static const struct epochs *epochs_of(const struct rank *rank) {
    return &rank->actor->role->epochs;
}

static void check_position(struct rank *rank) {
    uint64_t epoch, position, expected_epoch, expected_position;
    oracle_position(&expected_epoch, &expected_position, epochs_of(rank), &rank->place);
    if (recmap_loader_tell(&epoch, &position, rank->loader, NULL) != RECMAP_OK)
        run_fail("the loader does not know its position");
    if (epoch != expected_epoch || position != expected_position)
        run_fail("the loader is at %llu of epoch %llu, but should be at %llu of epoch %llu",
                 (unsigned long long)position, (unsigned long long)epoch,
                 (unsigned long long)expected_position, (unsigned long long)expected_epoch);
}

static void check_failure(struct rank *rank, const char *what, recmap_status status,
                          const recmap_error *error) {
    oracle_failure(rank->actor->role->process, what, (int)status, error->message);
}

/* ---- Steps. */

static void check_batch(struct rank *rank) {
    uint64_t numbers[BATCH_MAX];
    size_t count = oracle_batch(numbers, epochs_of(rank), &rank->place, rank->actor->role->rank);
    const recmap_record *records = recmap_batch_records(rank->batch);
    if (recmap_batch_count(rank->batch) != count)
        run_fail("a batch has %zu records, but should have %zu", recmap_batch_count(rank->batch),
                 count);
    for (size_t i = 0; i < count; i++) check_record(rank->corpus.state, &records[i], numbers[i]);
}

/* Returns false if the step could not be made. */
static bool next(struct rank *rank) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_INVALID;
    for (int tries = 0; status != RECMAP_OK && tries < TRIES_MAX; tries++) {
        status = recmap_loader_next(&rank->batch, rank->loader, &error);
        if (status != RECMAP_OK) check_failure(rank, "take a batch", status, &error);
    }
    if (status != RECMAP_OK) return false;
    bool is_over = rank->place.step == oracle_step_count(epochs_of(rank), &rank->place);
    if (is_over != !rank->batch)
        run_fail("the loader %s", is_over ? "continues after the last step of the epoch"
                                          : "ends the epoch too early");
    if (is_over) {
        rank->place = (struct place){.epoch = rank->place.epoch + 1};
        report->rank_epoch_count++;
        report->epoch_count += !rank->actor->role->rank;
    } else {
        check_batch(rank);
        rank->place.step++;
    }
    check_position(rank);
    return true;
}

static void save(struct rank *rank) {
    recmap_state *state = NULL;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_loader_save(&state, rank->loader, &error);
    if (status == RECMAP_OK) status = recmap_state_to_json(&text, state, &error);
    if (status == RECMAP_OK) {
        struct place place = {.step = 0};
        oracle_position(&place.epoch, &place.start, epochs_of(rank), &rank->place);
        oracle_save_checkpoint(text.data, text.size, &place);
        trace("saves a state: epoch %d, position %d", (int)place.epoch, (int)place.start);
    } else {
        check_failure(rank, "save a state", status, &error);
    }
    recmap_state_destroy(state);
    recmap_text_deinit(&text);
}

static bool restore(struct rank *rank) {
    char text[CHECKPOINT_SIZE];
    recmap_state *state = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    size_t size = oracle_load_checkpoint(text, &rank->place);
    if (!size) return true;
    recmap_status status = recmap_state_from_json(&state, text, size, &error);
    if (status == RECMAP_OK) status = recmap_loader_load(rank->loader, state, &error);
    recmap_state_destroy(state);
    if (status != RECMAP_OK) check_failure(rank, "load a state", status, &error);
    else check_position(rank);
    return status == RECMAP_OK;
}

static void wait_a_while(struct rank *rank) {
    int is_ready;
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t ns = random_scale(&rank->actor->choices, 10000000);
    recmap_status status = recmap_loader_wait(&is_ready, rank->loader, ns, &error);
    if (status != RECMAP_OK) check_failure(rank, "wait", status, &error);
}

/* After the last step, a loader that starts again starts with the next epoch: that is its position
 * then. */
static void stop(struct rank *rank) {
    struct place place = {.step = 0};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_loader_stop(rank->loader, &error);
    if (status != RECMAP_OK) check_failure(rank, "stop", status, &error);
    check_position(rank);
    oracle_position(&place.epoch, &place.start, epochs_of(rank), &rank->place);
    rank->place = place;
}

/* To any position of this epoch, as a rank that runs alone may. */
static void seek(struct rank *rank) {
    uint64_t count = recmap_order_count(rank->corpus.order);
    struct place place = {rank->place.epoch, random_below(&rank->actor->choices, count), 0};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_loader_seek(rank->loader, place.epoch, place.start, &error);
    if (status == RECMAP_OK) rank->place = place;
    else check_failure(rank, "seek", status, &error);
}

static void read_epochs(struct rank *rank) {
    struct random_stream *choices = &rank->actor->choices;
    bool is_alone = epochs_of(rank)->world_size == 1;
    unsigned seeks = 0;
    while (rank->place.epoch < epochs_of(rank)->epoch_count) {
        switch (random_below(choices, 24)) {
        case 0: stop(rank); break;
        case 1: wait_a_while(rank); break;
        case 2:
            if (!rank->actor->role->rank) save(rank);
            break;
        case 3:
            if (is_alone && seeks++ < 3) seek(rank);
            break;
        default: break;
        }
        if (rank->place.epoch < epochs_of(rank)->epoch_count && !next(rank)) return;
    }
}

static bool create_loader(struct rank *rank) {
    const struct role *role = rank->actor->role;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    options.rank = role->rank;
    options.world_size = role->epochs.world_size;
    options.batch_size = role->epochs.batch_size;
    options.last = (recmap_last)role->epochs.last;
    options.thread_count = role->thread_count;
    options.batches_ahead = role->batches_ahead;
    options.readahead = (recmap_readahead)role->readahead;
    recmap_status status = corpus_create_order(&rank->corpus, &role->epochs, &error);
    if (status == RECMAP_OK)
        status = recmap_loader_create(&rank->loader, rank->corpus.dataset, rank->corpus.order,
                                      &options, &error);
    if (status != RECMAP_OK) check_failure(rank, "create a loader", status, &error);
    return status == RECMAP_OK;
}

/* Reads what follows the position of the loader, to the end of the epoch. */
static void warm(struct rank *rank) {
    const struct role *role = rank->actor->role;
    recmap_warm_options options = RECMAP_WARM_OPTIONS_INIT;
    recmap_warm_report warmed;
    recmap_error error = RECMAP_ERROR_INIT;
    options.thread_count = role->thread_count;
    options.order = rank->corpus.order;
    options.epoch = rank->place.epoch;
    options.position = rank->place.start;
    options.dealing.world_size = role->epochs.world_size;
    options.dealing.batch_size = role->epochs.batch_size;
    options.dealing.last = (recmap_last)role->epochs.last;
    options.first_rank = role->rank;
    options.rank_count = 1;
    recmap_status status = recmap_dataset_warm(&warmed, rank->corpus.dataset, &options, &error);
    if (status != RECMAP_OK) check_failure(rank, "warm", status, &error);
}

void actor_load(struct actor *actor) {
    struct rank rank = {.actor = actor};
    if (corpus_open(&rank.corpus, actor) && create_loader(&rank) && restore(&rank)) {
        if (actor->role->warms) warm(&rank);
        read_epochs(&rank);
    }
    recmap_batch_destroy(rank.batch);
    recmap_loader_destroy(rank.loader);
    corpus_close(&rank.corpus);
}
