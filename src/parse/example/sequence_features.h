/* A complete record as a tf.SequenceExample: its context, and its feature lists sorted by the bytes
 * of their names. As for tf.Example, the result is what libprotobuf would decode. */
#ifndef RECMAP_PARSE_EXAMPLE_SEQUENCE_FEATURES_H
#define RECMAP_PARSE_EXAMPLE_SEQUENCE_FEATURES_H

#include "parse/example/example.h"

struct sequence_list {
    const uint8_t *name; /* UTF-8, in the record; never NULL */
    size_t name_size;
    size_t first_step; /* among the steps of all lists */
    size_t step_count;
};

/* Reusable from record to record. Zero-initialized, it is empty. */
struct sequence_features {
    struct example_features context;
    struct sequence_list *lists;
    size_t list_count;
    size_t list_capacity;
    struct example_feature *steps; /* sequence_values_begin iterates over their values */
    size_t step_count;
    size_t step_capacity;
    bool has_lists;   /* the record has a `feature_lists` message, possibly empty */
    bool saw_unknown; /* the record has fields unknown to tf.SequenceExample */
};

/* Replaces the contents of `sequence`. Returns RECMAP_CORRUPT if the record is not a
 * SequenceExample and sets `fault` unless it is NULL, or RECMAP_NO_MEMORY; `sequence` is then
 * undefined. */
recmap_status sequence_features_read(struct sequence_features *sequence, const uint8_t *data,
                                     size_t size, struct example_fault *fault);
void sequence_features_deinit(struct sequence_features *sequence);

/* Returns the steps of a list, or NULL if it has none. */
const struct example_feature *sequence_steps(const struct sequence_features *sequence,
                                             const struct sequence_list *list);

/* Starts iterating over the values of a step with example_values_next. */
struct example_values sequence_values_begin(const struct example_feature *feature);

#endif
