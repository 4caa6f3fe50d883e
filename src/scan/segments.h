/* Segments: the shards of a scan cut into pieces, scanned by workers and handed out in order.
 *
 * A ring of slots connects the two sides. Workers take the slots in order, as long as one is free,
 * and scan a segment each. The caller's thread receives the segments in the same order, waiting for
 * a slow one, and releases each slot when it is done with it:
 *
 *     released ──> [ done │ done │ being scanned │ done │ being scanned ] ──> next to take
 *                    ^ segments_next                                  slots in use <= slot_count
 *
 * A segment in the middle of a shard is scanned from a guess, since where the previous segment ends
 * is not known yet; the receiver must check the guess. Without workers (one thread) there is one
 * slot, and the receiver scans each segment itself, from where the previous one ended.
 *
 * Of a local shard, all bytes are mapped. The bytes of a remote one are scanned as they arrive, by
 * one thread from the first to the last: a worker, if the shard is one segment, or else the
 * receiver. At damage, the shard is copied to a temporary file, where the scan continues as in a
 * local shard. */
#ifndef RECMAP_SCAN_SEGMENTS_H
#define RECMAP_SCAN_SEGMENTS_H

#include "os/thread.h"
#include "scan/scan_shard.h"

/* A segment of a shard: the frames that begin in [begin, end). */
struct segment {
    size_t shard_index;
    uint64_t begin, end;
    bool is_last;    /* of its shard */
    bool is_done;    /* scanned, or left to the receiver */
    bool is_scanned; /* from `entry` to `cursor` */
    uint64_t entry;
    struct scan_cursor cursor;
    struct scan_findings findings;
};

struct segment_ring {
    const struct scan_options *options;
    struct scan_shard *shards;
    size_t shard_count;
    uint64_t segment_size;

    pthread_mutex_t lock;      /* guards everything below and the states of shards */
    pthread_cond_t slot_freed; /* or a shard opened, or the ring stopped */
    pthread_cond_t segment_done;
    struct segment *slots; /* segment number n is in slot n % slot_count */
    size_t slot_count;
    uint64_t taken_count;
    uint64_t released_count;
    size_t next_shard;
    uint64_t next_begin;
    bool is_stopped;
    struct worker_group workers;
};

/* Starts the workers. The ring must be deinitialised even after an error. Errors: NO_MEMORY, IO. */
recmap_status segments_init(struct segment_ring *ring, struct scan_shard *shards,
                            size_t shard_count, const struct scan_options *options,
                            recmap_error *error);

/* Stops the workers and frees the slots. */
void segments_deinit(struct segment_ring *ring);

/* The next segment in order, to be released before the next call. Returns false if it is not done
 * after `wait_ns` nanoseconds. */
bool segments_next(struct segment_ring *ring, struct segment **segment, uint64_t wait_ns);
void segments_release(struct segment_ring *ring);

/* Makes the bytes of the segment's shard available, if no worker has done so; for a compressed
 * shard this scans it. False if that failed: see the shard's status. */
bool segments_open_shard(struct segment_ring *ring, struct segment *segment);

/* Scans a segment of an open remote shard from the cursor on, which no worker did. If `is_good`
 * becomes false, the cursor is at damage, and the shard was copied: scan the rest in its image.
 * Returns false if requests failed: see the shard's status. */
bool segments_scan_arriving(bool *is_good, struct segment_ring *ring, struct segment *segment,
                            struct scan_cursor *cursor);

#endif
