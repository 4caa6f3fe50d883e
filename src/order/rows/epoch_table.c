#include "order/rows/epoch_table.h"

#include <assert.h>
#include <stdlib.h>

#include "base/core/error.h"
#include "base/os/activity.h"
#include "base/os/process.h"

void epoch_table_deinit(struct epoch_table *table) {
    for (int i = 0; i < 2; i++) free((void *)atomic_load(&table->slots[i].sums));
}

/* What a reader does with the sums. */
struct epoch_read {
    void (*run)(struct epoch_read *read, const atomic_sum *sums, uint64_t block_count);
    struct epoch_place *places;
    const uint64_t *offsets;
    size_t count;
    uint64_t block;
    uint64_t start;
};

static void nap(void) {
    enum activity_stage former = activity_enter(ACTIVITY_FOLLOW);
    sleep_ns(100 * 1000);
    activity_leave(former);
}

/* Waits until the thread that makes the table has finished. A child process may inherit a slot
 * whose thread it does not have: nobody will ever finish that table, so the child takes the slot
 * over. Returns whether it did. */
static bool wait_or_take_over(struct epoch_slot *slot) {
    long owner = atomic_load(&slot->process), self = process_id();
    if (owner != self && atomic_compare_exchange_strong(&slot->process, &owner, self)) return true;
    nap();
    return false;
}

/* Claims the slot for writing. The version is odd from here until `unclaim`. */
static bool claim(struct epoch_slot *slot, uint64_t version) {
    /* The process is set first: a slot with an odd version must never show another process than
     * the one that claimed it. If the claim fails, it failed to a thread of this process. */
    atomic_store(&slot->process, process_id());
    return atomic_compare_exchange_strong(&slot->version, &version, version + 1);
}

static void unclaim(struct epoch_slot *slot) {
    assert(atomic_load(&slot->version) & 1);
    atomic_fetch_add(&slot->version, 1);
}

static recmap_status make(struct epoch_slot *slot, uint64_t epoch,
                          const struct epoch_source *source, recmap_error *error) {
    atomic_sum *sums = atomic_load(&slot->sums);
    if (!sums) {
        sums = calloc(source->block_count + 1, sizeof *sums);
        if (!sums) return fail_memory(error);
        atomic_store(&slot->sums, sums);
    }
    return source->compute(sums, source->context, epoch, error);
}

/* Makes the table in a slot that this thread has claimed, and reads it before any other thread can
 * replace it: so every thread makes progress, even if many ask for different epochs at once. */
static recmap_status make_and_read(struct epoch_slot *slot, uint64_t epoch,
                                   const struct epoch_source *source, struct epoch_read *read,
                                   recmap_error *error) {
    atomic_store(&slot->is_made, false);
    recmap_status status = make(slot, epoch, source, error);
    if (status == RECMAP_OK) {
        atomic_store(&slot->epoch, epoch);
        atomic_store(&slot->is_made, true);
        read->run(read, atomic_load(&slot->sums), source->block_count);
    }
    unclaim(slot);
    return status;
}

static bool holds(const struct epoch_slot *slot, uint64_t epoch) {
    return atomic_load_explicit(&slot->is_made, memory_order_acquire) &&
           atomic_load_explicit(&slot->epoch, memory_order_acquire) == epoch;
}

/* Reads the table of an epoch, which is made first if necessary.
 *
 * This is a seqlock. A writer makes the version odd, writes, and makes it even. A reader that finds
 * the same even version before and after it has read has seen one whole table. Its loads are
 * acquire loads and the writer's stores are release stores: a reader that sees any of a writer's
 * stores also sees the version that was set before them. */
static recmap_status read_epoch(struct epoch_table *table, uint64_t epoch,
                                const struct epoch_source *source, struct epoch_read *read,
                                recmap_error *error) {
    struct epoch_slot *slot = &table->slots[epoch & 1];
    for (;;) {
        uint64_t version = atomic_load_explicit(&slot->version, memory_order_acquire);
        if (version & 1) {
            if (wait_or_take_over(slot)) return make_and_read(slot, epoch, source, read, error);
        } else if (!holds(slot, epoch)) {
            if (claim(slot, version)) return make_and_read(slot, epoch, source, read, error);
        } else {
            read->run(read, atomic_load_explicit(&slot->sums, memory_order_acquire),
                      source->block_count);
            if (atomic_load_explicit(&slot->version, memory_order_relaxed) == version)
                return RECMAP_OK;
        }
    }
}

static void read_places(struct epoch_read *read, const atomic_sum *sums, uint64_t block_count) {
    for (size_t i = 0; i < read->count; i++) {
        uint64_t block = sums_find(sums, block_count, read->offsets[i]);
        read->places[i] = (struct epoch_place){block, sums_at(sums, block)};
    }
}

recmap_status epoch_table_find(struct epoch_place *places, struct epoch_table *table,
                               uint64_t epoch, const struct epoch_source *source,
                               const uint64_t *offsets, size_t count, recmap_error *error) {
    struct epoch_read read = {
        .run = read_places, .places = places, .offsets = offsets, .count = count};
    return read_epoch(table, epoch, source, &read, error);
}

static void read_start(struct epoch_read *read, const atomic_sum *sums, uint64_t block_count) {
    (void)block_count;
    read->start = sums_at(sums, read->block);
}

recmap_status epoch_table_start(uint64_t *start, struct epoch_table *table, uint64_t epoch,
                                const struct epoch_source *source, uint64_t block,
                                recmap_error *error) {
    struct epoch_read read = {.run = read_start, .block = block};
    recmap_status status = read_epoch(table, epoch, source, &read, error);
    *start = read.start;
    return status;
}

static void read_nothing(struct epoch_read *read, const atomic_sum *sums, uint64_t block_count) {
    (void)read, (void)sums, (void)block_count;
}

recmap_status epoch_table_prepare(struct epoch_table *table, uint64_t epoch,
                                  const struct epoch_source *source, recmap_error *error) {
    struct epoch_read read = {.run = read_nothing};
    return read_epoch(table, epoch, source, &read, error);
}
