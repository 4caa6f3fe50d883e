#include "index/build/idsort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/file.h"

enum {
    BUFFER_PAIRS = 1 << 20, /* 16 MiB, and the same for sorting */
    READ_PAIRS = 1 << 12,   /* read per run at a time while merging: 64 KiB */
    SORT_PAIRS = 1 << 14,   /* moved between two questions of the interrupt */
    FEW_PAIRS = 1 << 13,    /* sorted by small digits: counting large ones takes longer */
    MERGE_WORK = 64,        /* for the interrupt, in bytes: a pair that is merged */
};

/* Takes the place of a hash in a run without further pairs: it is above all hashes. */
#define EXHAUSTED (UINT64_C(1) << IDS_HASH_BITS)

/* A sorted run in the file, and the window of it that is in memory. */
struct spilled_run {
    uint64_t next, end; /* pairs in the file not yet read */
    struct id_pair *window;
    size_t window_next, window_count;
};

/* The hash of the next pair of a run. */
struct merge_head {
    uint64_t hash;
    size_t run;
};

struct idsort {
    char *target;
    int fd; /* -1 until something is spilled */
    uint64_t count;
    struct id_pair *buffer, *scratch;
    size_t buffered;
    size_t buffer_next; /* reading position, if nothing was spilled */
    uint64_t spilled;   /* pairs in the file */
    uint64_t last_hash; /* of the pairs in the file */
    struct spilled_run *runs;
    size_t run_count, run_capacity;
    /* A tournament, in which the run with the smallest pair wins: a binary tree whose leaves are
     * the runs in their order, and whose node `i` has the children 2 i and 2 i + 1. The root is
     * node 1, and the leaves begin at leaf_count, a power of two. Each inner node keeps the loser
     * of its match, because the next smallest pair is one of those that lost to the winner. */
    struct merge_head *losers;
    size_t leaf_count;
    struct merge_head winner;
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
    free(sorter->losers);
    free(sorter->buffer);
    free(sorter->scratch);
    free(sorter->target);
    file_close(sorter->fd);
    free(sorter);
}

/* A digit of the radix sort: the bits of the hash from `shift` on. */
struct digit {
    unsigned shift, bits;
};

static size_t digit_of(const struct id_pair *pair, struct digit digit) {
    return pair->hash >> digit.shift & (((size_t)1 << digit.bits) - 1);
}

/* One pass of a stable radix sort. The pairs move to random places, most of which are not in a
 * cache, so this asks the thread's interrupt. */
static recmap_status sort_pass(struct id_pair *destination, const struct id_pair *pairs,
                               size_t count, struct digit digit, size_t *starts,
                               recmap_error *error) {
    memset(starts, 0, ((size_t)1 << digit.bits) * sizeof *starts);
    for (size_t i = 0; i < count; i++) starts[digit_of(&pairs[i], digit)]++;
    size_t sum = 0;
    for (size_t i = 0; i < (size_t)1 << digit.bits; i++) {
        size_t here = starts[i];
        starts[i] = sum;
        sum += here;
    }
    for (size_t first = 0; first < count; first += SORT_PAIRS) {
        size_t end = count - first < SORT_PAIRS ? count : first + SORT_PAIRS;
        for (size_t i = first; i < end; i++)
            destination[starts[digit_of(&pairs[i], digit)]++] = pairs[i];
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

/* Sorts the buffer by the 48 bits of the hash, a digit at a time. The sort is stable and pairs with
 * equal hashes were added by ascending number, so they stay in that order. */
static recmap_status sort_buffer(struct idsort *sorter, recmap_error *error) {
    uint64_t bits = unsorted_bits(sorter->buffer, sorter->buffered);
    if (!bits) return RECMAP_OK;
    struct digit digit = {0, sorter->buffered < FEW_PAIRS ? 8 : 16};
    size_t *starts = malloc(((size_t)1 << digit.bits) * sizeof *starts);
    if (!starts) return fail_memory(error);
    recmap_status status = RECMAP_OK;
    for (; status == RECMAP_OK && digit.shift < IDS_HASH_BITS; digit.shift += digit.bits) {
        if (!(bits >> digit.shift & (((uint64_t)1 << digit.bits) - 1))) continue;
        status = sort_pass(sorter->scratch, sorter->buffer, sorter->buffered, digit, starts, error);
        struct id_pair *sorted = sorter->scratch;
        sorter->scratch = sorter->buffer;
        sorter->buffer = sorted;
    }
    free(starts);
    return status;
}

/* Appends the buffer as a new run, or extends the last run if its hashes continue it: pairs that
 * are added in the order of their hashes become a single run. */
static recmap_status note_run(struct idsort *sorter, recmap_error *error) {
    uint64_t end = sorter->spilled + sorter->buffered;
    if (sorter->run_count && sorter->last_hash <= sorter->buffer[0].hash) {
        sorter->runs[sorter->run_count - 1].end = end;
        return RECMAP_OK;
    }
    if (!array_reserve(&sorter->runs, &sorter->run_capacity, sorter->run_count + 1,
                       sizeof *sorter->runs))
        return fail_memory(error);
    sorter->runs[sorter->run_count++] = (struct spilled_run){.next = sorter->spilled, .end = end};
    return RECMAP_OK;
}

static recmap_status spill(struct idsort *sorter, recmap_error *error) {
    RETURN_IF_FAILED(sort_buffer(sorter, error));
    if (sorter->fd < 0) RETURN_IF_FAILED(file_create_unnamed(&sorter->fd, sorter->target, error));
    RETURN_IF_FAILED(note_run(sorter, error));
    RETURN_IF_FAILED(
        file_write_at(sorter->fd, sorter->buffer, sorter->buffered * sizeof *sorter->buffer,
                      sorter->spilled * sizeof *sorter->buffer, sorter->target, error));
    sorter->last_hash = sorter->buffer[sorter->buffered - 1].hash;
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

static struct merge_head head_of(const struct idsort *sorter, size_t run_index) {
    struct merge_head head = {EXHAUSTED, run_index};
    if (run_index >= sorter->run_count) return head; /* a leaf without a run */
    const struct spilled_run *run = &sorter->runs[run_index];
    if (run->window_next < run->window_count) head.hash = run->window[run->window_next].hash;
    return head;
}

/* Plays all matches below a node. Returns its winner. */
static struct merge_head play_all(struct idsort *sorter, size_t node) {
    if (node >= sorter->leaf_count) return head_of(sorter, node - sorter->leaf_count);
    struct merge_head left = play_all(sorter, 2 * node), right = play_all(sorter, 2 * node + 1);
    bool left_wins = left.hash <= right.hash;
    sorter->losers[node] = left_wins ? right : left;
    return left_wins ? left : right;
}

/* Exchanges two heads, or not, without a branch: which run has the next pair is random, so a CPU
 * would predict half of the branches wrong. */
static void exchange_if(bool is_exchanged, struct merge_head *a, struct merge_head *b) {
    uint64_t mask = -(uint64_t)is_exchanged;
    uint64_t hash = (a->hash ^ b->hash) & mask;
    size_t run = (a->run ^ b->run) & (size_t)mask;
    a->hash ^= hash;
    b->hash ^= hash;
    a->run ^= run;
    b->run ^= run;
}

/* Plays the matches of the last winner's run again, from its leaf to the root, with its next pair.
 * Of equal hashes, the one from the left child wins: its run is earlier, so its numbers are
 * smaller. The loser that a node keeps came from the child that the run is not below. So if the run
 * is below the right child, which has an odd number, the loser also wins with an equal hash. */
static void play_again(struct idsort *sorter) {
    struct merge_head head = head_of(sorter, sorter->winner.run);
    for (size_t node = sorter->leaf_count + head.run; node > 1; node /= 2) {
        struct merge_head *loser = &sorter->losers[node / 2];
        exchange_if(loser->hash < head.hash + (node & 1), loser, &head);
    }
    sorter->winner = head;
}

static recmap_status begin_merge(struct idsort *sorter, recmap_error *error) {
    for (sorter->leaf_count = 1; sorter->leaf_count < sorter->run_count;) sorter->leaf_count *= 2;
    sorter->losers = malloc(sorter->leaf_count * sizeof *sorter->losers);
    if (!sorter->losers) return fail_memory(error);
    for (size_t i = 0; i < sorter->run_count; i++) {
        struct spilled_run *run = &sorter->runs[i];
        run->window = malloc(READ_PAIRS * sizeof *run->window);
        if (!run->window) return fail_memory(error);
        RETURN_IF_FAILED(read_window(sorter, run, error));
    }
    sorter->winner = play_all(sorter, 1);
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

/* Removes the smallest pair of all runs. */
static recmap_status take_smallest(struct idsort *sorter, struct id_pair *pair,
                                   recmap_error *error) {
    struct spilled_run *run = &sorter->runs[sorter->winner.run];
    *pair = run->window[run->window_next++];
    if (run->window_next == run->window_count && run->next < run->end)
        RETURN_IF_FAILED(read_window(sorter, run, error));
    play_again(sorter);
    return RECMAP_OK;
}

recmap_status idsort_next(struct idsort *sorter, struct id_pair *pairs, size_t capacity,
                          size_t *count, recmap_error *error) {
    struct interrupt *interrupt = thread_interrupt();
    size_t taken_count = 0;
    if (!sorter->run_count) {
        size_t left = sorter->buffered - sorter->buffer_next;
        taken_count = left < capacity ? left : capacity;
        memcpy(pairs, sorter->buffer + sorter->buffer_next, taken_count * sizeof *pairs);
        sorter->buffer_next += taken_count;
    }
    while (sorter->run_count && sorter->winner.hash != EXHAUSTED && taken_count < capacity) {
        RETURN_IF_FAILED(take_smallest(sorter, &pairs[taken_count], error));
        RETURN_IF_FAILED(interrupt_check(interrupt, MERGE_WORK, error));
        taken_count++;
    }
    *count = taken_count;
    return RECMAP_OK;
}
