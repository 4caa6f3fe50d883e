#include "dataset/open/shard_warmer.h"

#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/memory/page_cache.h"
#include "dataset/open/open_shard.h"

/* Files are read in pieces. The kernel is asked for some megabytes after them, so that the device
 * is never idle. Of objects, several pieces are requested at once. */
enum { PIECE = 1 << 20, AHEAD = 4 << 20, IN_FLIGHT = 16 };

static bool is_compressed(const struct open_shard *shard) {
    return shard_cache_entry(shard->cache, shard->shard_index)->compression != COMPRESSION_NONE;
}

/* ---- A warmer and its shard. */

/* If there is a cache, but a shard could not get a file in it, the cache is full or fails. */
static enum warm_place find_place(const struct open_shard *shard) {
    bool has_cache = shard->cache->disk_cache != NULL, is_remote = open_shard_is_remote(shard);
    if (!is_remote && !(has_cache && is_compressed(shard))) return WARM_IN_MEMORY;
    bool has_file = is_compressed(shard) ? shard->stored != NULL
                                         : shard->source->table->has != NULL;
    return has_file ? WARM_ON_DISK : has_cache ? WARM_FULL : WARM_NOWHERE;
}

static void leave(struct shard_warmer *warmer) {
    source_close(warmer->file);
    warmer->file = NULL;
    if (warmer->shard) shard_cache_unpin(warmer->shard);
    warmer->shard = NULL;
    warmer->inflated_offset = UINT64_MAX;
}

static recmap_status reserve_buffer(struct shard_warmer *warmer, size_t size, recmap_error *error) {
    if (warmer->buffer_size >= size) return RECMAP_OK;
    free(warmer->buffer);
    warmer->buffer = malloc(size);
    warmer->buffer_size = warmer->buffer ? size : 0;
    return warmer->buffer ? RECMAP_OK : fail_memory(error);
}

/* If the name has another file by now, that file need not be read. */
static recmap_status open_file(struct shard_warmer *warmer, recmap_error *error) {
    bool is_same;
    RETURN_IF_FAILED(reserve_buffer(warmer, PIECE, error));
    RETURN_IF_FAILED(open_shard_reopen(&warmer->file, &is_same, warmer->shard, error));
    if (!is_same || warmer->file->fd < 0) warmer->place = WARM_NOWHERE;
    return RECMAP_OK;
}

recmap_status shard_warmer_enter(struct shard_warmer *warmer, struct open_shard *shard,
                                 recmap_error *error) {
    leave(warmer);
    warmer->shard = shard;
    warmer->place = find_place(shard);
    if (warmer->place == WARM_IN_MEMORY) return open_file(warmer, error);
    if (warmer->place == WARM_ON_DISK && !is_compressed(shard))
        return reserve_buffer(warmer, (size_t)IN_FLIGHT * PIECE, error);
    return RECMAP_OK;
}

bool shard_warmer_is_on_disk(const struct shard_warmer *warmer) {
    return warmer->file && warmer->file->fd >= 0 && file_is_on_disk(warmer->file->fd);
}

void shard_warmer_deinit(struct shard_warmer *warmer) {
    leave(warmer);
    free(warmer->buffer);
    *warmer = (struct shard_warmer)SHARD_WARMER_INIT;
}

/* ---- In memory. */

static recmap_status read_rest(const struct shard_warmer *warmer, size_t present, size_t size,
                               uint64_t offset, recmap_error *error) {
    return source_read(warmer->file, warmer->buffer + present, size - present, offset + present,
                       error);
}

/* Copies what is in memory, which costs little, and waits only for what is not. What the kernel was
 * asked for before counts as read, although it may have arrived by now. */
static recmap_status read_file(struct warm_counts *counts, const struct shard_warmer *warmer,
                               uint64_t begin, uint64_t end, recmap_error *error) {
    uint64_t asked = begin;
    for (uint64_t at = begin; at < end;) {
        size_t size = (size_t)min_u64(PIECE, end - at);
        size_t present = page_cache_read(warmer->file->fd, warmer->buffer, size, at);
        uint64_t was_asked = asked > at ? min_u64(asked - at, present) : 0;
        counts->read_size += was_asked;
        counts->present_size += present - was_asked;
        if (present < size) {
            uint64_t wanted = min_u64(end, at + size + AHEAD);
            if (asked < at + present) asked = at + present;
            if (asked < wanted) file_will_need(warmer->file->fd, asked, wanted - asked);
            asked = wanted;
            RETURN_IF_FAILED(read_rest(warmer, present, size, at, error));
            counts->read_size += size - present;
        }
        at += size;
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), size, error));
    }
    return RECMAP_OK;
}

/* Of a compressed shard, the bytes of the file that the range is inflated from. */
static recmap_status read_in_file(struct warm_counts *counts, const struct shard_warmer *warmer,
                                  uint64_t begin, uint64_t end, recmap_error *error) {
    if (!is_compressed(warmer->shard)) return read_file(counts, warmer, begin, end, error);
    struct span_source spans = open_shard_spans(warmer->shard);
    uint64_t first = span_at(&spans, begin), last = span_at(&spans, end - 1);
    return read_file(counts, warmer, span_file_begin(&spans, first), span_file_end(&spans, last),
                     error);
}

/* ---- On the disk. */

/* Takes the next reads of the range that the cache does not have. Returns how many. */
static size_t plan_reads(struct source_read *reads, struct warm_counts *counts,
                         const struct shard_warmer *warmer, uint64_t *at, uint64_t end) {
    size_t count = 0;
    while (count < IN_FLIGHT && *at < end) {
        size_t size = (size_t)min_u64(PIECE, end - *at);
        if (source_has(warmer->shard->source, *at, size)) {
            counts->present_size += size;
        } else {
            reads[count] = (struct source_read){.source = warmer->shard->source,
                                                .data = warmer->buffer + count * PIECE,
                                                .size = size,
                                                .offset = *at};
            count++;
        }
        *at += size;
    }
    return count;
}

/* What the cache has afterwards was stored. */
static recmap_status read_object(struct warm_counts *counts, const struct shard_warmer *warmer,
                                 uint64_t begin, uint64_t end, recmap_error *error) {
    struct source_read reads[IN_FLIGHT];
    struct source *source = warmer->shard->source;
    for (uint64_t at = begin; at < end && !counts->is_full;) {
        size_t failed, count = plan_reads(reads, counts, warmer, &at, end);
        if (count)
            RETURN_IF_FAILED(source_read_all(&failed, reads, count, thread_interrupt(), error));
        for (size_t i = 0; i < count; i++) {
            if (source_has(source, reads[i].offset, reads[i].size))
                counts->read_size += reads[i].size;
            else counts->is_full = true;
        }
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), INTERRUPT_WORK, error));
    }
    return RECMAP_OK;
}

static bool is_stored(const struct shard_warmer *warmer, const struct span_source *spans,
                      struct span_piece piece) {
    return stored_spans_has(warmer->shard->stored, spans, piece.span_index, piece.begin,
                            piece.end - piece.begin);
}

/* Inflates a piece by reading its first byte: it is stored whole, if there is room. */
static recmap_status inflate_piece(struct warm_counts *counts, struct shard_warmer *warmer,
                                   const struct span_source *spans, struct span_piece piece,
                                   recmap_error *error) {
    uint8_t byte;
    RETURN_IF_FAILED(open_shard_read(warmer->shard, &byte, 1, piece.begin, error));
    counts->is_full = !is_stored(warmer, spans, piece);
    warmer->inflated_offset = piece.begin;
    return interrupt_check(thread_interrupt(), piece.end - piece.begin, error);
}

/* A piece of which an earlier range needed another part was not there already. */
static recmap_status read_spans(struct warm_counts *counts, struct shard_warmer *warmer,
                                uint64_t begin, uint64_t end, recmap_error *error) {
    struct span_source spans = open_shard_spans(warmer->shard);
    for (uint64_t at = begin; at < end && !counts->is_full;) {
        struct span_piece piece = span_piece_at(&spans, at);
        uint64_t part_end = min_u64(end, piece.end);
        if (is_stored(warmer, &spans, piece)) {
            bool is_own = warmer->inflated_offset == piece.begin;
            *(is_own ? &counts->read_size : &counts->present_size) += part_end - at;
        } else {
            RETURN_IF_FAILED(inflate_piece(counts, warmer, &spans, piece, error));
            if (!counts->is_full) counts->read_size += part_end - at;
        }
        at = part_end;
    }
    return RECMAP_OK;
}

recmap_status shard_warmer_read(struct warm_counts *counts, struct shard_warmer *warmer,
                                uint64_t begin, uint64_t end, recmap_error *error) {
    counts->is_full |= warmer->place == WARM_FULL;
    if (begin >= end || warmer->place == WARM_NOWHERE || counts->is_full) return RECMAP_OK;
    if (warmer->place == WARM_IN_MEMORY) return read_in_file(counts, warmer, begin, end, error);
    return is_compressed(warmer->shard) ? read_spans(counts, warmer, begin, end, error)
                                        : read_object(counts, warmer, begin, end, error);
}
