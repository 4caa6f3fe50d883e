#include "dataset/spans/span_cache.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/core/interrupt.h"
#include "base/os/activity.h"
#include "base/os/process.h"
#include "base/os/thread.h"

enum {
    BUCKETS = 1 << 12,
    ASK_MS = 50, /* between two questions to the interrupt function of a call that waits */
};

#define KEEP_DEFAULT ((uint64_t)1 << 30)

struct cached_span {
    struct span span; /* first, so that a span is its entry */
    struct span_key key;
    struct cached_span *next;          /* of its bucket */
    struct cached_span *newer, *older; /* among the unpinned; by last use */
    uint32_t pins;
    bool is_counted;
    atomic_bool is_filled;
    /* Held by the thread that fills the entry. That thread does not exist in a child that is forked
     * meanwhile; the child notices by `process` and initialises the mutex again. */
    pthread_mutex_t filling;
    long process;
};

/* Guarded by the process lock, except for what `filling` guards. */
struct span_cache {
    uint64_t keep_size;
    uint64_t size;
    struct cached_span *newest, *oldest;
    recmap_span_statistics statistics;
    struct cached_span *buckets[BUCKETS];
};

struct span_cache *span_cache_create(uint64_t keep_size) {
    struct span_cache *fresh = calloc(1, sizeof *fresh);
    if (fresh) fresh->keep_size = keep_size ? keep_size : KEEP_DEFAULT;
    return fresh;
}

static void free_chain(struct cached_span *entry) {
    while (entry) {
        struct cached_span *next = entry->next;
        free(entry->span.data);
        free(entry);
        entry = next;
    }
}

void span_cache_destroy(struct span_cache *cache) {
    if (!cache) return;
    for (size_t i = 0; i < BUCKETS; i++) free_chain(cache->buckets[i]);
    free(cache);
}

static struct cached_span **bucket_of(struct span_cache *cache, struct span_key key) {
    uint64_t mixed = (key.offset + 1) * 0x9e3779b97f4a7c15u ^ key.shard_index * 0xc2b2ae3d27d4eb4fu;
    return &cache->buckets[mixed >> 32 & (BUCKETS - 1)];
}

static void list_remove(struct span_cache *cache, struct cached_span *entry) {
    if (entry->newer) entry->newer->older = entry->older;
    else cache->newest = entry->older;
    if (entry->older) entry->older->newer = entry->newer;
    else cache->oldest = entry->newer;
    entry->newer = entry->older = NULL;
}

static void list_add_newest(struct span_cache *cache, struct cached_span *entry) {
    entry->older = cache->newest;
    if (cache->newest) cache->newest->newer = entry;
    else cache->oldest = entry;
    cache->newest = entry;
}

/* Removes an entry from its bucket, unless it was removed before. */
static void unlink_entry(struct span_cache *cache, const struct cached_span *entry) {
    struct cached_span **link = bucket_of(cache, entry->key);
    while (*link && *link != entry) link = &(*link)->next;
    if (*link) *link = entry->next;
}

/* Moves an unpinned span from the cache to a chain of spans to be freed. */
static void take_out(struct span_cache *cache, struct cached_span *entry,
                     struct cached_span **chain) {
    assert(!entry->pins && !entry->newer && !entry->older);
    assert(!entry->is_counted || cache->size >= entry->span.size);
    unlink_entry(cache, entry);
    if (entry->is_counted) cache->size -= entry->span.size;
    entry->next = *chain;
    *chain = entry;
}

static struct cached_span *find(struct span_cache *cache, struct span_key key) {
    struct cached_span *entry = *bucket_of(cache, key);
    while (entry && (entry->key.shard_index != key.shard_index || entry->key.offset != key.offset))
        entry = entry->next;
    return entry;
}

/* Pins the entry of a key. If there is none, `fresh` becomes the entry and is set to NULL. */
static struct cached_span *pin_entry(struct span_cache *cache, struct span_key key,
                                     struct cached_span **fresh) {
    process_lock();
    struct cached_span *entry = find(cache, key);
    if (entry) {
        bool is_filled = atomic_load_explicit(&entry->is_filled, memory_order_relaxed);
        if (is_filled) cache->statistics.hit_count++;
        else if (entry->process != process_id()) {
            pthread_mutex_init(&entry->filling, NULL);
            entry->process = process_id();
        }
        if (entry->pins++ == 0) list_remove(cache, entry);
    } else if (*fresh) {
        entry = *fresh;
        *fresh = NULL;
        struct cached_span **bucket = bucket_of(cache, key);
        entry->next = *bucket;
        *bucket = entry;
    }
    process_unlock();
    return entry;
}

static struct cached_span *create_entry(struct span_key key) {
    struct cached_span *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return NULL;
    fresh->key = key;
    fresh->pins = 1;
    fresh->process = process_id();
    pthread_mutex_init(&fresh->filling, NULL);
    return fresh;
}

/* Threads that wait for the entry get what it was filled with. If that is a failure that may pass,
 * no later call finds the entry: it would fail, too, for as long as another thread holds a pin. */
static void end_filling(struct span_cache *cache, struct cached_span *entry) {
    process_lock();
    if (entry->span.is_transient && !entry->span.size) unlink_entry(cache, entry);
    entry->is_counted = true;
    cache->size += entry->span.size;
    if (!entry->span.is_copy) {
        cache->statistics.inflate_count++;
        cache->statistics.inflated_size += entry->span.passed_size + entry->span.size;
    }
    process_unlock();
}

/* Waits for a thread that fills the entry, which can take as long as the retries of a remote store.
 * Returns false if this thread's call is interrupted meanwhile. */
static bool lock_filling(struct cached_span *entry) {
    struct interrupt *interrupt = thread_interrupt();
    if (!interrupt->function) return pthread_mutex_lock(&entry->filling) == 0;
    while (!thread_lock_within(&entry->filling, ASK_MS))
        if (!interrupt_ask(interrupt)) return false;
    return true;
}

/* Returns false if the call was interrupted. The entry is not filled then, because the interrupt of
 * this thread's call does not concern other threads that wait for the span: the next one fills it.
 */
static bool fill_entry(struct span_cache *cache, struct cached_span *entry,
                       void (*fill)(struct span *span, void *context), void *context) {
    bool is_filled = true;
    enum activity_stage former = activity_enter(ACTIVITY_FOLLOW);
    if (!lock_filling(entry)) {
        activity_leave(former);
        return false;
    }
    activity_enter(ACTIVITY_INFLATE);
    if (!atomic_load_explicit(&entry->is_filled, memory_order_acquire)) {
        entry->span = (struct span){.error = RECMAP_ERROR_INIT};
        fill(&entry->span, context);
        is_filled = entry->span.error.status != RECMAP_CANCELLED;
        if (is_filled) end_filling(cache, entry);
        atomic_store_explicit(&entry->is_filled, is_filled, memory_order_release);
    }
    pthread_mutex_unlock(&entry->filling);
    activity_leave(former);
    return is_filled;
}

const struct span *span_cache_pin(struct span_cache *cache, struct span_key key,
                                  void (*fill)(struct span *span, void *context), void *context) {
    struct cached_span *fresh = NULL;
    struct cached_span *entry = pin_entry(cache, key, &fresh);
    if (!entry) {
        fresh = create_entry(key);
        if (!fresh) return NULL;
        entry = pin_entry(cache, key, &fresh);
        free(fresh);
    }
    if (atomic_load_explicit(&entry->is_filled, memory_order_acquire) ||
        fill_entry(cache, entry, fill, context))
        return &entry->span;
    span_cache_unpin(cache, &entry->span);
    return NULL;
}

void span_cache_unpin(struct span_cache *cache, const struct span *span) {
    struct cached_span *entry = (struct cached_span *)span, *freed = NULL;
    process_lock();
    assert(entry->pins > 0);
    if (--entry->pins == 0) {
        if (entry->span.is_transient) take_out(cache, entry, &freed);
        else list_add_newest(cache, entry);
    }
    while (cache->size > cache->keep_size && cache->oldest) {
        struct cached_span *oldest = cache->oldest;
        list_remove(cache, oldest);
        take_out(cache, oldest, &freed);
        cache->statistics.evict_count++;
    }
    process_unlock();
    free_chain(freed);
}

uint64_t span_cache_keep_size(const struct span_cache *cache) {
    return cache->keep_size;
}

recmap_span_statistics span_cache_statistics(const struct span_cache *cache) {
    process_lock();
    recmap_span_statistics statistics = cache->statistics;
    statistics.held_size = cache->size;
    process_unlock();
    return statistics;
}
