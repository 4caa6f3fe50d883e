/* How often a random test repeats. With RECMAP_TEST_SHORT=1 it takes the first third of its rounds.
 * tests/run sets it, but in its long form only for the sanitizers, under which each round is 5 to
 * 40 times slower: they look for faults in the code that the rounds reach. */
#ifndef RECMAP_TESTS_SUPPORT_ROUNDS_H
#define RECMAP_TESTS_SUPPORT_ROUNDS_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool is_short(void) {
    const char *text = getenv("RECMAP_TEST_SHORT");
    return text && *text == '1';
}

static inline unsigned some_rounds(unsigned count) {
    return is_short() ? (count + 2) / 3 : count;
}

#endif
