/* Random numbers as a pure function of their purpose: a seed, an epoch, a stream and a size are
 * mixed into a state, and a state defines a numbered sequence of words. docs/formats/order.md
 * specifies both; what a seed gives never changes. */
#ifndef RECMAP_BASE_PERMUTATION_RANDOM_H
#define RECMAP_BASE_PERMUTATION_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* The purpose of a stream. It is the top byte of the stream's number, so that two parts of an order
 * never draw the same words. The values never change. */
enum stream_kind {
    STREAM_SHUFFLED = 0,
    STREAM_WINDOWED_BLOCKS = 1,
    STREAM_WINDOWED_INSIDE = 2, /* and the window */
    STREAM_WITH_REPLACEMENT = 3,
    STREAM_WEIGHTED = 4,
    STREAM_GROUPED_INSIDE = 5, /* and the group */
    STREAM_GROUPED_BATCHES = 6,
    STREAM_STRATIFIED_INSIDE = 7, /* and the group */
    STREAM_STRATIFIED_BATCHES = 8,
    STREAM_CHUNKED_DOCUMENTS = 9,
    STREAM_CHUNKED_ROWS = 10,
    STREAM_PACKED_DOCUMENTS = 11,
    STREAM_PACKED_GROUPS = 12,
    STREAM_PACKED_ROWS = 13, /* and the group */
    STREAM_WINDOWS = 14,
    STREAM_DRAWS = 15, /* of a picture, and the name of the draw */
    STREAM_DRAWS_AT_POSITION = 16,
    STREAM_ROW_SEEDS = 17, /* and the name of the draw */
};

static inline uint64_t stream_of(enum stream_kind kind, uint64_t index) {
    return (uint64_t)kind << 56 | index;
}

/* The state for this seed, epoch, stream and size. Similar arguments have unrelated states. */
uint64_t random_state(uint64_t seed, uint64_t epoch, uint64_t stream, uint64_t n);

/* Word `index` of the sequence of a state (SplitMix64). */
uint64_t random_word(uint64_t state, uint64_t index);

/* A uniformly distributed number in [0, n), computed from a word and, rarely, from the sequence
 * that has the word as its state. n > 0. */
uint64_t random_below(uint64_t word, uint64_t n);

#endif
