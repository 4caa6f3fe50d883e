/* The messages of an encoded tf.SequenceExample: the tags of their fields, and their nesting depths
 * for wire_skip. */
#ifndef RECMAP_PARSE_EXAMPLE_SEQUENCE_WIRE_H
#define RECMAP_PARSE_EXAMPLE_SEQUENCE_WIRE_H

#include "parse/example/wire.h"

enum {
    SEQUENCE_CONTEXT_TAG = 1 << 3 | WIRE_BYTES,
    SEQUENCE_LISTS_TAG = 2 << 3 | WIRE_BYTES,
    SEQUENCE_ENTRY_TAG = 1 << 3 | WIRE_BYTES,
    SEQUENCE_KEY_TAG = 1 << 3 | WIRE_BYTES,
    SEQUENCE_LIST_TAG = 2 << 3 | WIRE_BYTES,
    SEQUENCE_STEP_TAG = 1 << 3 | WIRE_BYTES,
};

enum {
    SEQUENCE_DEPTH = 0,
    SEQUENCE_LISTS_DEPTH = 1,
    SEQUENCE_ENTRY_DEPTH = 2,
    SEQUENCE_LIST_DEPTH = 3,
};

#endif
