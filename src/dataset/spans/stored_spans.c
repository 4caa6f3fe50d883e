#include "dataset/spans/stored_spans.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/core/bytes.h"
#include "base/core/interrupt.h"
#include "base/os/activity.h"
#include "storage/cache/cache_file.h"
#include "storage/cache/fill_lock.h"

/* No deflate stream inflates to more than this many times its size. */
enum { RATIO_MAX = 1032 };

enum { ETAG_SIZE = 128 };

struct stored_spans {
    struct disk_cache *cache;
    struct cache_file *file;
    bool checks_blocks;
};

/* ---- Keys. */

/* What the bytes of a span are, and their number before the next span, depend on the records, on
 * what compressed them, and on how many seek points were chosen. */
static void write_etag(char etag[ETAG_SIZE], const struct shard_entry *entry) {
    int size = snprintf(etag, ETAG_SIZE, "%s %" PRIu64 " %" PRIu64 " ",
                        compression_name(entry->compression), entry->file_size, entry->point_count);
    for (size_t i = 0; i < IDENTITY_HASH_SIZE; i++)
        size += snprintf(etag + size, ETAG_SIZE - (size_t)size, "%02x", entry->identity.hash[i]);
}

/* The bytes of all spans, each padded to whole blocks. */
static uint64_t find_size(const struct shard_entry *entry) {
    return (entry->size / CACHE_BLOCK + entry->point_count + 1) * CACHE_BLOCK;
}

static struct cache_key find_key(char etag[ETAG_SIZE], const struct shard_entry *entry) {
    write_etag(etag, entry);
    return (struct cache_key){
        .url = "spans of a compressed shard", .etag = etag, .size = find_size(entry)};
}

/* A hash of where spans begin and of their checks. */
static uint64_t find_layout(const struct point_list *points) {
    XXH64_hash_t hash = XXH3_64bits(points->checks, points->check_count * sizeof *points->checks);
    for (size_t i = 0; i < points->count; i++)
        hash = XXH3_64bits_withSeed(&points->at[i].offset, sizeof points->at[i].offset, hash);
    return hash;
}

/* ---- Opening. */

struct stored_spans *stored_spans_open(struct disk_cache *cache, const struct span_source *source,
                                       const struct stored_spans_options *options) {
    char etag[ETAG_SIZE];
    const struct shard_entry *entry = source->entry;
    /* An index that lies about the size must not create a file of it. */
    if (entry->size / RATIO_MAX > entry->file_size) return NULL;
    struct cache_key key = find_key(etag, entry);
    key.layout = find_layout(source->points);
    struct stored_spans *stored = calloc(1, sizeof *stored);
    if (!stored) return NULL;
    *stored = (struct stored_spans){.cache = cache, .checks_blocks = options->checks_blocks};
    stored->file = cache_file_open(cache, &key);
    if (!stored->file) {
        free(stored);
        return NULL;
    }
    if (options->maps) cache_file_map(stored->file);
    return stored;
}

void stored_spans_close(struct stored_spans *stored) {
    if (!stored) return;
    cache_file_close(stored->file);
    free(stored);
}

void stored_spans_claim(const struct disk_cache *cache, const struct shard_entry *entry) {
    char etag[ETAG_SIZE];
    struct cache_key key = find_key(etag, entry);
    cache_file_claim(cache, &key);
}

/* ---- Positions. */

/* A span begins in the block after those of the bytes before it, and after one more for each span
 * before it, because the last block of a span may have bytes of that span only. */
uint64_t stored_spans_position(const struct span_source *source, uint64_t span_index,
                               uint64_t offset) {
    uint64_t begin = span_begin(source, span_index);
    assert(offset >= begin);
    return (begin / CACHE_BLOCK + span_index) * CACHE_BLOCK + (offset - begin);
}

static struct block_range blocks_of(const struct span_source *source, uint64_t span_index,
                                    uint64_t offset, uint64_t size) {
    return cache_file_blocks(stored_spans_position(source, span_index, offset), size);
}

static struct block_range piece_blocks(const struct span_source *source, struct span_piece piece) {
    return blocks_of(source, piece.span_index, piece.begin, piece.end - piece.begin);
}

static uint64_t count_bytes(struct block_range blocks) {
    return (blocks.end - blocks.begin) * CACHE_BLOCK;
}

/* ---- Reading. */

bool stored_spans_has(const struct stored_spans *stored, const struct span_source *source,
                      uint64_t span_index, uint64_t offset, uint64_t size) {
    return size && cache_file_has(stored->file, blocks_of(source, span_index, offset, size));
}

/* Copies blocks, and compares them with their checksums. */
static bool read_blocks(const struct stored_spans *stored, uint8_t *data,
                        struct block_range blocks) {
    uint32_t *numbers = malloc((size_t)(blocks.end - blocks.begin) * sizeof *numbers);
    if (!numbers) return false;
    struct block_range missing = cache_file_find_missing(numbers, stored->file, blocks);
    bool is_good = missing.begin == missing.end &&
                   cache_file_read_blocks(stored->file, data, blocks, numbers);
    free(numbers);
    return is_good;
}

static bool read_checked(const struct stored_spans *stored, uint8_t *data, size_t size,
                         uint64_t position) {
    struct block_range blocks = cache_file_blocks(position, size);
    uint8_t *bytes = malloc((size_t)count_bytes(blocks));
    bool is_good = bytes && read_blocks(stored, bytes, blocks);
    if (is_good) memcpy(data, bytes + (position - cache_file_offset(blocks.begin)), size);
    free(bytes);
    return is_good;
}

bool stored_spans_read(struct stored_spans *stored, const struct span_source *source,
                       uint64_t span_index, uint8_t *data, size_t size, uint64_t offset) {
    if (!stored_spans_has(stored, source, span_index, offset, size)) return false;
    uint64_t position = stored_spans_position(source, span_index, offset);
    bool is_good = stored->checks_blocks ? read_checked(stored, data, size, position)
                                         : cache_file_read(stored->file, data, size, position);
    if (!is_good) stored_spans_forget(stored, source, offset, size);
    return is_good;
}

const uint8_t *stored_spans_bytes(const struct stored_spans *stored) {
    return stored->checks_blocks ? NULL : cache_file_bytes(stored->file);
}

void stored_spans_count(const struct stored_spans *stored, uint64_t hit_count) {
    disk_cache_count(stored->cache, hit_count, 0);
}

void stored_spans_warn(const struct stored_spans *stored) {
    disk_cache_warn(stored->cache);
}

/* ---- Filling. */

/* Copies the whole piece if it is stored. */
static bool load_piece(struct span *span, struct stored_spans *stored,
                       const struct span_source *source, struct span_piece piece) {
    struct block_range blocks = piece_blocks(source, piece);
    if (!cache_file_has(stored->file, blocks)) return false;
    uint8_t *data = malloc((size_t)count_bytes(blocks));
    if (!data || !read_blocks(stored, data, blocks)) {
        free(data);
        cache_file_forget(stored->file, blocks);
        return false;
    }
    *span = (struct span){.data = data,
                          .size = (size_t)(piece.end - piece.begin),
                          .error = RECMAP_ERROR_INIT,
                          .is_transient = true,
                          .is_copy = true};
    return true;
}

/* Stores the piece in the space that was reserved for it: its whole blocks, and the last one, which
 * is padded. */
static void store_piece(struct stored_spans *stored, const struct span *span,
                        struct block_range blocks) {
    uint8_t last[CACHE_BLOCK] = {0};
    struct block_range whole = {blocks.begin, blocks.begin + span->size / CACHE_BLOCK},
                       rest = {whole.end, blocks.end};
    cache_file_store(stored->file, span->data, whole);
    if (rest.begin == rest.end) return;
    memcpy(last, span->data + count_bytes(whole), span->size % CACHE_BLOCK);
    cache_file_store(stored->file, last, rest);
}

static void inflate(struct span *span, const struct stored_spans *stored,
                    const struct span_source *source, struct span_piece piece) {
    disk_cache_count(stored->cache, 0, 1);
    span_inflate(span, source, piece);
}

/* Only a piece without damage is stored: what precedes damage is found again in the same way. */
static void inflate_and_store(struct span *span, struct stored_spans *stored,
                              const struct span_source *source, struct span_piece piece) {
    struct block_range blocks = piece_blocks(source, piece);
    inflate(span, stored, source, piece);
    if (span->error.status == RECMAP_OK && span->size == piece.end - piece.begin) {
        store_piece(stored, span, blocks);
        span->is_transient = cache_file_has(stored->file, blocks);
    } else {
        disk_cache_settle(stored->cache, count_bytes(blocks), 0);
    }
}

/* Another process that has the lock inflates the piece meanwhile. */
static bool lock_piece(struct fill_lock *lock, const struct stored_spans *stored,
                       struct block_range blocks) {
    enum activity_stage former = activity_enter(ACTIVITY_LOCKED);
    bool may_go_on =
        fill_lock_acquire(lock, cache_file_path(stored->file), cache_file_offset(blocks.begin));
    activity_leave(former);
    return may_go_on;
}

/* Space is reserved first: if the cache is full, no process waits for what another one cannot
 * store. Whoever gets the lock looks once more, because the piece may have been stored meanwhile.
 */
void stored_spans_fill(struct span *span, struct stored_spans *stored,
                       const struct span_source *source, struct span_piece piece) {
    struct block_range blocks = piece_blocks(source, piece);
    struct fill_lock lock;
    if (load_piece(span, stored, source, piece)) return;
    if (!disk_cache_reserve(stored->cache, count_bytes(blocks))) {
        inflate(span, stored, source, piece);
        return;
    }
    if (!lock_piece(&lock, stored, blocks)) {
        disk_cache_settle(stored->cache, count_bytes(blocks), 0);
        interrupt_fail(&span->error);
        span->is_transient = true;
        return;
    }
    if (load_piece(span, stored, source, piece))
        disk_cache_settle(stored->cache, count_bytes(blocks), 0);
    else inflate_and_store(span, stored, source, piece);
    fill_lock_release(&lock);
}

bool stored_spans_forget(struct stored_spans *stored, const struct span_source *source,
                         uint64_t offset, uint64_t size) {
    bool had_some = false;
    for (uint64_t end = offset + size; offset < end;) {
        struct span_piece piece = span_piece_at(source, offset);
        uint64_t part_end = min_u64(end, piece.end);
        had_some |= stored_spans_has(stored, source, piece.span_index, offset, part_end - offset);
        cache_file_forget(stored->file, piece_blocks(source, piece));
        offset = part_end;
    }
    return had_some;
}

/* ---- Advice. */

bool stored_spans_are_resident(const struct stored_spans *stored, const struct span_source *source,
                               uint64_t span_index, uint64_t offset, uint64_t size) {
    return cache_file_is_resident(stored->file, stored_spans_position(source, span_index, offset),
                                  size);
}

void stored_spans_will_need(const struct stored_spans *stored, const struct span_source *source,
                            uint64_t span_index, uint64_t offset, uint64_t size) {
    cache_file_will_need(stored->file, stored_spans_position(source, span_index, offset), size);
}

void stored_spans_expect_random(const struct stored_spans *stored) {
    cache_file_expect_random(stored->file);
}
