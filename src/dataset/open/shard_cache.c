#include "dataset/open/shard_cache.h"

#include <assert.h>
#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/os/process.h"
#include "base/os/thread.h"
#include "dataset/open/file_budget.h"
#include "dataset/open/map_budget.h"
#include "dataset/open/open_shard.h"
#include "dataset/spans/span_cache.h"
#include "storage/cache/cache_file.h"

/* The item that has a link. */
#define CONTAINER_OF(link, type, member) ((type *)((char *)(link)-offsetof(type, member)))

/* How many shards may be open. Files of a disk cache are not in the budget of all data sets: each
 * data set has its own share. Shards in a remote store are not mapped. With a disk cache, a shard
 * may have two maps, its own and that of its inflated spans. Both belong to the open shard, so no
 * thread waits for one while it has the other. */
static size_t find_limit(struct shard_cache *cache) {
    if (cache->options.limit) return cache->options.limit;
    const size_t files = cache->disk_cache ? file_budget_limit() : SIZE_MAX;
    if (cache->options.access != RECMAP_ACCESS_MAP) return files;
    if (cache->folder.storage) return (size_t)min_u64(files, map_budget_limit());
    const size_t maps = cache->disk_cache ? 2 : 1;
    cache->map_share = map_budget_take(cache->shard_count * maps);
    return (size_t)min_u64(files, cache->map_share / maps);
}

/* Tells the disk cache which of its files this data set may need, so that it keeps them. The ETags
 * of a copy are not known yet: its files are marked as used when its shards are opened. */
static void claim_files(const struct shard_cache *cache) {
    for (uint32_t i = 0; i < cache->shard_count; i++) {
        const struct shard_entry *entry = shard_cache_entry(cache, i);
        if (entry->compression != COMPRESSION_NONE) stored_spans_claim(cache->disk_cache, entry);
        if (entry->compression != COMPRESSION_NONE || cache->folder.is_moved) continue;
        char *url = shard_folder_find_url(&cache->folder, entry->path);
        if (!url) continue;
        struct cache_key key = {url, entry->etag, entry->file_size, entry->mtime_ns, 0};
        cache_file_claim(cache->disk_cache, &key);
        free(url);
    }
}

static bool has_compressed(const struct shard_cache *cache) {
    for (uint32_t i = 0; i < cache->shard_count; i++)
        if (shard_cache_entry(cache, i)->compression != COMPRESSION_NONE) return true;
    return false;
}

static recmap_status open_disk_cache(struct shard_cache *cache, recmap_error *error) {
    const struct shard_cache_options *options = &cache->options;
    if (!options->disk_cache || !(cache->folder.storage || has_compressed(cache))) return RECMAP_OK;
    RETURN_IF_FAILED(
        disk_cache_open(&cache->disk_cache, options->disk_cache, options->disk_cache_size, error));
    claim_files(cache);
    return RECMAP_OK;
}

recmap_status shard_cache_create(struct shard_cache **cache, struct index_file *index,
                                 const struct shard_cache_options *options, recmap_error *error) {
    struct shard_cache *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->index = index;
    fresh->options = *options;
    fresh->shard_count = (size_t)index_manifest(index)->shard_count;
    fresh->slots = calloc(fresh->shard_count + 1, sizeof *fresh->slots);
    fresh->spans = span_cache_create(options->span_keep_size);
    recmap_status status = fresh->slots && fresh->spans ? RECMAP_OK : fail_memory(error);
    if (status == RECMAP_OK)
        status = shard_folder_init(&fresh->folder, index, &options->folder, error);
    if (status == RECMAP_OK) status = open_disk_cache(fresh, error);
    fresh->limit = find_limit(fresh);
    /* Shards that hold files may be closed so that other data sets can open theirs. */
    fresh->evicts = fresh->shard_count > fresh->limit || options->access != RECMAP_ACCESS_MAP;
    if (status == RECMAP_OK) *cache = fresh;
    else shard_cache_destroy(fresh);
    return status;
}

static void add_idle(struct open_shard *shard) {
    idle_list_add(&shard->cache->idle, &shard->link);
    file_budget_leave(&shard->files);
}

static void remove_idle(struct open_shard *shard) {
    idle_list_remove(&shard->cache->idle, &shard->link);
    file_budget_use(&shard->files);
}

/* Removes a shard from its cache. The caller holds the lock. */
static void forget(struct open_shard *shard) {
    struct shard_cache *cache = shard->cache;
    bool is_idle = cache->evicts && !shard->pins;
    if (is_idle) idle_list_remove(&cache->idle, &shard->link);
    file_budget_remove(&shard->files, !is_idle);
    cache->slots[shard->shard_index].opened = NULL;
    cache->open_count--;
}

/* Removes the least recently used unpinned shard from the cache and returns it, or NULL. The caller
 * holds the lock. */
static struct open_shard *evict_oldest(struct shard_cache *cache) {
    struct idle_link *link = cache->idle.oldest;
    if (!link) return NULL;
    struct open_shard *oldest = CONTAINER_OF(link, struct open_shard, link);
    forget(oldest);
    return oldest;
}

/* Closes a shard for the files of another data set. It is closed while the lock is held, because
 * its cache may be destroyed by another thread as soon as it is not. Such a shard has no map, whose
 * removal would take the lock. */
static void close_for_files(struct file_holder *holder) {
    struct open_shard *shard = CONTAINER_OF(holder, struct open_shard, files);
    assert(!shard->bytes.map);
    forget(shard);
    open_shard_destroy(shard);
}

void shard_cache_destroy(struct shard_cache *cache) {
    if (!cache) return;
    /* Until a shard is removed from the list, another cache may close it. */
    for (size_t i = 0; cache->slots && i < cache->shard_count; i++) {
        process_lock();
        struct open_shard *shard = cache->slots[i].opened;
        if (shard) forget(shard);
        process_unlock();
        open_shard_destroy(shard);
    }
    span_cache_destroy(cache->spans);
    disk_cache_close(cache->disk_cache);
    map_budget_give(cache->map_share);
    free(cache->slots);
    shard_folder_deinit(&cache->folder);
    free(cache);
}

bool shard_cache_evicts(const struct shard_cache *cache) {
    return cache->evicts;
}

struct shard_folder *shard_cache_folder(struct shard_cache *cache) {
    return &cache->folder;
}

bool shard_cache_is_remote(const struct shard_cache *cache) {
    return cache->folder.storage != NULL;
}

bool shard_cache_close_oldest(struct shard_cache *cache) {
    process_lock();
    struct open_shard *oldest = cache->evicts ? evict_oldest(cache) : NULL;
    process_unlock();
    open_shard_destroy(oldest);
    return oldest != NULL;
}

bool shard_cache_close_file(struct shard_cache *cache) {
    process_lock();
    bool is_closed = file_budget_close_oldest();
    process_unlock();
    return is_closed || (cache->disk_cache && shard_cache_close_oldest(cache));
}

static bool is_over_limit(const struct shard_cache *cache) {
    return cache->open_count > cache->limit;
}

/* Files of a shard that is never closed before its cache are not counted: they could not be closed
 * for others. */
static unsigned count_files(const struct open_shard *shard) {
    if (!shard->cache->evicts) return 0;
    return (unsigned)(shard->source && shard->source->fd >= 0) + (unsigned)(shard->direct_fd >= 0);
}

/* Puts a newly opened shard into the cache, pinned. If another thread was faster, its shard is used
 * instead. Returns the shard to close, or NULL. */
static struct open_shard *publish(struct open_shard **shard, struct shard_cache *cache) {
    struct open_shard *surplus = NULL;
    process_lock();
    struct shard_slot *slot = &cache->slots[(*shard)->shard_index];
    struct open_shard *other = slot->opened;
    if (other) {
        surplus = *shard;
        *shard = other;
        if (cache->evicts && other->pins++ == 0) remove_idle(other);
    } else {
        assert(!(*shard)->is_temporary);
        (*shard)->pins = 1;
        cache->open_count++;
        file_budget_add(&(*shard)->files, count_files(*shard));
        atomic_store_explicit(&slot->opened, *shard, memory_order_release);
        if (cache->evicts && is_over_limit(cache)) surplus = evict_oldest(cache);
    }
    process_unlock();
    return surplus;
}

static bool pin_if_open(struct open_shard **shard, struct shard_cache *cache,
                        uint32_t shard_index) {
    assert(shard_index < cache->shard_count);
    struct shard_slot *slot = &cache->slots[shard_index];
    if (!cache->evicts) {
        struct open_shard *opened = atomic_load_explicit(&slot->opened, memory_order_acquire);
        if (opened) *shard = opened;
        return opened != NULL;
    }
    process_lock();
    struct open_shard *opened = slot->opened;
    if (opened && opened->pins++ == 0) remove_idle(opened);
    process_unlock();
    if (opened) *shard = opened;
    return opened != NULL;
}

static void release_pin(struct record_pin *pin) {
    shard_cache_unpin((struct open_shard *)pin);
}

struct record_pin *open_shard_record_pin(struct open_shard *shard) {
    return shard->cache->evicts ? &shard->pin : NULL;
}

/* Returns true if the shard's file is open only because it could not be mapped. In a cache that
 * never closes shards, many of these would use up the process's file descriptors, so such a shard
 * is closed when it is unpinned. That is safe: records are copied from it. */
static bool must_be_temporary(const struct open_shard *shard) {
    const struct shard_cache *cache = shard->cache;
    return shard->source && shard->source->fd >= 0 && !cache->evicts &&
           cache->options.access == RECMAP_ACCESS_MAP;
}

/* The shard is opened without holding the lock. Two threads may open the same one; `publish` keeps
 * the first and returns the other to be closed. */
recmap_status shard_cache_pin(struct open_shard **shard, struct shard_cache *cache,
                              uint32_t shard_index, recmap_error *error) {
    if (pin_if_open(shard, cache, shard_index)) return RECMAP_OK;
    struct open_shard *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    *fresh = (struct open_shard){.pin = {release_pin},
                                 .cache = cache,
                                 .shard_index = shard_index,
                                 .direct_fd = -1,
                                 .files = {.close = close_for_files}};
    fresh->mapped.shard = fresh;
    recmap_status status = open_shard_open(fresh, error);
    if (status != RECMAP_OK) {
        open_shard_destroy(fresh);
        return status;
    }
    fresh->is_temporary = must_be_temporary(fresh);
    if (!fresh->is_temporary) open_shard_destroy(publish(&fresh, cache));
    *shard = fresh;
    return RECMAP_OK;
}

void shard_cache_unpin(struct open_shard *shard) {
    struct shard_cache *cache = shard->cache;
    if (shard->is_temporary) {
        open_shard_destroy(shard);
        return;
    }
    if (!cache->evicts) return;
    struct open_shard *surplus = NULL;
    process_lock();
    assert(shard->pins > 0);
    if (--shard->pins == 0) {
        add_idle(shard);
        if (is_over_limit(cache)) surplus = evict_oldest(cache);
    }
    process_unlock();
    open_shard_destroy(surplus);
}

uint64_t shard_cache_span_keep_size(const struct shard_cache *cache) {
    return span_cache_keep_size(cache->spans);
}

recmap_span_statistics shard_cache_span_statistics(const struct shard_cache *cache) {
    return span_cache_statistics(cache->spans);
}

recmap_cache_statistics shard_cache_disk_statistics(const struct shard_cache *cache) {
    recmap_cache_statistics statistics = {0};
    if (cache->disk_cache)
        disk_cache_counts(&statistics.hit_count, &statistics.miss_count, cache->disk_cache);
    return statistics;
}
