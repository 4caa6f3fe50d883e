#include "simulation/world/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/dataset.h>
#include <recmap/loader.h>
#include <recmap/order.h>

#include "simulation/world/disk.h"
#include "simulation/world/model.h"
#include "simulation/world/oracle.h"
#include "simulation/world/process.h"
#include "simulation/world/report.h"
#include "simulation/world/store.h"
#include "simulation/world/system.h"

/* The epochs of a mixture may be many times as long as its parts. */
enum { ACTORS_MAX = 5, EVENTS_MAX = 6, MIXTURE_EPOCHS_MAX = 4 };

/* A process that is to live, and lives. */
struct place_for_process {
    char name[20];
    struct role role;
    struct process *process;
};

struct world {
    struct random_stream choices;
    struct place_for_process actors[ACTORS_MAX];
    unsigned actor_count;
    bool is_about_loaders;
    bool has_store, has_cache, is_large;
    bool may_change;             /* objects of the store, while they are read */
    struct random_stream extras; /* of choices on which nothing else depends */
    bool has_parts, selects, warms;
    unsigned kills_left, crashes_left, changes_left, events_left;
    uint64_t event_scale;
    bool was_disturbed;
};

static struct world world;

/* ---- Chances of a run. */

static unsigned first_shards; /* these are in the index from the beginning */

static void plan_schedule(uint64_t seed, const struct run_cuts *cuts, bool is_calm) {
    struct schedule_plan plan = {
        .seed = seed, .preemption_limit = cuts->preemption_limit, .is_calm = is_calm};
    memcpy(plan.is_left_out, cuts->preemptions, sizeof plan.is_left_out);
    schedule_init(&plan);
}

static const char *choose_call(struct random_stream *choices) {
    static const char *const calls[] = {"pwrite", "pread", "fsync", "rename"};
    if (world.has_store && random_once_in(choices, 3)) return "a request";
    if (world.has_store && random_once_in(choices, 2)) return "pwrite"; /* to the cache */
    return calls[random_below(choices, sizeof calls / sizeof *calls)];
}

static struct fault_plan plan_faults(uint64_t seed, const struct run_cuts *cuts, bool is_calm) {
    struct random_stream choices = random_stream(seed, 6);
    struct fault_plan plan = {.seed = seed};
    if (random_once_in(&choices, 3)) plan.count = (unsigned)random_between(&choices, 1, FAULTS_MAX);
    if (random_once_in(&choices, 2)) plan.only = choose_call(&choices);
    for (unsigned i = 0; i < FAULTS_MAX; i++) {
        plan.places[i] = random_scale(&choices, plan.only ? 32 : 2000);
        plan.is_left_out[i] = cuts->faults[i];
    }
    plan.space = random_once_in(&choices, 16) && !cuts->faults[1] ? random_scale(&choices, 1 << 20)
                                                                  : FOREVER;
    plan.is_short = random_once_in(&choices, 3);
    plan.is_late = !is_calm && random_once_in(&choices, 2);
    plan.refuses_memory = random_once_in(&choices, 20) && !cuts->faults[0];
    return plan;
}

/* ---- Processes. */

static void start(struct place_for_process *actor) {
    actor->process = process_start(actor->name, &actor->role);
}

static unsigned count_alive(void) {
    unsigned count = 0;
    for (unsigned i = 0; i < world.actor_count; i++) count += world.actors[i].process != NULL;
    return count;
}

static void release_ended(void) {
    for (unsigned i = 0; i < world.actor_count; i++) {
        struct process *process = world.actors[i].process;
        if (!process || !process->has_ended) continue;
        world.was_disturbed |= process->was_disturbed;
        process_release(process);
        world.actors[i].process = NULL;
    }
}

static void fail_deadlock(void) {
    char waits[1024];
    schedule_describe(waits, sizeof waits);
    run_fail("all threads wait for each other:%s", waits);
}

/* Runs one process from its start to its end, with nothing beside it. */
static void run_alone(const char *name, const struct role *role) {
    struct process *process = process_start(name, role);
    while (!process->has_ended)
        if (schedule_run() == STOP_DEADLOCK) fail_deadlock();
    process_release(process);
}

static struct role role_of(enum role_kind kind) {
    struct role role = {.kind = kind, .seed = random_next(&world.choices), .rounds = 1};
    snprintf(role.index, sizeof role.index, "/data/x.rmx");
    /* Only with many threads is a large shard divided into segments. */
    unsigned thread_max = world.is_large ? 32 : 4;
    role.thread_count = (unsigned)random_between(&world.choices, 1, thread_max);
    role.access = (uint32_t)random_below(&world.choices, 3);
    /* Only the sum of a record tells that a part of it comes from an object that has changed. */
    role.check = world.may_change ? RECMAP_CHECK_DATA : (uint32_t)random_below(&world.choices, 2);
    role.reads_shards = random_once_in(&world.choices, 4);
    role.uses_cache = world.has_cache;
    role.question_work = (int64_t)random_scale(&world.choices, 1 << 18);
    /* All inflated bytes are kept, or some of them, or hardly any. */
    if (random_once_in(&world.choices, 2))
        role.span_keep_size = random_scale(&world.choices, world.is_large ? 1 << 23 : 1 << 18);
    if (!random_once_in(&world.choices, 4))
        role.segment_size = 64 + random_scale(&world.choices, 1 << 15);
    return role;
}

static void add_shard_range(struct role *role, unsigned first, unsigned end) {
    for (unsigned i = first; i < end; i++) role->shards[role->shard_count++] = (uint8_t)i;
}

static struct place_for_process *add_actor(const char *name, const struct role *role) {
    struct place_for_process *actor = &world.actors[world.actor_count++];
    *actor = (struct place_for_process){.role = *role};
    snprintf(actor->name, sizeof actor->name, "%s-%u", name, world.actor_count);
    return actor;
}

/* ---- Writers and readers of one index. */

/* Shards that are appended are in no build, so that the model knows which build has them. */
static void add_appends(unsigned *next_shard) {
    struct role role = role_of(ROLE_APPEND);
    unsigned end = *next_shard + (unsigned)random_between(&world.choices, 1, 2);
    if (end > model_shard_count) end = model_shard_count;
    add_shard_range(&role, *next_shard, end);
    role.rounds = role.shard_count;
    *next_shard = end;
    if (role.rounds) add_actor("append", &role);
}

static void add_annotations(unsigned *next_column) {
    struct role role = role_of(ROLE_ANNOTATE);
    role.first_column = *next_column;
    role.rounds = (unsigned)random_between(&world.choices, 1, 2);
    *next_column += role.rounds;
    add_actor("annotate", &role);
}

static void add_build(enum role_kind kind) {
    struct role role = role_of(kind);
    role.rank = world.actor_count;
    add_shard_range(&role, 0, (unsigned)random_between(&world.choices, 1, first_shards));
    role.rounds = (unsigned)random_between(&world.choices, 1, 2);
    role.may_cancel = random_once_in(&world.choices, 6);
    add_actor(kind == ROLE_BUILD ? "build" : kind == ROLE_MERGE ? "merge" : "write", &role);
}

static void add_reader(void) {
    struct role role = role_of(ROLE_READ);
    role.readers = (unsigned)random_between(&world.choices, 1, 4);
    role.rounds = (unsigned)random_scale(&world.choices, 24);
    role.may_cancel = random_once_in(&world.choices, 3);
    role.uses_store = world.has_store && !random_once_in(&world.choices, 3);
    role.selects = world.selects;
    add_actor("read", &role);
}

static void add_order_reader(void) {
    struct role role = role_of(ROLE_ORDERS);
    role.readers = (unsigned)random_between(&world.choices, 2, 4);
    role.rounds = (unsigned)random_scale(&world.choices, 8);
    add_actor("orders", &role);
}

static void plan_writers(void) {
    unsigned next_shard = first_shards, next_column = 0;
    unsigned count = (unsigned)random_between(&world.choices, 1, ACTORS_MAX);
    bool has_builds = random_once_in(&world.choices, 2);
    for (unsigned i = 0; i < count; i++) {
        switch (random_below(&world.choices, has_builds ? 8 : 5)) {
        case 0:
        case 1: add_appends(&next_shard); break;
        case 2:
        case 3:
            if (next_column + 2 <= COLUMNS_MAX) add_annotations(&next_column);
            break;
        case 4: add_reader(); break;
        case 5: add_build(ROLE_BUILD); break;
        case 6: add_build(ROLE_MERGE); break;
        default: add_build(ROLE_WRITE); break;
        }
    }
}

/* Readers that share a cache of a store. */
static void plan_store(void) {
    unsigned count = (unsigned)random_between(&world.choices, 1, 3);
    for (unsigned i = 0; i < count; i++) add_reader();
    if (random_once_in(&world.choices, 8)) add_order_reader();
}

/* ---- Ranks that read epochs. */

static struct epochs choose_epochs(void) {
    struct random_stream *choices = &world.choices;
    return (struct epochs){
        .order = (enum order_kind)random_below(choices, ORDER_KINDS),
        .order_seed = random_next(choices),
        .epoch_count = random_between(choices, 1, EPOCHS_MAX),
        .batch_size = (uint32_t)random_scale(choices, 24),
        .world_size = (uint32_t)random_between(choices, 1, 3),
        .last = (uint32_t)random_below(choices, 3),
    };
}

static void add_ranks(const struct epochs *epochs) {
    for (uint32_t i = 0; i < epochs->world_size; i++) {
        struct role role = role_of(ROLE_LOAD);
        role.epochs = *epochs;
        role.rank = i;
        role.batches_ahead = (uint32_t)random_scale(&world.choices, 12);
        role.readahead = (uint32_t)random_below(&world.choices, 3);
        role.uses_store = world.has_store;
        role.warms = world.warms;
        add_actor("rank", &role);
    }
}

static void build_other(void) {
    struct role role = role_of(ROLE_BUILD);
    unsigned first = (unsigned)random_below(&world.choices, model_shard_count);
    unsigned end = (unsigned)random_between(&world.choices, first + 1, model_shard_count);
    snprintf(role.index, sizeof role.index, OTHER_INDEX);
    add_shard_range(&role, first, end);
    run_alone("setup-other", &role);
}

/* A mixture of the parts of a concatenation. */
static void choose_parts(struct epochs *epochs) {
    struct random_stream *choices = &world.extras;
    epochs->part_count = (unsigned)random_between(choices, 2, EPOCH_PARTS_MAX);
    for (unsigned i = 0; i < epochs->part_count; i++) {
        epochs->parts[i] = (uint8_t)random_below(choices, 2);
        epochs->weights[i] = (uint8_t)random_between(choices, 1, 3);
    }
    epochs->stops_last = random_once_in(choices, 2);
    if (epochs->epoch_count > MIXTURE_EPOCHS_MAX) epochs->epoch_count = MIXTURE_EPOCHS_MAX;
    build_other();
}

static void plan_loaders(void) {
    struct epochs epochs = choose_epochs();
    if (world.has_parts) choose_parts(&epochs);
    struct role role = role_of(ROLE_SEQUENCE);
    role.epochs = epochs;
    run_alone("sequence", &role);
    add_ranks(&epochs);
    if (random_once_in(&world.choices, 4)) add_reader();
    if (random_once_in(&world.choices, 4)) add_order_reader();
}

/* A run continues with any number of ranks. */
static void change_world_size(void) {
    struct epochs epochs = world.actors[0].role.epochs;
    epochs.world_size = (uint32_t)random_between(&world.choices, 1, 3);
    world.actor_count = 0;
    add_ranks(&epochs);
}

/* ---- Events. */

/* Half of the gaps between events are mostly short, and the others are of any length. */
static uint64_t choose_gap(void) {
    return random_once_in(&world.choices, 2) ? random_scale(&world.choices, world.event_scale)
                                             : random_below(&world.choices, world.event_scale) + 1;
}

static void set_event(void) {
    schedule_set_event(world.events_left > 0 ? choose_gap() : FOREVER);
}

static void kill_all(void) {
    for (unsigned i = 0; i < world.actor_count; i++)
        if (world.actors[i].process) process_kill(world.actors[i].process);
    release_ended();
}

static void restart_all(void) {
    if (world.is_about_loaders) change_world_size();
    for (unsigned i = 0; i < world.actor_count; i++) start(&world.actors[i]);
}

/* The store has no copies of the shards that processes wrote. */
static bool store_has_shards(const char *index) {
    return world.has_store && !world.may_change && strncmp(index, "written", 7);
}

/* Half of the checks read from the store, if there is one: what a crash or a killed process left in
 * the cache must not be wrong bytes. */
static void check_indexes(void) {
    const char *name;
    for (size_t i = 0; (name = oracle_index(i)); i++) {
        struct role role = role_of(ROLE_CHECK);
        role.uses_store = store_has_shards(name) && random_once_in(&world.choices, 2);
        snprintf(role.index, sizeof role.index, "/data/%s", name);
        run_alone("check", &role);
    }
}

static void crash(void) {
    report->crash_count++;
    world.crashes_left--;
    for (unsigned i = 0; i < world.actor_count; i++)
        if (world.actors[i].process) process_kill(world.actors[i].process);
    release_ended();
    disk_crash(&world.choices);
    oracle_after_crash();
    faults_pause(true);
    check_indexes();
    faults_pause(false);
    restart_all();
}

static void kill_one(void) {
    report->kill_count++;
    world.kills_left--;
    if (world.is_about_loaders) {
        kill_all();
        restart_all();
        return;
    }
    unsigned chosen = (unsigned)random_below(&world.choices, world.actor_count);
    struct place_for_process *actor = &world.actors[chosen];
    if (!actor->process) return;
    process_kill(actor->process);
    release_ended();
    if (random_once_in(&world.choices, 2)) start(actor);
}

static void change_object(void) {
    world.changes_left--;
    store_change(&world.choices);
}

static void have_event(void) {
    world.events_left--;
    if (world.crashes_left && random_once_in(&world.choices, 2)) crash();
    else if (world.kills_left && random_once_in(&world.choices, 2)) kill_one();
    else if (world.changes_left && random_once_in(&world.choices, 2)) change_object();
    else disk_write_back(&world.choices);
    set_event();
}

static void plan_events(const struct run_cuts *cuts, bool loses_syncs) {
    world.event_scale = (uint64_t)1 << random_between(&world.choices, 8, 14);
    unsigned kind = (unsigned)random_below(&world.choices, 10);
    if (kind < 2) world.kills_left = (unsigned)random_between(&world.choices, 1, 2);
    else if (kind < 5) world.crashes_left = (unsigned)random_between(&world.choices, 1, 2);
    world.events_left = (unsigned)random_below(&world.choices, EVENTS_MAX + 1);
    /* What a sync that failed has lost shows only after a crash, and so does what a process that
     * never syncs has in its cache. */
    if (loses_syncs || (world.has_store && random_once_in(&world.choices, 4))) world.crashes_left++;
    if (world.kills_left || world.crashes_left || world.changes_left) world.events_left += 3;
    if (cuts->kills) world.kills_left = world.crashes_left = 0;
}

/* ---- The run. */

static void live(void) {
    report->actor_count = world.actor_count;
    report->is_shared = world.actor_count > 1;
    set_event();
    for (unsigned i = 0; i < world.actor_count; i++) start(&world.actors[i]);
    while (count_alive()) {
        switch (schedule_run()) {
        case STOP_PROCESS_ENDED: release_ended(); break;
        case STOP_EVENT: have_event(); break;
        case STOP_DEADLOCK: fail_deadlock();
        }
    }
    schedule_set_event(FOREVER);
}

static void build_first(void) {
    struct role role = role_of(ROLE_BUILD);
    add_shard_range(&role, 0, first_shards);
    run_alone("setup", &role);
}

static void put_shards(void) {
    for (unsigned i = 0; i < model_shard_count; i++) {
        disk_put(model_shards[i].path, model_shards[i].file, model_shards[i].file_size);
        report->data_record_count += model_shards[i].record_count;
        report->data_byte_count += model_shards[i].file_size;
    }
}

/* A build removes what killed ones left. */
static void clean_up(void) {
    struct role role = role_of(ROLE_BUILD);
    add_shard_range(&role, 0, first_shards);
    if (report->kill_count || report->crash_count || world.was_disturbed) run_alone("clean", &role);
    oracle_check_folder(
        report->kill_count || report->crash_count || world.was_disturbed ? "x.rmx.tmp-" : "");
}

/* Returns true if the run is about readers of a store. */
static bool choose_kind(const struct run_cuts *cuts) {
    unsigned kind = (unsigned)random_below(&world.choices, 8);
    bool is_about_store = kind == 3 || kind == 4;
    world.is_about_loaders = kind < 3;
    world.has_store = is_about_store || random_once_in(&world.choices, 4);
    world.has_cache = random_once_in(&world.choices, 4);
    world.may_change = world.has_store && random_once_in(&world.choices, 8) && !cuts->faults[2];
    world.changes_left = world.may_change;
    return is_about_store;
}

/* With a stream of their own, so that runs without them do not depend on them. */
static void choose_extras(uint64_t seed) {
    world.extras = random_stream(seed, 8);
    world.has_parts = random_once_in(&world.extras, 4);
    world.selects = random_once_in(&world.extras, 4);
    world.warms = random_once_in(&world.extras, 4);
}

void run_seed(uint64_t seed, const struct run_cuts *cuts) {
    world.choices = random_stream(seed, 7);
    choose_extras(seed);
    bool is_calm = random_once_in(&world.choices, 2);
    world.is_large = random_once_in(&world.choices, 32);
    plan_schedule(seed, cuts, is_calm || cuts->lateness);
    system_init(seed);
    disk_init();
    oracle_init();
    model_init(seed, world.is_large);
    put_shards();
    first_shards = (unsigned)random_between(&world.choices, 1, model_shard_count);
    bool is_about_store = choose_kind(cuts);
    struct fault_plan faults = plan_faults(seed, cuts, is_calm || cuts->lateness);
    faults_init(&faults);
    faults_pause(true);
    build_first();
    if (world.is_about_loaders) plan_loaders();
    else if (is_about_store) plan_store();
    else plan_writers();
    plan_events(cuts, faults.count && faults.only && !strcmp(faults.only, "fsync"));
    faults_pause(false);
    disk_set_space(faults.space);
    live();
    disk_set_space(FOREVER);
    faults_pause(true);
    check_indexes();
    clean_up();
    report->is_finished = true;
}
