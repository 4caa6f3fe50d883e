#include "dataset/open/open_shard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/os/file.h"
#include "base/os/read_again.h"
#include "dataset/open/map_budget.h"
#include "dataset/open/shard_samples.h"
#include "dataset/spans/span_read.h"
#include "dataset/spans/stream_sum.h"
#include "format/framing/framing.h"
#include "index/tables/grown.h"
#include "index/tables/rebuild_advice.h"
#include "storage/cache/cached_source.h"

/* One of this many samples is compared if all would cost too much: in a compressed or remote shard,
 * each may take inflating a span, or a request; and an unchanged modification time suggests that
 * the shard is the indexed one. */
enum { SAMPLES_STEP = 8 };

/* The entry of the last part of the shard's file: usually its own. */
static const struct shard_entry *last_part_of(const struct shard_cache *cache,
                                              uint32_t shard_index) {
    return shard_cache_entry(cache, index_shards(cache->index)[shard_index].last_part);
}

static void advise_rebuild(const struct shard_cache *cache, recmap_error *error) {
    index_advise_rebuild(error, cache->folder.is_moved ? NULL : cache->index,
                         (struct rebuild_option){NULL, NULL},
                         "restore the indexed file, or build the index again with ");
}

static recmap_status fail_stale(const struct open_shard *shard, const char *difference,
                                recmap_error *error) {
    fail(error, RECMAP_STALE, "the shard changed since it was indexed: %s", difference);
    fail_file(error, shard->path);
    advise_rebuild(shard->cache, error);
    return RECMAP_STALE;
}

static bool is_compressed(const struct open_shard *shard) {
    return shard_cache_entry(shard->cache, shard->shard_index)->compression != COMPRESSION_NONE;
}

bool open_shard_is_remote(const struct open_shard *shard) {
    return shard->source && shard->source->fd < 0;
}

recmap_status open_shard_reopen(struct source **source, bool *is_same,
                                const struct open_shard *shard, recmap_error *error) {
    RETURN_IF_FAILED(shard_folder_open(source, &shard->cache->folder,
                                       shard_cache_entry(shard->cache, shard->shard_index)->path,
                                       shard->path, NULL, error));
    *is_same = file_is_same(&(*source)->stat, &shard->stat);
    return RECMAP_OK;
}

/* Opens the file once more, and reads bytes from there. */
static recmap_status read_again(bool *is_possible, const struct open_shard *shard, void *data,
                                size_t size, uint64_t offset, recmap_error *error) {
    struct source *source;
    bool is_same;
    int fd;
    *is_possible = false;
    RETURN_IF_FAILED(open_shard_reopen(&source, &is_same, shard, error));
    RETURN_IF_FAILED(source_take_file(&fd, source, error));
    *is_possible = is_same;
    recmap_status status = is_same ? file_read_again(fd, data, size, offset, shard->path, error)
                                   : RECMAP_OK;
    file_close(fd);
    return status;
}

recmap_status open_shard_read_again(bool *is_possible, const struct open_shard *shard, void *data,
                                    size_t size, uint64_t offset, recmap_error *error) {
    *is_possible = false;
    if (open_shard_is_remote(shard) || is_compressed(shard)) return RECMAP_OK;
    return read_again(is_possible, shard, data, size, offset, error);
}

/* The same for compressed bytes of a span. */
static recmap_status read_span_again(bool *is_possible, void *context, void *data, size_t size,
                                     uint64_t offset, recmap_error *error) {
    return read_again(is_possible, context, data, size, offset, error);
}

struct span_source open_shard_spans(const struct open_shard *shard) {
    return (struct span_source){.entry = shard_cache_entry(shard->cache, shard->shard_index),
                                .path = shard->path,
                                .points = &shard->points,
                                .map = shard->bytes.map,
                                .source = shard->source,
                                .waypoints = shard->waypoints,
                                .read_again = open_shard_is_remote(shard) ? NULL : read_span_again,
                                .context = (void *)shard};
}

/* Sets whether a compressed shard with samples that cannot be read is another file: the checksums
 * of its stream are right, so its bytes were written like this. That takes inflating all of it, so
 * the result is kept, even while the shard is closed. A remote shard counts as damaged, because all
 * its bytes would be requested. */
static recmap_status find_other_stream(bool *is_other, const struct open_shard *shard,
                                       recmap_error *error) {
    struct shard_slot *slot = &shard->cache->slots[shard->shard_index];
    *is_other = false;
    if (!is_compressed(shard) || open_shard_is_remote(shard) || slot->is_damaged) return RECMAP_OK;
    struct span_source source = open_shard_spans(shard);
    recmap_status status = stream_sum_check(is_other, &source, error);
    if (status != RECMAP_OK && status != RECMAP_IO) return status;
    slot->is_damaged = !*is_other;
    return RECMAP_OK;
}

/* Compares every `step`-th sample. STALE if the shard changed. */
static recmap_status check_samples(struct open_shard *shard, size_t step, recmap_error *error) {
    struct shard_samples samples = {shard->cache->index, shard->shard_index, shard, step};
    enum samples_verdict verdict;
    struct index_place place;
    uint64_t number;
    RETURN_IF_FAILED(samples_compare(&verdict, &place, &number, &samples, error));
    if (verdict == SAMPLES_EQUAL) return RECMAP_OK;
    bool is_other = verdict == SAMPLES_DIFFER;
    shard->is_lost = verdict == SAMPLES_NONE_READABLE;
    if (!is_other) RETURN_IF_FAILED(find_other_stream(&is_other, shard, error));
    if (!is_other) return RECMAP_OK;
    fail_stale(shard, "its content differs", error);
    if (verdict == SAMPLES_DIFFER) fail_at(error, NULL, number, place.offset);
    return RECMAP_STALE;
}

/* All samples are compared, or one of SAMPLES_STEP if each may cost a span or a request. */
static size_t full_step(const struct open_shard *shard) {
    return !open_shard_is_remote(shard) && !is_compressed(shard) ? 1 : SAMPLES_STEP;
}

/* Compares samples of a shard of the indexed size when it is opened. If the time is the indexed
 * one, too, few are compared, and none of a compressed or remote shard. */
static recmap_status check_opened(struct open_shard *shard, bool is_same_version,
                                  recmap_error *error) {
    if (!is_same_version) return check_samples(shard, full_step(shard), error);
    return full_step(shard) == 1 ? check_samples(shard, SAMPLES_STEP, error) : RECMAP_OK;
}

recmap_status open_shard_judge(struct open_shard *shard, recmap_error *error) {
    if (atomic_load_explicit(&shard->is_judged, memory_order_relaxed)) return RECMAP_OK;
    RETURN_IF_FAILED(check_samples(shard, full_step(shard), error));
    atomic_store_explicit(&shard->is_judged, true, memory_order_relaxed);
    return RECMAP_OK;
}

bool open_shard_is_lost(const struct open_shard *shard) {
    return shard->is_lost;
}

/* A file may have grown since it was indexed: then its records are compared. */
static recmap_status check_size(const struct open_shard *shard, const struct file_stat *now,
                                recmap_error *error) {
    const struct index_shard *indexed = &index_shards(shard->cache->index)[shard->shard_index];
    uint64_t expected = last_part_of(shard->cache, shard->shard_index)->file_size;
    if (now->size == expected || (now->size > expected && index_shard_can_grow(indexed)))
        return RECMAP_OK;
    char sizes[96];
    snprintf(sizes, sizeof sizes, "it has %" PRIu64 " byte%s, it had %" PRIu64, now->size,
             plural(now->size), expected);
    return fail_stale(shard, sizes, error);
}

static recmap_status check_end(struct open_shard *shard, recmap_error *error) {
    struct shard_cache *cache = shard->cache;
    recmap_status status = index_check_end(cache->index, shard->shard_index, shard->source, error);
    if (status == RECMAP_STALE) advise_rebuild(cache, error);
    return status;
}

/* Returns true if a file may be mapped for the shard. Called once for each map. */
static bool may_map(const struct open_shard *shard) {
    return shard->cache->options.access == RECMAP_ACCESS_MAP && map_budget_has_room();
}

/* Maps the shard's file, unless the process has nearly used up its maps. If it cannot have another
 * map, other shards are closed first; if that does not help, or if the file system refuses, the
 * shard is read with pread. */
static void load(struct open_shard *shard, const struct shard_entry *entry) {
    int fd = shard->source->fd;
    if (fd < 0 || !may_map(shard)) return;
    recmap_error local;
    recmap_status status;
    do status = shard_bytes_open(&shard->bytes, fd, entry->file_size, shard->path, &local);
    while (status == RECMAP_NO_MEMORY && shard_cache_close_oldest(shard->cache));
    if (status != RECMAP_OK) {
        map_warn_of_reading(&local);
        return;
    }
    source_close(shard->source);
    shard->source = NULL;
    if (entry->compression == COMPRESSION_NONE) {
        shard->mapped.data = shard->bytes.data;
        shard->mapped.size = shard->bytes.size;
    }
}

/* The version of an object that the index expects, or NULL if it does not know one: then the object
 * is examined as a file is. One that was moved may be a copy, with another ETag, and what a client
 * of the caller calls an ETag may differ from what this library found. */
static const struct remote_identity *find_expected(struct remote_identity *expected,
                                                   const struct open_shard *shard) {
    const struct shard_entry *entry = shard_cache_entry(shard->cache, shard->shard_index);
    *expected = (struct remote_identity){entry->file_size, entry->mtime_ns, entry->etag};
    bool is_comparable = !shard->cache->folder.is_moved &&
                         !storage_has_client(shard->cache->folder.storage);
    return entry->etag[0] && is_comparable ? expected : NULL;
}

static recmap_status open_source(struct open_shard *shard, const char *name, recmap_error *error) {
    struct shard_cache *cache = shard->cache;
    struct remote_identity identity;
    const struct remote_identity *expected = find_expected(&identity, shard);
    recmap_error local;
    recmap_status status;
    /* Closing another shard helps only if it is not mapped: mapped ones hold no files. */
    do
        status =
            shard_folder_open(&shard->source, &cache->folder, name, shard->path, expected, &local);
    while (status == RECMAP_IO && local.system_errno == EMFILE && shard_cache_close_file(cache));
    if (status != RECMAP_OK && error) *error = local;
    if (status == RECMAP_IO) shard_folder_advise(&cache->folder, name, error);
    return status;
}

/* Opens a second descriptor for direct reads, because one with O_DIRECT cannot be read at
 * arbitrary bytes. If that fails, the shard is read through the page cache. */
static void open_direct(struct open_shard *shard, const char *name, const struct file_stat *first) {
    struct file_stat second;
    int fd;
    struct source *source;
    if (shard_folder_open(&source, &shard->cache->folder, name, shard->path, NULL, NULL) !=
        RECMAP_OK)
        return;
    if (source_take_file(&fd, source, NULL) != RECMAP_OK) return;
    if (file_get_stat(&second, fd, shard->path, NULL) == RECMAP_OK &&
        file_is_same(&second, first) && file_pass_cache(&shard->direct_alignment, fd))
        shard->direct_fd = fd;
    else file_close(fd);
}

/* Returns true if the shard's own checks find damage, so that the cache needs no checksums for
 * it. */
static bool finds_damage(const struct open_shard *shard) {
    const struct index_shard *indexed = &index_shards(shard->cache->index)[shard->shard_index];
    return shard->cache->options.checks_data && indexed->framing->check_payload;
}

/* Of a compressed shard, what it inflates to is kept; of others, what is read from a store. */
static void keep_on_disk(struct open_shard *shard) {
    struct disk_cache *disk_cache = shard->cache->disk_cache;
    if (!disk_cache) return;
    if (is_compressed(shard)) {
        struct span_source source = open_shard_spans(shard);
        struct stored_spans_options options = {.maps = may_map(shard),
                                               .checks_blocks = !finds_damage(shard)};
        shard->stored = stored_spans_open(disk_cache, &source, &options);
    } else if (shard->source && shard->source->fd < 0) {
        cached_source_replace(&shard->source, disk_cache, !finds_damage(shard));
    }
    disk_cache_warn(disk_cache);
}

recmap_status open_shard_open(struct open_shard *shard, recmap_error *error) {
    const struct shard_entry *entry = shard_cache_entry(shard->cache, shard->shard_index);
    shard->path = shard_folder_find_path(&shard->cache->folder, entry->path);
    if (!shard->path) return fail_memory(error);
    recmap_status status = open_source(shard, entry->path, error);
    if (status == RECMAP_STALE) advise_rebuild(shard->cache, error);
    RETURN_IF_FAILED(status);
    /* Loading a shard may close its source. */
    struct file_stat stat = shard->stat = shard->source->stat;
    bool is_same =
        index_is_same_version(shard->source, last_part_of(shard->cache, shard->shard_index));
    bool is_larger = stat.size > entry->file_size;
    RETURN_IF_FAILED(check_size(shard, &stat, error));
    if (!is_same && is_larger) RETURN_IF_FAILED(check_end(shard, error));
    RETURN_IF_FAILED(index_points(&shard->points, shard->cache->index, shard->shard_index, error));
    if (entry->compression != COMPRESSION_NONE && !(shard->waypoints = waypoints_create()))
        return fail_memory(error);
    load(shard, entry);
    RETURN_IF_FAILED(check_opened(shard, is_same, error));
    shard->is_judged = !is_same || (shard->source && shard->source->etag[0] && entry->etag[0]);
    if (shard->source && shard->source->fd >= 0 && entry->compression == COMPRESSION_NONE &&
        shard->cache->options.access == RECMAP_ACCESS_DIRECT)
        open_direct(shard, entry->path, &stat);
    keep_on_disk(shard);
    return RECMAP_OK;
}

const uint8_t *open_shard_bytes(const struct open_shard *shard) {
    return shard->mapped.data;
}

const struct shard_window *open_shard_window(const struct open_shard *shard) {
    return &shard->mapped;
}

const char *open_shard_path(const struct open_shard *shard) {
    return shard->path;
}

/* Converts a range of the inflated image into the range of the file that it is inflated from. */
static void find_in_file(const struct open_shard *shard, uint64_t *offset, uint64_t *size) {
    if (!is_compressed(shard) || !*size) return;
    struct span_source source = open_shard_spans(shard);
    uint64_t first = span_at(&source, *offset), last = span_at(&source, *offset + *size - 1);
    /* Which compressed bytes of a long span are needed is not known. */
    bool is_long = span_end(&source, last) - span_begin(&source, first) > SPAN_WHOLE_MAX;
    *offset = span_file_begin(&source, first);
    *size = is_long ? 0 : span_file_end(&source, last) - *offset;
}

bool open_shard_was_cut(const struct open_shard *shard) {
    return shard_bytes_was_cut(&shard->bytes);
}

/* Sets `span_index` to the span with the range. Returns false unless all of it is stored. */
static bool find_stored(uint64_t *span_index, const struct open_shard *shard,
                        const struct span_source *source, uint64_t offset, uint64_t size) {
    if (!shard->stored || !size) return false;
    *span_index = span_at(source, offset);
    return offset + size <= span_end(source, *span_index) &&
           stored_spans_has(shard->stored, source, *span_index, offset, size);
}

bool open_shard_is_resident(const struct open_shard *shard, uint64_t offset, uint64_t size) {
    struct span_source source = open_shard_spans(shard);
    uint64_t span_index;
    if (find_stored(&span_index, shard, &source, offset, size))
        return stored_spans_are_resident(shard->stored, &source, span_index, offset, size);
    find_in_file(shard, &offset, &size);
    /* An object is not in memory, but counts as if it were: asking the kernel for it does not help.
     */
    if (shard->source)
        return shard->source->fd < 0 || file_is_resident(shard->source->fd, offset, size);
    return !shard->bytes.map || map_is_resident(shard->bytes.map, offset, size);
}

void open_shard_will_need(const struct open_shard *shard, uint64_t offset, uint64_t size) {
    struct span_source source = open_shard_spans(shard);
    uint64_t span_index;
    if (find_stored(&span_index, shard, &source, offset, size)) {
        stored_spans_will_need(shard->stored, &source, span_index, offset, size);
        return;
    }
    find_in_file(shard, &offset, &size);
    if (shard->source && shard->source->fd >= 0) file_will_need(shard->source->fd, offset, size);
    else if (shard->bytes.map) map_advise(shard->bytes.map, offset, size, MAP_ADVICE_WILL_NEED);
}

void open_shard_expect_random(struct open_shard *shard) {
    if (atomic_load_explicit(&shard->expects_random, memory_order_relaxed)) return;
    atomic_store_explicit(&shard->expects_random, true, memory_order_relaxed);
    /* Spans are inflated sequentially; records of stored ones are read at random. */
    if (shard->stored) stored_spans_expect_random(shard->stored);
    if (is_compressed(shard)) return;
    if (shard->source && shard->source->fd >= 0) file_expect_random(shard->source->fd);
    else if (shard->bytes.map)
        map_advise(shard->bytes.map, 0, shard->bytes.size, MAP_ADVICE_RANDOM);
}

int open_shard_direct(uint32_t *alignment, const struct open_shard *shard) {
    if (shard->direct_fd >= 0) *alignment = shard->direct_alignment;
    return shard->direct_fd;
}

static struct span_reader reader_of(const struct open_shard *shard) {
    return (struct span_reader){shard->cache->spans, open_shard_spans(shard), shard->shard_index,
                                shard->stored};
}

struct source *open_shard_distant_source(const struct open_shard *shard) {
    bool is_distant = shard->source && shard->source->fd < 0 && !is_compressed(shard);
    return is_distant ? shard->source : NULL;
}

/* If none of the bytes is stored, another thread may have made them missing in the meantime. */
bool open_shard_forget(const struct open_shard *shard, uint64_t offset, uint64_t size) {
    struct span_source source = open_shard_spans(shard);
    bool was_stored = shard->stored && stored_spans_forget(shard->stored, &source, offset, size);
    if (was_stored || (shard->stored && !open_shard_is_remote(shard))) return true;
    if (!open_shard_is_remote(shard)) return false;
    if (is_compressed(shard)) { /* which of its bytes are wrong is not known */
        offset = 0;
        size = shard->source->stat.size;
    }
    source_forget(shard->source, offset, size);
    return true;
}

recmap_status open_shard_read(const struct open_shard *shard, void *data, size_t size,
                              uint64_t offset, recmap_error *error) {
    struct span_reader reader = reader_of(shard);
    if (is_compressed(shard)) return span_read(&reader, data, size, offset, error);
    if (shard->source) return source_read(shard->source, data, size, offset, error);
    memcpy(data, shard->bytes.data + offset, size);
    return RECMAP_OK;
}

recmap_status open_shard_read_file(const struct open_shard *shard, void *data, size_t size,
                                   uint64_t offset, recmap_error *error) {
    struct span_reader reader = reader_of(shard);
    reader.stored = NULL;
    if (is_compressed(shard)) return span_read(&reader, data, size, offset, error);
    if (!shard->source) return open_shard_read(shard, data, size, offset, error);
    return source_read(source_origin(shard->source), data, size, offset, error);
}

recmap_status open_shard_read_frames(const struct open_shard *shard, uint8_t *data,
                                     const struct index_place *places, size_t count,
                                     recmap_error *error) {
    struct span_reader reader = reader_of(shard);
    return span_read_frames(&reader, data, places, count, error);
}

recmap_status open_shard_read_file_frames(const struct open_shard *shard, uint8_t *data,
                                          const struct index_place *places, size_t count,
                                          recmap_error *error) {
    struct span_reader reader = reader_of(shard);
    reader.stored = NULL;
    return span_read_frames(&reader, data, places, count, error);
}

bool open_shard_is_stored(const struct open_shard *shard) {
    return shard->stored != NULL;
}

void open_shard_destroy(struct open_shard *shard) {
    if (!shard) return;
    shard_bytes_close(&shard->bytes);
    source_close(shard->source);
    file_close(shard->direct_fd);
    points_deinit(&shard->points);
    waypoints_destroy(shard->waypoints);
    stored_spans_close(shard->stored);
    free(shard->path);
    free(shard);
}
