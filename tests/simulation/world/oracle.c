#include "simulation/world/oracle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/order.h>

#include "simulation/world/disk.h"
#include "simulation/world/files.h"
#include "simulation/world/mixture.h"
#include "simulation/world/model.h"
#include "simulation/world/process.h"
#include "simulation/world/report.h"

enum { VERSIONS_MAX = 512, CHANGES_MAX = 64 };

struct version {
    char name[PATH_SPACE];
    uint64_t inode;
    struct index_state state;
    bool is_acknowledged;
};

/* A change that a process is making. */
struct running_change {
    struct change change;
    size_t version;    /* that it published, from 1 on; 0: none yet */
    bool beside_build; /* a build was published meanwhile */
    size_t begun;      /* the number of versions when it began */
};

static struct version versions[VERSIONS_MAX];
static size_t version_count;
static struct running_change changes[CHANGES_MAX]; /* by process */
static uint64_t *sequences[EPOCHS_MAX + 1];        /* and of the epoch after the last */
static uint64_t sequence_count;
static char checkpoint[CHECKPOINT_SIZE];
static size_t checkpoint_size;
static struct place checkpoint_place;

static struct running_change *change_of(const struct process *process) {
    return &changes[process->pid % CHANGES_MAX];
}

/* ---- Indexes. */

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_index(const char *name) {
    size_t size = strlen(name);
    return size > 4 && !strcmp(name + size - 4, ".rmx");
}

/* The newest index of a name, or NULL. */
static struct version *newest(const char *name) {
    for (size_t i = version_count; i-- > 0;)
        if (!strcmp(versions[i].name, name)) return &versions[i];
    return NULL;
}

const char *oracle_index(size_t i) {
    for (size_t k = 0; k < version_count; k++)
        if (versions[k].name[0] && newest(versions[k].name) == &versions[k] && !i--)
            return versions[k].name;
    return NULL;
}

static bool has_shard(const struct index_state *state, uint8_t shard) {
    return memchr(state->shards, shard, state->shard_count) != NULL;
}

/* Shards that an index has already add nothing. */
static void add_shards(struct index_state *state, const struct change *change) {
    for (unsigned i = 0; i < change->shard_count; i++) {
        if (has_shard(state, change->shards[i])) continue;
        if (state->shard_count == INDEX_SHARDS_MAX) run_fail("the model has too many shards");
        state->shards[state->shard_count++] = change->shards[i];
        state->record_count += model_shards[change->shards[i]].record_count;
    }
}

/* A build may replace the index that was there when it began, but none that was annotated since. */
static void check_columns(const struct version *former, const struct process *process) {
    if (!former || former->inode == process->first_index) return;
    for (unsigned i = 0; i < COLUMNS_MAX; i++)
        if (former->state.has_column[i])
            run_fail("%s replaces an index whose column c%u it lacks", process->name, i);
}

static bool is_build(enum role_kind kind) {
    return kind != ROLE_APPEND && kind != ROLE_ANNOTATE;
}

static void change_state(struct index_state *state, const struct change *change) {
    bool is_new = is_build(change->kind);
    if (is_new) *state = (struct index_state){.shard_count = 0};
    if (change->kind == ROLE_ANNOTATE) {
        state->has_column[change->column] = true;
        state->column_records[change->column] = state->record_count;
    } else {
        add_shards(state, change);
    }
}

static void on_rename(struct process *process, const char *name, struct inode *inode) {
    if (!is_index(name)) return;
    struct running_change *running = change_of(process);
    const struct version *former = newest(name);
    if (version_count == VERSIONS_MAX) run_fail("the model has too many indexes");
    struct version *version = &versions[version_count++];
    *version = (struct version){.inode = inode->number};
    snprintf(version->name, sizeof version->name, "%s", name);
    if (former) version->state = former->state;
    if (is_build(running->change.kind)) check_columns(former, process);
    change_state(&version->state, &running->change);
    running->version = version_count;
    report->index_count++;
    if (!is_build(running->change.kind)) return;
    for (size_t i = 0; i < CHANGES_MAX; i++) changes[i].beside_build = true;
}

void oracle_init(void) {
    files_on_rename = on_rename;
}

void oracle_begin(struct process *process, const struct change *change) {
    *change_of(process) = (struct running_change){.change = *change, .begun = version_count};
    process->first_index = 0;
    process->has_missed_index = false;
}

static bool has_columns(const struct index_state *state) {
    for (unsigned i = 0; i < COLUMNS_MAX; i++)
        if (state->has_column[i]) return true;
    return false;
}

/* Returns true if the index was annotated at any time since a change began: what the change found
 * then may have been replaced before it returned. */
static bool was_annotated(const struct running_change *running) {
    const char *name = name_of(running->change.index);
    for (size_t i = version_count; i-- > 0;) {
        if (strcmp(versions[i].name, name)) continue;
        if (has_columns(&versions[i].state)) return true;
        if (i < running->begun) return false;
    }
    return false;
}

static bool may_return(const struct process *process, const struct running_change *running,
                       int status) {
    const struct index_state *opened = oracle_opened(process);
    if (status == RECMAP_CANCELLED) return true;
    switch (running->change.kind) {
    case ROLE_BUILD:
    case ROLE_MERGE: return status == RECMAP_STALE && was_annotated(running);
    case ROLE_APPEND: return status == RECMAP_MISMATCH && running->beside_build;
    case ROLE_ANNOTATE:
        if (status == RECMAP_INVALID && opened && opened->has_column[running->change.column])
            return true; /* it was killed after it had published the column */
        return status == RECMAP_STALE || (status == RECMAP_MISMATCH && running->beside_build);
    default: return false;
    }
}

void oracle_end(struct process *process, int status, const char *message) {
    struct running_change *running = change_of(process);
    if (status == RECMAP_OK && !running->version)
        run_fail("%s says that it published %s, but did not", process->name, running->change.index);
    if (status == RECMAP_OK) versions[running->version - 1].is_acknowledged = true;
    if (status != RECMAP_OK && !process->was_disturbed && !may_return(process, running, status))
        run_fail("%s fails for no reason: %s", process->name, message);
    if (status != RECMAP_OK && running->version && !process->was_disturbed)
        run_fail("%s published an index, and then fails: %s", process->name, message);
    trace("is told: %s", status == RECMAP_OK ? "done" : message);
}

const struct index_state *oracle_opened(const struct process *process) {
    for (size_t i = version_count; i-- > 0;)
        if (versions[i].inode == process->opened_index) return &versions[i].state;
    return NULL;
}

bool oracle_locate(unsigned *shard, unsigned *number, const struct index_state *state,
                   uint64_t record) {
    for (unsigned i = 0; i < state->shard_count; i++) {
        unsigned count = model_shards[state->shards[i]].record_count;
        *shard = state->shards[i];
        *number = (unsigned)record;
        if (record < count) return true;
        record -= count;
    }
    return false;
}

void oracle_failure(const struct process *process, const char *what, int status,
                    const char *message) {
    trace("is told: %s", message);
    if (process->was_disturbed) return;
    run_fail("%s fails to %s for no reason: status %d: %s", process->name, what, status, message);
}

/* Each name has the newest acknowledged version or a later one; that is the current one from now
 * on. Reading it shows then if its bytes are all there. */
void oracle_after_crash(void) {
    for (size_t i = 0; i < version_count; i++) {
        struct version *version = &versions[i];
        if (newest(version->name) != version) continue;
        char path[sizeof version->name + 8];
        struct inode *folder;
        const char *name;
        snprintf(path, sizeof path, "/data/%.40s", version->name);
        const struct inode *inode = disk_find(&folder, &name, path);
        size_t last = version_count;
        for (size_t k = version_count; k-- > 0;) {
            if (strcmp(versions[k].name, version->name)) continue;
            if (inode && versions[k].inode == inode->number) {
                last = k;
                break;
            }
            if (versions[k].is_acknowledged)
                run_fail("after the crash, %s is not the index that was acknowledged",
                         version->name);
        }
        for (size_t k = last + 1; k < version_count; k++)
            if (!strcmp(versions[k].name, version->name)) versions[k].name[0] = 0;
        if (!inode)
            for (size_t k = 0; k < version_count; k++)
                if (!strcmp(versions[k].name, version->name) && &versions[k] != version)
                    versions[k].name[0] = 0;
        if (!inode) version->name[0] = 0;
        else if (last < version_count) versions[last].is_acknowledged = true;
    }
}

void oracle_check_folder(const char *start) {
    struct inode *inode, *parent;
    const char *name;
    inode = disk_find(&parent, &name, "/data");
    for (size_t i = 0; i < inode->folder->now.count; i++) {
        const char *entry = inode->folder->now.entries[i].name;
        if (strncmp(entry, start, strlen(start))) continue;
        if (strstr(entry, ".tmp-") || strstr(entry, ".lock"))
            run_fail("the file %s is left over", entry);
    }
}

/* ---- Epochs. */

static void check_is_permutation(const uint64_t *numbers, uint64_t count) {
    uint8_t *is_there = calloc(count + 1, 1);
    for (uint64_t i = 0; i < count; i++) {
        if (numbers[i] >= count || is_there[numbers[i]])
            run_fail("record %" PRIu64 " is twice in an epoch, or out of range", numbers[i]);
        is_there[numbers[i]] = 1;
    }
    free(is_there);
}

void oracle_set_sequence(const struct epochs *epochs, const struct mixture *mixture, uint64_t epoch,
                         const uint64_t *numbers, uint64_t count) {
    if (mixture->source_count) mixture_check_epoch(mixture, epoch, numbers, count);
    else if (epochs->order != ORDER_REPLACED) check_is_permutation(numbers, count);
    if (epoch > EPOCHS_MAX) run_fail("the model has too many epochs");
    sequences[epoch] = malloc((count + 1) * sizeof *numbers);
    memcpy(sequences[epoch], numbers, count * sizeof *numbers);
    sequence_count = count;
}

uint64_t oracle_step_count(const struct epochs *epochs, const struct place *place) {
    uint64_t step = (uint64_t)epochs->world_size * epochs->batch_size;
    uint64_t left = sequence_count - place->start;
    return left / step + (left % step && epochs->last != RECMAP_LAST_DROP);
}

size_t oracle_batch(uint64_t *numbers, const struct epochs *epochs, const struct place *place,
                    uint32_t rank) {
    uint64_t size = epochs->batch_size, world = epochs->world_size;
    uint64_t first = place->start + place->step * size * world, left = sequence_count - first;
    uint64_t begin = first + rank * size, end = begin + size;
    if (left < size * world && epochs->last == RECMAP_LAST_KEEP) {
        uint64_t more = left % world;
        begin = first + rank * (left / world) + (rank < more ? rank : more);
        end = begin + left / world + (rank < more);
    }
    for (uint64_t i = begin; i < end; i++)
        numbers[i - begin] = sequences[place->epoch][i % sequence_count];
    return (size_t)(end - begin);
}

void oracle_position(uint64_t *epoch, uint64_t *position, const struct epochs *epochs,
                     const struct place *place) {
    bool is_over = place->step && place->step == oracle_step_count(epochs, place);
    *epoch = place->epoch + is_over;
    *position = is_over ? 0
                        : place->start +
                              place->step * (uint64_t)epochs->world_size * epochs->batch_size;
}

size_t oracle_load_checkpoint(char *text, struct place *place) {
    memcpy(text, checkpoint, checkpoint_size);
    if (checkpoint_size) *place = checkpoint_place;
    return checkpoint_size;
}

void oracle_save_checkpoint(const char *text, size_t size, const struct place *place) {
    if (size > sizeof checkpoint) run_fail("a state has %zu bytes", size);
    memcpy(checkpoint, text, size);
    checkpoint_size = size;
    checkpoint_place = *place;
}
