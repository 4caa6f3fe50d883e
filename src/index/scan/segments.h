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
 * Of a local shard, all bytes are mapped. A remote one is a single segment, whose bytes one thread
 * scans piece by piece as they arrive. When what it found fills its share of memory, it hands that
 * over and waits until the receiver has resumed the segment. At damage, the shard is copied to a
 * temporary file, where the scan continues. */
#ifndef RECMAP_INDEX_SCAN_SEGMENTS_H
#define RECMAP_INDEX_SCAN_SEGMENTS_H

#include "base/os/thread.h"
#include "index/scan/scan_shard.h"

/* A segment of a shard: the frames that begin in [begin, end). */
struct segment {
    size_t shard_index;
    uint64_t begin, end;
    bool is_last;    /* of its shard */
    bool is_done;    /* scanned, or left to the receiver */
    bool is_scanned; /* from `entry` to `cursor` */
    bool has_more;   /* `findings` cover [begin, piece_end), and the scan continues */
    uint64_t piece_end;
    uint64_t entry;
    struct scan_cursor cursor;
    struct scan_findings findings;
};

struct segment_ring {
    const struct scan_options *options;
    struct scan_shard *shards;
    size_t shard_count;
    uint64_t segment_size;
    uint64_t findings_limit; /* bytes of findings in a segment of a remote shard */

    pthread_mutex_t lock;      /* guards everything below and the states of shards */
    pthread_cond_t slot_freed; /* or a shard opened, or the ring stopped */
    pthread_cond_t segment_done;
    struct segment *slots; /* segment number n is in slot n % slot_count */
    size_t slot_count;
    uint64_t taken_count;
    uint64_t released_count;
    size_t next_shard;
    uint64_t next_begin;
    uint64_t ahead; /* bytes that a remote shard requests together at first; 0: the minimum */
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

/* Instead, of a segment that has more: the rest of it is scanned, and handed out next. */
void segments_resume(struct segment_ring *ring);

/* Makes the bytes of the segment's shard available, if no worker has done so; for a compressed
 * shard this scans it. False if that failed: see the shard's status. */
bool segments_open_shard(struct segment_ring *ring, struct segment *segment);

/* Makes the rest of a shard that is being scanned fail. */
void segments_fail_shard(struct segment_ring *ring, struct scan_shard *shard, recmap_status status,
                         const recmap_error *error);

/* Scans the segment of an open remote shard until it has enough findings to hand over, or to the
 * end. Workers call this; without workers, the receiver does. False if that failed: see the shard's
 * status. */
bool segments_scan_remote(struct segment_ring *ring, struct segment *segment);

#endif
