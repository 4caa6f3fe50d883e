#include "build/idsort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "os/file.h"

enum {
    BUFFER_PAIRS = 1 << 20, /* 16 MiB, and the same for sorting */
    READ_PAIRS = 1 << 12,   /* read per run at a time while merging: 64 KiB */
    SORT_PAIRS = 1 << 14,   /* moved between two questions of the interrupt */
    MERGE_WORK = 64,        /* for the interrupt, in bytes: a pair that leaves the heap */
};

/* A sorted run in the file, and the window of it that is in memory. */
struct spilled_run {
    uint64_t next, end; /* pairs in the file not yet read */
    struct id_pair *window;
    size_t window_next, window_count;
};

struct idsort {
    char *target;
    int fd; /* -1 until something is spilled */
    uint64_t count;
    struct id_pair *buffer, *scratch;
    size_t buffered;
    size_t buffer_next; /* reading position, if nothing was spilled */
    uint64_t spilled;   /* pairs in the file */
    struct spilled_run *runs;
    size_t run_count, run_capacity;
    size_t *heap; /* indexes of runs; the one with the smallest pair is first */
    size_t heap_count;
};

recmap_status idsort_create(struct idsort **sorter, const char *target, recmap_error *error) {
    struct idsort *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->fd = -1;
    fresh->target = strdup(target);
    fresh->buffer = malloc(BUFFER_PAIRS * sizeof *fresh->buffer);
    fresh->scratch = malloc(BUFFER_PAIRS * sizeof *fresh->scratch);
    if (!fresh->target || !fresh->buffer || !fresh->scratch) {
        idsort_destroy(fresh);
        return fail_memory(error);
    }
    *sorter = fresh;
    return RECMAP_OK;
}

void idsort_destroy(struct idsort *sorter) {
    if (!sorter) return;
    for (size_t i = 0; i < sorter->run_count; i++) free(sorter->runs[i].window);
    free(sorter->runs);
    free(sorter->heap);
    free(sorter->buffer);
    free(sorter->scratch);
    free(sorter->target);
    file_close(sorter->fd);
    free(sorter);
}

/* One pass of a stable radix sort, by the 16 bits of the hash above `shift`. The pairs move to
 * random places, most of which are not in a cache, so this asks the thread's interrupt. */
static recmap_status sort_pass(struct id_pair *destination, const struct id_pair *pairs,
                               size_t count, unsigned shift, size_t *starts, recmap_error *error) {
    memset(starts, 0, ((size_t)1 << 16) * sizeof *starts);
    for (size_t i = 0; i < count; i++) starts[pairs[i].hash >> shift & 0xffff]++;
    size_t sum = 0;
    for (size_t i = 0; i < (size_t)1 << 16; i++) {
        size_t here = starts[i];
        starts[i] = sum;
        sum += here;
    }
    for (size_t first = 0; first < count; first += SORT_PAIRS) {
        size_t end = count - first < SORT_PAIRS ? count : first + SORT_PAIRS;
        for (size_t i = first; i < end; i++)
            destination[starts[pairs[i].hash >> shift & 0xffff]++] = pairs[i];
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), (end - first) * sizeof *pairs, error));
    }
    return RECMAP_OK;
}

/* The bits in which hashes differ; 0 if the pairs are sorted already. */
static uint64_t unsorted_bits(const struct id_pair *pairs, size_t count) {
    uint64_t differing = 0;
    bool is_sorted = true;
    for (size_t i = 1; i < count; i++) {
        differing |= pairs[i].hash ^ pairs[0].hash;
        is_sorted &= pairs[i - 1].hash <= pairs[i].hash;
    }
    return is_sorted ? 0 : differing;
}

/* Sorts the buffer by the 48 bits of the hash. The sort is stable and pairs with equal hashes were
 * added by ascending number, so they stay in that order. */
static recmap_status sort_buffer(struct idsort *sorter, recmap_error *error) {
    uint64_t bits = unsorted_bits(sorter->buffer, sorter->buffered);
    if (!bits) return RECMAP_OK;
    size_t *starts = malloc(((size_t)1 << 16) * sizeof *starts);
    if (!starts) return fail_memory(error);
    recmap_status status = RECMAP_OK;
    for (unsigned shift = 0; status == RECMAP_OK && shift < IDS_HASH_BITS; shift += 16) {
        if (!(bits >> shift & 0xffff)) continue;
        status = sort_pass(sorter->scratch, sorter->buffer, sorter->buffered, shift, starts, error);
        struct id_pair *sorted = sorter->scratch;
        sorter->scratch = sorter->buffer;
        sorter->buffer = sorted;
    }
    free(starts);
    return status;
}

static recmap_status spill(struct idsort *sorter, recmap_error *error) {
    RETURN_IF_FAILED(sort_buffer(sorter, error));
    if (sorter->fd < 0) RETURN_IF_FAILED(file_create_unnamed(&sorter->fd, sorter->target, error));
    if (!array_reserve(&sorter->runs, &sorter->run_capacity, sorter->run_count + 1,
                       sizeof *sorter->runs))
        return fail_memory(error);
    RETURN_IF_FAILED(
        file_write_at(sorter->fd, sorter->buffer, sorter->buffered * sizeof *sorter->buffer,
                      sorter->spilled * sizeof *sorter->buffer, sorter->target, error));
    sorter->runs[sorter->run_count++] =
        (struct spilled_run){.next = sorter->spilled, .end = sorter->spilled + sorter->buffered};
    sorter->spilled += sorter->buffered;
    sorter->buffered = 0;
    return RECMAP_OK;
}

recmap_status idsort_add(struct idsort *sorter, struct id_pair pair, recmap_error *error) {
    assert(pair.hash >> 48 == 0);
    if (sorter->buffered == BUFFER_PAIRS) RETURN_IF_FAILED(spill(sorter, error));
    sorter->buffer[sorter->buffered++] = pair;
    sorter->count++;
    return RECMAP_OK;
}

uint64_t idsort_count(const struct idsort *sorter) {
    return sorter->count;
}

static recmap_status read_window(struct idsort *sorter, struct spilled_run *run,
                                 recmap_error *error) {
    uint64_t left = run->end - run->next;
    size_t count = left < READ_PAIRS ? (size_t)left : READ_PAIRS;
    run->window_next = 0;
    run->window_count = count;
    uint64_t offset = run->next * sizeof *run->window;
    run->next += count;
    return file_read_at(sorter->fd, run->window, count * sizeof *run->window, offset,
                        sorter->target, error);
}

static bool comes_before(const struct idsort *sorter, size_t a, size_t b) {
    const struct spilled_run *run_a = &sorter->runs[a], *run_b = &sorter->runs[b];
    uint64_t hash_a = run_a->window[run_a->window_next].hash;
    uint64_t hash_b = run_b->window[run_b->window_next].hash;
    /* Of equal hashes, those in the earlier run have the smaller numbers. */
    return hash_a != hash_b ? hash_a < hash_b : a < b;
}

/* Restores the heap after the run at `node` got another smallest pair. */
static void sift_down(struct idsort *sorter, size_t node) {
    size_t *heap = sorter->heap;
    for (;;) {
        size_t smallest = node;
        for (size_t child = 2 * node + 1; child <= 2 * node + 2 && child < sorter->heap_count;
             child++)
            if (comes_before(sorter, heap[child], heap[smallest])) smallest = child;
        if (smallest == node) return;
        size_t moved = heap[node];
        heap[node] = heap[smallest];
        heap[smallest] = moved;
        node = smallest;
    }
}

static recmap_status begin_merge(struct idsort *sorter, recmap_error *error) {
    sorter->heap = malloc(sorter->run_count * sizeof *sorter->heap);
    if (!sorter->heap) return fail_memory(error);
    for (size_t i = 0; i < sorter->run_count; i++) {
        struct spilled_run *run = &sorter->runs[i];
        run->window = malloc(READ_PAIRS * sizeof *run->window);
        if (!run->window) return fail_memory(error);
        RETURN_IF_FAILED(read_window(sorter, run, error));
        sorter->heap[i] = i;
    }
    sorter->heap_count = sorter->run_count;
    for (size_t i = sorter->heap_count; i-- > 0;) sift_down(sorter, i);
    return RECMAP_OK;
}

recmap_status idsort_finish(struct idsort *sorter, recmap_error *error) {
    if (!sorter->run_count) return sort_buffer(sorter, error);
    if (sorter->buffered) RETURN_IF_FAILED(spill(sorter, error));
    /* Merging needs no buffer, but a window per run. */
    free(sorter->buffer);
    free(sorter->scratch);
    sorter->buffer = sorter->scratch = NULL;
    return begin_merge(sorter, error);
}

/* Removes the smallest pair of all runs. A run that is used up leaves the heap. */
static recmap_status take_smallest(struct idsort *sorter, struct id_pair *pair,
                                   recmap_error *error) {
    struct spilled_run *run = &sorter->runs[sorter->heap[0]];
    *pair = run->window[run->window_next++];
    recmap_status status = RECMAP_OK;
    if (run->window_next == run->window_count) {
        if (run->next < run->end) status = read_window(sorter, run, error);
        else sorter->heap[0] = sorter->heap[--sorter->heap_count];
    }
    sift_down(sorter, 0);
    return status;
}

recmap_status idsort_next(struct idsort *sorter, struct id_pair *pairs, size_t capacity,
                          size_t *count, recmap_error *error) {
    struct interrupt *interrupt = thread_interrupt();
    size_t taken = 0;
    if (!sorter->run_count) {
        size_t left = sorter->buffered - sorter->buffer_next;
        taken = left < capacity ? left : capacity;
        memcpy(pairs, sorter->buffer + sorter->buffer_next, taken * sizeof *pairs);
        sorter->buffer_next += taken;
    }
    while (sorter->heap_count && taken < capacity) {
        RETURN_IF_FAILED(take_smallest(sorter, &pairs[taken], error));
        RETURN_IF_FAILED(interrupt_check(interrupt, MERGE_WORK, error));
        taken++;
    }
    *count = taken;
    return RECMAP_OK;
}
