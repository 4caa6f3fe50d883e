/* Roles that read records by number. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/program/program.h"
#include "simulation/world/model.h"
#include "simulation/world/oracle.h"
#include "simulation/world/report.h"

enum { READERS_MAX = 4, GATHER_MAX = 32 };

/* A thread of the program that reads records of a data set that others read as well. */
struct reader {
    const struct actor *actor;
    struct random_stream choices;
    recmap_dataset *dataset;
    const struct index_state *state;
    bool has_stopped; /* it told the running call to stop */
};

static int maybe_stop(void *context) {
    struct reader *reader = context;
    bool stops = random_once_in(&reader->choices, 6);
    reader->has_stopped |= stops;
    return stops;
}

static void check_failure(const struct reader *reader, recmap_status status,
                          const recmap_error *error) {
    if (status == RECMAP_CANCELLED && reader->has_stopped) return;
    if (status == RECMAP_CANCELLED) run_fail("a call is cancelled that nobody told to stop");
    oracle_failure(reader->actor->role->process, "read records", (int)status, error->message);
}

static void get_one(struct reader *reader) {
    recmap_record record = {.data = NULL};
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t number = random_below(&reader->choices, reader->state->record_count);
    recmap_status status = recmap_dataset_get(&record, reader->dataset, number, &error);
    if (status != RECMAP_OK) {
        check_failure(reader, status, &error);
        return;
    }
    check_record(reader->state, &record, number);
    recmap_record_release(&record);
}

static void gather_some(struct reader *reader, recmap_batch *batch) {
    uint64_t numbers[GATHER_MAX];
    recmap_error error = RECMAP_ERROR_INIT;
    size_t count = (size_t)random_between(&reader->choices, 1, GATHER_MAX);
    for (size_t i = 0; i < count; i++)
        numbers[i] = random_below(&reader->choices, reader->state->record_count);
    recmap_batch_set_threads(batch, (unsigned)random_between(&reader->choices, 1, 4));
    recmap_status status = recmap_dataset_gather(batch, reader->dataset, numbers, count, &error);
    if (status != RECMAP_OK) {
        check_failure(reader, status, &error);
        return;
    }
    if (recmap_batch_count(batch) != count) run_fail("a batch has another number of records");
    for (size_t i = 0; i < count; i++)
        check_record(reader->state, &recmap_batch_records(batch)[i], numbers[i]);
}

static void find_one(struct reader *reader) {
    char text[32];
    uint64_t number = random_below(&reader->choices, reader->state->record_count), found = 0;
    recmap_error error = RECMAP_ERROR_INIT;
    unsigned shard, place, found_shard = 0, found_place = 0;
    oracle_locate(&shard, &place, reader->state, number);
    model_id(text, shard, place);
    recmap_value id = {.type = RECMAP_TYPE_BYTES,
                       .as = {.bytes = {(const uint8_t *)text, strlen(text)}}};
    recmap_status status = recmap_dataset_find(&found, reader->dataset, &id, &error);
    if (status != RECMAP_OK) {
        check_failure(reader, status, &error);
        return;
    }
    bool is_there = oracle_locate(&found_shard, &found_place, reader->state, found);
    if (!is_there || found_shard != shard || found_place != place)
        run_fail("id %s is found at another record", text);
}

/* Joins some records by id with the data set itself. */
static void join_some(struct reader *reader) {
    uint64_t numbers[GATHER_MAX];
    int64_t matches[GATHER_MAX];
    recmap_error error = RECMAP_ERROR_INIT;
    size_t count = (size_t)random_between(&reader->choices, 1, GATHER_MAX);
    for (size_t i = 0; i < count; i++)
        numbers[i] = random_below(&reader->choices, reader->state->record_count);
    recmap_status status = recmap_dataset_match(matches, reader->dataset, reader->dataset, numbers,
                                                count, NULL, NULL, &error);
    if (status != RECMAP_OK) {
        check_failure(reader, status, &error);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (matches[i] != (int64_t)numbers[i])
            run_fail("record %llu is joined with record %lld", (unsigned long long)numbers[i],
                     (long long)matches[i]);
}

static void *read_records(void *context) {
    struct reader *reader = context;
    recmap_batch *batch = NULL;
    if (recmap_batch_create(&batch, NULL) != RECMAP_OK) return NULL;
    if (reader->actor->role->may_cancel) {
        recmap_thread_set_interrupt(maybe_stop, reader);
        recmap_batch_set_interrupt(batch, maybe_stop, reader);
    }
    for (unsigned i = 0; i < reader->actor->role->rounds; i++) {
        reader->has_stopped = false;
        switch (random_below(&reader->choices, 7)) {
        case 0:
        case 1: get_one(reader); break;
        case 2:
        case 3: gather_some(reader, batch); break;
        case 4: join_some(reader); break;
        default: find_one(reader); break;
        }
    }
    recmap_thread_set_interrupt(NULL, NULL);
    recmap_batch_destroy(batch);
    return NULL;
}

static void read_together(struct actor *actor, recmap_dataset *dataset,
                          const struct index_state *state) {
    struct reader readers[READERS_MAX];
    pthread_t threads[READERS_MAX];
    unsigned started = 0;
    for (unsigned i = 0; i < actor->role->readers; i++) {
        readers[i] =
            (struct reader){actor, random_stream(actor->role->seed, 20 + i), dataset, state, false};
        if (i && !pthread_create(&threads[started], NULL, read_records, &readers[i])) started++;
    }
    read_records(&readers[0]);
    while (started) pthread_join(threads[--started], NULL);
}

/* ---- Everything. */

static void check_column(const struct actor *actor, recmap_dataset *dataset,
                         const struct index_state *state, unsigned column) {
    char name[8];
    size_t index;
    recmap_error error = RECMAP_ERROR_INIT;
    snprintf(name, sizeof name, "c%u", column);
    recmap_status status = recmap_dataset_find_lifted_column(&index, dataset, name, &error);
    if ((status == RECMAP_OK) != state->has_column[column])
        run_fail("the index %s the column %s", status == RECMAP_OK ? "has" : "lacks", name);
    if (!state->has_column[column]) return;
    for (uint64_t i = 0; i < state->record_count; i++) {
        unsigned shard, number;
        int64_t value = 0;
        oracle_locate(&shard, &number, state, i);
        status = recmap_dataset_read_int64(&value, dataset, index, i, 1, &error);
        int64_t expected = i < state->column_records[column] ? model_value(column, shard, number)
                                                             : -5;
        if (status != RECMAP_OK)
            oracle_failure(actor->role->process, "read a column", (int)status, error.message);
        else if (value != expected) run_fail("column %s has a wrong value", name);
    }
}

static void check_all(struct actor *actor, recmap_dataset *dataset,
                      const struct index_state *state) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (uint64_t i = 0; i < state->record_count; i++) {
        recmap_record record = {.data = NULL};
        recmap_status status = recmap_dataset_get(&record, dataset, i, &error);
        if (status == RECMAP_OK) check_record(state, &record, i);
        else oracle_failure(actor->role->process, "read", (int)status, error.message);
        recmap_record_release(&record);
    }
    for (unsigned i = 0; i < COLUMNS_MAX; i++) check_column(actor, dataset, state, i);
}

void actor_read(struct actor *actor) {
    const struct index_state *state;
    unsigned opens = actor->role->kind == ROLE_READ ? 2 : 1;
    for (unsigned i = 0; i < opens; i++) {
        recmap_dataset *dataset = actor_open(actor, &state);
        if (!dataset) return;
        if (actor->role->kind == ROLE_CHECK) check_all(actor, dataset, state);
        else if (state->record_count) read_together(actor, dataset, state);
        if (actor->role->selects && state->record_count) actor_select(actor, dataset, state);
        recmap_dataset_close(dataset);
    }
}
