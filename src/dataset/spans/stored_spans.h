/* The inflated spans of one compressed shard in the cache on the local disk, so that each is
 * inflated once: a span is stored whole when a record of it is first needed, and later records, of
 * later epochs and of other processes, are copied from the cache's file.
 *
 * The file is for what the shard inflates to, wherever the shard is: its key is the identity of the
 * shard in the index. Each span begins with a block of the file, so that no block has bytes of two
 * spans (of pieces, for long spans). What is stored was compared with the span's check in the
 * index, and what is read is compared with the checksums of its blocks, or with its own. */
#ifndef RECMAP_DATASET_SPANS_STORED_SPANS_H
#define RECMAP_DATASET_SPANS_STORED_SPANS_H

#include "dataset/spans/span.h"
#include "storage/cache/disk_cache.h"

struct stored_spans;

struct stored_spans_options {
    bool maps;          /* the file is mapped, if possible */
    bool checks_blocks; /* bytes are compared with the checksums of their blocks; false: readers
                           have checksums, and call stored_spans_forget if they differ */
};

/* Returns NULL if the spans cannot be stored: the cache is full or fails. `source` needs its entry
 * and its points, here and below. The cache must outlive the result. */
struct stored_spans *stored_spans_open(struct disk_cache *cache, const struct span_source *source,
                                       const struct stored_spans_options *options);
void stored_spans_close(struct stored_spans *stored);

/* Marks the file of a shard as used by this run, if it exists. */
void stored_spans_claim(const struct disk_cache *cache, const struct shard_entry *entry);

/* Returns true if bytes of one span are stored, as far as is known. */
bool stored_spans_has(const struct stored_spans *stored, const struct span_source *source,
                      uint64_t span_index, uint64_t offset, uint64_t size);

/* Copies bytes of one span. Returns false if they are not stored, or are damaged. */
bool stored_spans_read(struct stored_spans *stored, const struct span_source *source,
                       uint64_t span_index, uint8_t *data, size_t size, uint64_t offset);

/* The mapped bytes of all spans, for stored_spans_position; NULL if they are not mapped or need
 * their checksums. They are valid for a short time (cache_file_bytes). */
const uint8_t *stored_spans_bytes(const struct stored_spans *stored);
uint64_t stored_spans_position(const struct span_source *source, uint64_t span_index,
                               uint64_t offset);

/* Sets the span to the piece: copied if it is stored; else inflated as by span_inflate, and stored
 * if there is room, by one process while others wait. A span that was stored is transient: it is
 * not kept in memory as well. If the thread is interrupted, the span's error is CANCELLED. */
void stored_spans_fill(struct span *span, struct stored_spans *stored,
                       const struct span_source *source, struct span_piece piece);

/* Warns if the cache stopped adding. The caller holds no lock. */
void stored_spans_warn(const struct stored_spans *stored);

/* Counts reads that were answered without inflating. */
void stored_spans_count(const struct stored_spans *stored, uint64_t hit_count);

/* Makes the pieces with bytes of the range missing, because they turned out to be damaged. Returns
 * false if none of the bytes was stored. */
bool stored_spans_forget(struct stored_spans *stored, const struct span_source *source,
                         uint64_t offset, uint64_t size);

/* As cache_file_is_resident and the functions after it, for bytes of one span. */
bool stored_spans_are_resident(const struct stored_spans *stored, const struct span_source *source,
                               uint64_t span_index, uint64_t offset, uint64_t size);
void stored_spans_will_need(const struct stored_spans *stored, const struct span_source *source,
                            uint64_t span_index, uint64_t offset, uint64_t size);
void stored_spans_expect_random(const struct stored_spans *stored);

#endif
