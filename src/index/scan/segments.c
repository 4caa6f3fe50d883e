#include "index/scan/segments.h"

#include <assert.h>
#include <stdlib.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/process.h"

enum {
    SEGMENT_MAX = 8 << 20,
    SEGMENT_MIN = 1 << 20,
    SLOTS_MAX = 64,
    SLOTS_PER_THREAD = 2,
    REMOTE_THREADS_MIN = 4, /* on any number of cores: they wait for the network */
    /* Bytes of files in flight, whatever the number of threads. What is found in them usually takes
     * less memory. The worst records are empty ones: for 16 bytes of file, 28 with an id, 9 more
     * for each lifted column, and 8 for each counted feature. The worst shard is a forged one, in
     * which each frame of 16 bytes is damaged: 176 bytes for each (struct scan_damage). Arrays that
     * grow have room for up to twice that, so such shards may take 1.4 GiB. */
    SEGMENTS_TOTAL = 64 << 20,
    WHOLE_SHARD_SEGMENTS = 32, /* a shard of fewer segments may be scanned as one */
    /* Bytes for what is found in remote shards, which may be of any size, with the room of arrays
     * that grow. */
    REMOTE_FINDINGS_TOTAL = 256 << 20,
    ARRAY_ROOM = 2,
};

/* Returns true if the shard is a single segment: if it is compressed, if it is remote, so that its
 * bytes are requested in order, or if its framing cannot guess where a frame begins. Other workers
 * scan the next shards meanwhile. But all that is found in a segment of a local file is held in
 * memory, so a large one is cut anyway, and scanned by the receiver. */
static bool is_one_segment(const struct segment_ring *ring, const struct scan_shard *shard) {
    if (shard->compression != COMPRESSION_NONE || shard->is_streamed) return true;
    if (shard->framing->guess) return false;
    return shard->end - shard->start < ring->segment_size * WHOLE_SHARD_SEGMENTS;
}

/* Fills in the next segment. Every shard has at least one, even an empty one. */
static void cut_segment(struct segment_ring *ring, struct segment *segment) {
    assert(ring->next_shard < ring->shard_count);
    const struct scan_shard *shard = &ring->shards[ring->next_shard];
    if (segment->shard_index != ring->next_shard) crc_sums_clear(&segment->findings.sums);
    segment->shard_index = ring->next_shard;
    segment->begin = ring->next_begin;
    segment->is_done = false;
    segment->is_scanned = false;
    segment->has_more = false;
    segment->piece_end = shard->start;
    segment->cursor = (struct scan_cursor){.position = shard->start};
    segment->is_last = is_one_segment(ring, shard) ||
                       shard->end - ring->next_begin <= ring->segment_size;
    ring->taken_count++;
    if (segment->is_last) {
        segment->end = shard->end;
        ring->next_shard++;
        ring->next_begin = ring->next_shard < ring->shard_count ? shard[1].start : 0;
    } else {
        segment->end = ring->next_begin += ring->segment_size;
    }
}

/* Opens the shard unless that was done; waits while another thread is opening it. */
static bool open_shard(struct segment_ring *ring, struct scan_shard *shard) {
    pthread_mutex_lock(&ring->lock);
    while (shard->state == SHARD_OPENING) pthread_cond_wait(&ring->slot_freed, &ring->lock);
    if (shard->state == SHARD_CLOSED) {
        shard->state = SHARD_OPENING;
        shard->ahead = ring->ahead;
        pthread_mutex_unlock(&ring->lock);
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = scan_shard_open(shard, ring->options, &error);
        scan_shard_set_status(shard, status, &error);
        pthread_mutex_lock(&ring->lock);
        shard->state = shard->status == RECMAP_OK ? SHARD_OPEN : SHARD_FAILED;
        pthread_cond_broadcast(&ring->slot_freed);
    }
    bool is_open = shard->state == SHARD_OPEN;
    pthread_mutex_unlock(&ring->lock);
    return is_open;
}

/* A compressed shard is one segment. Only the thread that has its segment comes here, so the state
 * needs no lock. */
static bool inflate_shard(const struct segment_ring *ring, struct scan_shard *shard,
                          struct segment *segment) {
    if (!segment->is_scanned && shard->state != SHARD_FAILED) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = scan_shard_inflate(shard, ring->options, &segment->findings, &error);
        scan_shard_set_status(shard, status, &error);
        segment->is_scanned = true;
        segment->entry = 0;
        segment->cursor = (struct scan_cursor){.position = shard->inflated.end_of_records};
        shard->state = shard->status == RECMAP_OK ? SHARD_OPEN : SHARD_FAILED;
    }
    return shard->state == SHARD_OPEN;
}

bool segments_open_shard(struct segment_ring *ring, struct segment *segment) {
    struct scan_shard *shard = &ring->shards[segment->shard_index];
    return shard->compression == COMPRESSION_NONE ? open_shard(ring, shard)
                                                  : inflate_shard(ring, shard, segment);
}

void segments_fail_shard(struct segment_ring *ring, struct scan_shard *shard, recmap_status status,
                         const recmap_error *error) {
    pthread_mutex_lock(&ring->lock);
    scan_shard_set_status(shard, status, error);
    shard->state = SHARD_FAILED;
    pthread_mutex_unlock(&ring->lock);
}

/* The next shards begin with as many bytes in flight as this one turned out to need. */
static void keep_ahead(struct segment_ring *ring, const struct scan_shard *shard) {
    pthread_mutex_lock(&ring->lock);
    if (ring->ahead < shard->ahead) ring->ahead = shard->ahead;
    pthread_mutex_unlock(&ring->lock);
}

bool segments_scan_remote(struct segment_ring *ring, struct segment *segment) {
    struct scan_shard *shard = &ring->shards[segment->shard_index];
    struct scan_findings *findings = &segment->findings;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    segment->begin = segment->piece_end;
    segment->has_more = true;
    findings_clear(findings);
    findings->pause_size = ring->findings_limit;
    while (status == RECMAP_OK && segment->has_more && !findings_pause(findings))
        status = scan_shard_piece(&segment->has_more, &segment->piece_end, shard, ring->options,
                                  findings, &segment->cursor, &error);
    keep_ahead(ring, shard);
    findings->pause_size = 0; /* the next shard in this slot may be a local one */
    if (status == RECMAP_OK) return true;
    segment->has_more = false;
    segments_fail_shard(ring, shard, status, &error);
    return false;
}

/* Hands over the findings so far, and waits until the receiver has resumed the segment. Returns
 * false if the ring was stopped. */
static bool hand_over(struct segment_ring *ring, struct segment *segment) {
    pthread_mutex_lock(&ring->lock);
    segment->is_done = true;
    pthread_cond_signal(&ring->segment_done);
    while (segment->is_done && !ring->is_stopped) pthread_cond_wait(&ring->slot_freed, &ring->lock);
    bool is_stopped = ring->is_stopped;
    pthread_mutex_unlock(&ring->lock);
    return !is_stopped;
}

/* Scans a remote shard on a worker, and frees its window, which other shards need now. */
static void scan_remote_shard(struct segment_ring *ring, struct segment *segment) {
    segment->is_scanned = true;
    while (segments_scan_remote(ring, segment) && segment->has_more && hand_over(ring, segment))
        continue;
    read_window_deinit(&ring->shards[segment->shard_index].window);
}

/* Scans a segment on a worker: the first of a shard from its beginning, others from a guess. */
static void scan_segment(struct segment_ring *ring, struct segment *segment) {
    const struct scan_shard *shard = &ring->shards[segment->shard_index];
    if (!segments_open_shard(ring, segment) || shard->compression != COMPRESSION_NONE) return;
    if (shard->is_streamed) {
        scan_remote_shard(ring, segment);
        return;
    }
    const struct shard_bytes *bytes = &shard->bytes;
    struct scanner scanner = scan_shard_scanner(shard, ring->options);
    if (segment->begin > shard->start) {
        segment->is_scanned = scan_from_guess(&scanner, &segment->findings, &segment->cursor,
                                              &segment->entry, bytes->data, bytes->size,
                                              segment->begin, segment->end);
        return;
    }
    segment->is_scanned = true;
    segment->entry = shard->start;
    scan_from(&scanner, &segment->findings, &segment->cursor, bytes->data, bytes->size,
              segment->end);
}

/* The interrupt function of a worker: a ring that is stopped does not wait for a remote store. */
static int must_stop(void *context) {
    struct segment_ring *ring = context;
    pthread_mutex_lock(&ring->lock);
    bool is_stopped = ring->is_stopped;
    pthread_mutex_unlock(&ring->lock);
    return is_stopped;
}

/* A worker takes the next segment as soon as a slot is free, and scans it without the lock. It
 * ends when all segments are taken or the ring is stopped. */
static void *run_worker(void *context) {
    struct segment_ring *ring = context;
    recmap_thread_set_interrupt(must_stop, ring);
    pthread_mutex_lock(&ring->lock);
    while (!ring->is_stopped && ring->next_shard < ring->shard_count) {
        assert(ring->taken_count - ring->released_count <= ring->slot_count);
        if (ring->taken_count - ring->released_count == ring->slot_count) {
            pthread_cond_wait(&ring->slot_freed, &ring->lock);
            continue;
        }
        struct segment *segment = &ring->slots[ring->taken_count % ring->slot_count];
        cut_segment(ring, segment);
        pthread_mutex_unlock(&ring->lock);
        scan_segment(ring, segment);
        pthread_mutex_lock(&ring->lock);
        segment->is_done = true;
        pthread_cond_signal(&ring->segment_done);
    }
    pthread_mutex_unlock(&ring->lock);
    return NULL;
}

bool segments_next(struct segment_ring *ring, struct segment **segment, uint64_t wait_ns) {
    struct segment *next = &ring->slots[ring->released_count % ring->slot_count];
    pthread_mutex_lock(&ring->lock);
    if (!ring->workers.count && ring->taken_count == ring->released_count) {
        cut_segment(ring, next);
        next->is_done = true;
    }
    bool is_done = ring->taken_count > ring->released_count && next->is_done;
    if (!is_done) {
        struct timespec until = clock_until(wait_ns);
        pthread_cond_timedwait(&ring->segment_done, &ring->lock, &until);
        is_done = ring->taken_count > ring->released_count && next->is_done;
    }
    pthread_mutex_unlock(&ring->lock);
    *segment = next;
    return is_done;
}

void segments_release(struct segment_ring *ring) {
    pthread_mutex_lock(&ring->lock);
    assert(ring->released_count < ring->taken_count);
    ring->slots[ring->released_count % ring->slot_count].is_done = false;
    ring->released_count++;
    pthread_cond_broadcast(&ring->slot_freed);
    pthread_mutex_unlock(&ring->lock);
}

void segments_resume(struct segment_ring *ring) {
    pthread_mutex_lock(&ring->lock);
    struct segment *segment = &ring->slots[ring->released_count % ring->slot_count];
    assert(segment->is_done && segment->has_more);
    segment->is_done = !ring->workers.count; /* without workers, the receiver scans it */
    pthread_cond_broadcast(&ring->slot_freed);
    pthread_mutex_unlock(&ring->lock);
}

/* Chooses the size of segments and returns the number of slots. Their product is bounded, so that
 * memory does not grow with the number of threads. */
static size_t choose_size(struct segment_ring *ring, unsigned thread_count) {
    size_t slots = (size_t)thread_count * SLOTS_PER_THREAD + 2;
    if (slots > SLOTS_MAX) slots = SLOTS_MAX;
    uint64_t size = SEGMENTS_TOTAL / slots;
    if (size > SEGMENT_MAX) size = SEGMENT_MAX;
    if (size < SEGMENT_MIN) size = SEGMENT_MIN;
    ring->segment_size = ring->options->segment_size ? ring->options->segment_size : size;
    return slots;
}

static uint64_t count_segments(const struct segment_ring *ring) {
    uint64_t count = 0;
    for (size_t i = 0; i < ring->shard_count; i++)
        count += (ring->shards[i].end - ring->shards[i].start) / ring->segment_size + 1;
    return count;
}

static unsigned choose_thread_count(const struct segment_ring *ring) {
    if (ring->options->thread_count) return ring->options->thread_count;
    unsigned threads = core_count();
    for (size_t i = 0; i < ring->shard_count && threads < REMOTE_THREADS_MIN; i++)
        if (ring->shards[i].is_remote) threads = REMOTE_THREADS_MIN;
    return threads;
}

/* A single thread needs no workers and one slot: it scans each segment while it joins it, and
 * never guesses. No more threads and slots are created than there are segments. */
recmap_status segments_init(struct segment_ring *ring, struct scan_shard *shards,
                            size_t shard_count, const struct scan_options *options,
                            recmap_error *error) {
    *ring = (struct segment_ring){
        .options = options,
        .shards = shards,
        .shard_count = shard_count,
        .next_begin = shards->start,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .slot_freed = PTHREAD_COND_INITIALIZER,
    };
    condition_init(&ring->segment_done);
    unsigned threads = choose_thread_count(ring);
    size_t slots = choose_size(ring, threads);
    uint64_t segments = count_segments(ring);
    if (threads > segments) threads = (unsigned)segments;
    if (slots > segments + 1) slots = (size_t)segments + 1;
    if (threads <= 1) slots = 1;
    ring->findings_limit = options->segment_size ? options->segment_size
                                                 : REMOTE_FINDINGS_TOTAL / ARRAY_ROOM / slots;
    ring->slots = calloc(slots, sizeof *ring->slots);
    if (!ring->slots) return fail_memory(error);
    for (; ring->slot_count < slots; ring->slot_count++)
        if (!findings_init(&ring->slots[ring->slot_count].findings, options->extractor))
            return fail_memory(error);
    if (threads <= 1) return RECMAP_OK;
    return workers_start(&ring->workers, threads, run_worker, ring, error);
}

void segments_deinit(struct segment_ring *ring) {
    pthread_mutex_lock(&ring->lock);
    ring->is_stopped = true;
    pthread_cond_broadcast(&ring->slot_freed);
    pthread_mutex_unlock(&ring->lock);
    workers_join(&ring->workers);
    for (size_t i = 0; i < ring->slot_count; i++) findings_deinit(&ring->slots[i].findings);
    free(ring->slots);
    pthread_cond_destroy(&ring->segment_done);
    pthread_cond_destroy(&ring->slot_freed);
    pthread_mutex_destroy(&ring->lock);
}
