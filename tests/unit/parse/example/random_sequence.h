/* Random SequenceExamples: well-formed, and without anything that protobuf-c reads otherwise than
 * libprotobuf. */
#ifndef RECMAP_TESTS_UNIT_PARSE_EXAMPLE_RANDOM_SEQUENCE_H
#define RECMAP_TESTS_UNIT_PARSE_EXAMPLE_RANDOM_SEQUENCE_H

#include "unit/parse/example/random_example.h"

void random_sequence(struct message *record, struct random_state *random);

#endif
