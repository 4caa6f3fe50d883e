/* How often a random test repeats. RECMAP_TEST_SHORT=1 takes the first third of its rounds, and 2 a
 * ninth. tests/run sets 1, and 2 for the address sanitizer, under which each round is 5 to 40 times
 * slower: it looks for faults in the code that the rounds reach. The long form sets 1 for the
 * sanitizers alone. */
#ifndef RECMAP_TESTS_SUPPORT_ROUNDS_H
#define RECMAP_TESTS_SUPPORT_ROUNDS_H

#include <stdbool.h>
#include <stdlib.h>

/* By how much the tests are shortened: 0 for all rounds, 1 for a third, 2 for a ninth. */
static inline unsigned short_level(void) {
    const char *text = getenv("RECMAP_TEST_SHORT");
    return !text ? 0 : *text == '1' ? 1 : *text == '2' ? 2 : 0;
}

static inline bool is_short(void) {
    return short_level() > 0;
}

static inline unsigned some_rounds(unsigned count) {
    for (unsigned level = short_level(); level > 0; level--) count = (count + 2) / 3;
    return count;
}

#endif
