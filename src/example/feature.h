/* A feature of a tf.Example: its kind and its values, put together by libprotobuf's rules from the
 * pieces in which it may come. */
#ifndef RECMAP_EXAMPLE_FEATURE_H
#define RECMAP_EXAMPLE_FEATURE_H

#include <recmap/record.h>

#include "example/wire.h"

/* All zeros is a feature that is not there. Pointers lead into the record. */
struct example_feature {
    bool present;            /* there is an entry of this name, though perhaps of no kind */
    recmap_type kind;        /* NONE: absent or unset */
    uint64_t count;          /* values */
    struct wire first;       /* where the first value begins, and an end behind it */
    struct wire entry;       /* the entry in the map of features, for example_values_begin */
    const uint8_t *lists_at; /* in the entry: lists before this one were dropped */
};

/* The first value; of type NONE when there are none. */
recmap_value example_feature_first(const struct example_feature *feature);

/* How deep the messages of an Example lie, for wire_skip. */
enum {
    EXAMPLE_DEPTH = 0,
    EXAMPLE_FEATURES_DEPTH = 1,
    EXAMPLE_ENTRY_DEPTH = 2,
    EXAMPLE_FEATURE_DEPTH = 3,
    EXAMPLE_LIST_DEPTH = 4,
};

/* The field of an entry that holds the feature. */
enum { EXAMPLE_VALUE_TAG = 2 << 3 | WIRE_BYTES };

/* The kind of list whose tag this is in a Feature; NONE for any other tag. */
recmap_type feature_kind_of_tag(uint32_t tag);

/* Reads a Feature of at most 127 bytes in the one shape that writers give it: a single list in a
 * single chunk, no byte beyond that. False for any other, good or bad; `feature`, which has no kind
 * when it comes in, then holds nothing of use. */
bool feature_read_plain(struct example_feature *feature, const uint8_t *body, size_t size);

/* Checks the message Feature in `body` and merges it into `feature`: a list of the kind that it has
 * adds its values, a list of another kind replaces what was there. */
bool feature_merge(struct example_feature *feature, struct wire body, struct wire_trace *trace);

/* Walks over the values of a feature. Only for features that were read without a fault. */
struct example_values {
    recmap_type kind;
    const uint8_t *lists_at;
    struct wire entry, body, list,
        packed; /* from the outermost message inwards, what is left of each */
};

struct example_values example_values_begin(const struct example_feature *feature);

/* The next value; false behind the last one. */
bool example_values_next(recmap_value *value, struct example_values *values);

#endif
