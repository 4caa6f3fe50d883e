#include "simulation/program/program.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "simulation/world/model.h"
#include "simulation/world/oracle.h"
#include "simulation/world/report.h"
#include "simulation/world/store.h"

#include "base/core/interrupt.h"
#include "index/scan/segments.h"

/* What LMDB, which prints only in builds for debugging, has in place of stderr. */
__attribute__((visibility("hidden"))) FILE *program_stderr;

int world_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                         void *argument);

/* libgcc has a function of this name, for split stacks, which must not be linked. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument) {
    return world_pthread_create(thread, attributes, run, argument);
}

/* The library cuts shards into segments of at least a mebibyte, and the world's are smaller. A
 * process has one scan at a time. */
static uint64_t segment_size;

recmap_status __real_segments_init(struct segment_ring *ring, struct scan_shard *shards,
                                   size_t shard_count, const struct scan_options *options,
                                   recmap_error *error);
recmap_status __wrap_segments_init(struct segment_ring *ring, struct scan_shard *shards,
                                   size_t shard_count, const struct scan_options *options,
                                   recmap_error *error) {
    static struct scan_options cut;
    cut = *options;
    cut.segment_size = segment_size;
    return __real_segments_init(ring, shards, shard_count, &cut, error);
}

/* Calls ask whether to stop after less work, because they do less. */
static int64_t question_work;

struct interrupt *__real_thread_interrupt(void);
struct interrupt *__wrap_thread_interrupt(void) {
    struct interrupt *interrupt = __real_thread_interrupt();
    if (interrupt->work_left > question_work) interrupt->work_left = question_work;
    return interrupt;
}

void program_touch_tls(void) {
    recmap_thread_set_interrupt(NULL, NULL);
}

void program_main(const struct role *role) {
    struct actor actor = {role, random_stream(role->seed, 10), false};
    segment_size = role->segment_size;
    question_work = role->question_work;
    switch (role->kind) {
    case ROLE_BUILD:
    case ROLE_MERGE:
    case ROLE_APPEND:
    case ROLE_ANNOTATE:
    case ROLE_WRITE: actor_change_index(&actor); break;
    case ROLE_READ:
    case ROLE_CHECK: actor_read(&actor); break;
    case ROLE_SEQUENCE: actor_set_sequence(&actor); break;
    case ROLE_LOAD: actor_load(&actor); break;
    case ROLE_ORDERS: actor_read_orders(&actor); break;
    }
}

void actor_fail(const struct actor *actor, const char *what, recmap_status status,
                const recmap_error *error) {
    oracle_failure(actor->role->process, what, (int)status, error->message);
}

static recmap_status open_dataset(recmap_dataset **dataset, const struct role *role,
                                  const char *path, recmap_dataset_options *options,
                                  recmap_error *error) {
    recmap_storage *storage = role->uses_store ? actor_create_storage() : NULL;
    if (storage) {
        options->storage = storage;
        options->shards = STORE_URL;
    }
    if (storage || role->uses_cache) {
        options->cache = "/cache/c";
        options->cache_size = 1 << 24;
    }
    recmap_status status = recmap_dataset_open(dataset, path, options, error);
    recmap_storage_release(storage);
    return status;
}

recmap_dataset *actor_open_index(const struct actor *actor, const char *path,
                                 const struct index_state **state) {
    const struct role *role = actor->role;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = NULL;
    options.access = (recmap_access)role->access;
    options.shard_limit = role->seed % 3 ? 0 : 2;
    options.span_keep_size = role->span_keep_size;
    options.check = (recmap_check)role->check;
    if (role->kind == ROLE_CHECK) options.index_check = RECMAP_INDEX_CHECK_FULL;
    recmap_status status = open_dataset(&dataset, role, path, &options, &error);
    if (status != RECMAP_OK) {
        actor_fail(actor, "open the index", status, &error);
        return NULL;
    }
    *state = oracle_opened(role->process);
    if (!*state) run_fail("an index is open that was never published");
    uint64_t count = recmap_dataset_count(dataset);
    if (count != (*state)->record_count)
        run_fail("the index has %llu records, but should have %llu", (unsigned long long)count,
                 (unsigned long long)(*state)->record_count);
    return dataset;
}

recmap_dataset *actor_open(const struct actor *actor, const struct index_state **state) {
    return actor_open_index(actor, actor->role->index, state);
}

void check_record(const struct index_state *state, const recmap_record *record, uint64_t number) {
    static uint8_t expected[RECORD_SIZE_MAX];
    unsigned shard, place;
    report->record_count++;
    if (record->number != number || !oracle_locate(&shard, &place, state, number))
        run_fail("record %llu was asked for, and record %llu returned", (unsigned long long)number,
                 (unsigned long long)record->number);
    size_t size = model_record(expected, shard, place);
    if (record->size != size || memcmp(record->data, expected, size))
        run_fail("record %llu has wrong bytes", (unsigned long long)number);
}
