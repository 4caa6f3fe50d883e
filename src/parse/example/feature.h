/* A feature of a tf.Example: its kind and its values, merged by libprotobuf's rules from all pieces
 * in the record. */
#ifndef RECMAP_PARSE_EXAMPLE_FEATURE_H
#define RECMAP_PARSE_EXAMPLE_FEATURE_H

#include <recmap/record.h>

#include "parse/example/wire.h"

/* Zero-initialized, a feature is absent. Pointers point into the record. */
struct example_feature {
    bool present;            /* there is an entry of this name, possibly without a kind */
    recmap_type kind;        /* NONE if absent or unset */
    uint64_t count;          /* number of values */
    struct wire first;       /* from the first value to some byte after it */
    struct wire entry;       /* the entry in the feature map, for example_values_begin */
    const uint8_t *lists_at; /* in the entry: lists before this one were replaced */
};

/* Returns the first value, of type NONE if there are no values. */
recmap_value example_feature_first(const struct example_feature *feature);

/* Nesting depths of the messages of an Example, for wire_skip. */
enum {
    EXAMPLE_DEPTH = 0,
    EXAMPLE_FEATURES_DEPTH = 1,
    EXAMPLE_ENTRY_DEPTH = 2,
    EXAMPLE_FEATURE_DEPTH = 3,
    EXAMPLE_LIST_DEPTH = 4,
};

/* The field of an entry that contains the feature. */
enum { EXAMPLE_VALUE_TAG = 2 << 3 | WIRE_BYTES };

/* Returns the kind of list that a tag stands for in a Feature message, or NONE. */
recmap_type feature_kind_of_tag(uint32_t tag);

/* Reads a Feature of at most 127 bytes in the form that writers use: a single list in a single
 * chunk. Returns false for any other form, valid or not; `feature`, whose kind must be NONE on
 * entry, is then undefined. */
bool feature_read_plain(struct example_feature *feature, const uint8_t *body, size_t size);

/* Validates the Feature message in `body` and merges it into `feature`: a list of the same kind
 * appends its values, a list of another kind replaces them. */
bool feature_merge(struct example_feature *feature, struct wire body, struct wire_trace *trace);

/* Iterates over the values of a well-formed feature. */
struct example_values {
    recmap_type kind;
    const uint8_t *lists_at;
    /* What is left of each message, from the outermost inwards. */
    struct wire entry, body, list, packed;
};

struct example_values example_values_begin(const struct example_feature *feature);

/* Advances to the next value. Returns false after the last one. */
bool example_values_next(recmap_value *value, struct example_values *values);

#endif
