/* Random Examples: well-formed ones in every shape that the wire allows, and damaged ones. */
#ifndef RECMAP_TESTS_UNIT_PARSE_EXAMPLE_RANDOM_EXAMPLE_H
#define RECMAP_TESTS_UNIT_PARSE_EXAMPLE_RANDOM_EXAMPLE_H

#include "unit/parse/example/build.h"

/* The same seed gives the same numbers on every machine. */
struct random_state {
    uint64_t state;
};

uint64_t random_next(struct random_state *random);
uint64_t draw_below(struct random_state *random, uint64_t limit);

/* How odd the messages are: out of 1000 places, those that get something odd. */
struct oddness {
    unsigned unknown; /* an unknown field, of any number, wire type and depth */
    unsigned padding; /* a varint longer than needed */
    unsigned merge;   /* something twice that libprotobuf merges */
    unsigned wrong;   /* a length, number or name that is not what it should be */
};

void random_example(struct message *example, struct random_state *random,
                    const struct oddness *odd);

/* Flips, sets, cuts, removes or adds a byte. */
void random_damage(struct message *message, struct random_state *random);

#endif
