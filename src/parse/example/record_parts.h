/* The features of any record: of a tf.Example, or the context and the feature lists of a
 * tf.SequenceExample. */
#ifndef RECMAP_PARSE_EXAMPLE_RECORD_PARTS_H
#define RECMAP_PARSE_EXAMPLE_RECORD_PARTS_H

#include "parse/example/sequence_features.h"

/* Zero-initialized, it is empty. Reusable from record to record. */
struct record_parts {
    struct example_features features;  /* of an Example, or what there is of another message */
    struct sequence_features sequence; /* if it is a SequenceExample */
    bool is_sequence;                  /* and not an Example */
    bool is_other; /* neither, or with fields that neither message defines: `features` or `sequence`
                      has what is known of it */
};

/* Replaces the contents of `parts`. A record of another kind is not an error. Errors: NO_MEMORY. */
recmap_status record_parts_read(struct record_parts *parts, const void *data, size_t size,
                                recmap_error *error);

/* The same, but the features of an Example are as in the record: in any order, and maybe with names
 * that repeat. Takes less time; record_parts_settle sorts them and removes duplicates. */
recmap_status record_parts_read_stored(struct record_parts *parts, const void *data, size_t size,
                                       recmap_error *error);
void record_parts_settle(struct record_parts *parts);
void record_parts_deinit(struct record_parts *parts);

/* The features: of the Example, or of the context. */
static inline const struct example_features *
record_parts_features(const struct record_parts *parts) {
    return parts->is_sequence ? &parts->sequence.context : &parts->features;
}

/* The number of feature lists. */
static inline size_t record_parts_list_count(const struct record_parts *parts) {
    return parts->is_sequence ? parts->sequence.list_count : 0;
}

#endif
