/* Random numbers as a pure function of what they are for: a seed, an epoch, a stream and a size are
 * mixed into a state, and the words that follow from a state are numbered. docs/order.md specifies
 * both; what a seed gives never changes. */
#ifndef RECMAP_ORDER_RANDOM_H
#define RECMAP_ORDER_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Which use of a seed a stream belongs to: it stands in the stream's top byte, so that two parts of
 * an order never draw the same words. The values never change. */
typedef enum stream_kind {
    STREAM_SHUFFLED = 0,
    STREAM_WINDOWED_BLOCKS = 1,
    STREAM_WINDOWED_INSIDE = 2, /* and the window */
    STREAM_WITH_REPLACEMENT = 3,
    STREAM_WEIGHTED = 4,
    STREAM_GROUPED_INSIDE = 5, /* and the group */
    STREAM_GROUPED_BATCHES = 6,
    STREAM_STRATIFIED_INSIDE = 7, /* and the group */
    STREAM_STRATIFIED_BATCHES = 8,
} stream_kind;

static inline uint64_t stream_of(stream_kind kind, uint64_t index) {
    return (uint64_t)kind << 56 | index;
}

/* The state of the words for this seed, epoch, stream and size: unrelated states for neighbouring
 * arguments. */
uint64_t random_state(uint64_t seed, uint64_t epoch, uint64_t stream, uint64_t n);

/* Word `index` of those that follow from a state (SplitMix64). */
uint64_t random_word(uint64_t state, uint64_t index);

/* A number in [0, n), each exactly as likely as the others, made from a word and, rarely, from the
 * words that follow from that word. n > 0. */
uint64_t random_below(uint64_t word, uint64_t n);

#endif
