/* A record as a tf.SequenceExample, whole: its context, and its feature lists sorted by the bytes
 * of their names. What counts is what libprotobuf makes of the bytes, as for tf.Example. */
#ifndef RECMAP_EXAMPLE_SEQUENCE_FEATURES_H
#define RECMAP_EXAMPLE_SEQUENCE_FEATURES_H

#include "example/example.h"

struct sequence_list {
    const uint8_t *name; /* UTF-8, into the record; never NULL */
    size_t name_size;
    size_t first_step; /* among the steps of all lists */
    size_t step_count;
};

/* To be used again from record to record. All zeros is an empty one. */
struct sequence_features {
    struct example_features context;
    struct sequence_list *lists;
    size_t list_count;
    size_t list_capacity;
    struct example_feature *steps; /* their values are walked by sequence_values_begin */
    size_t step_count;
    size_t step_capacity;
    bool has_lists;   /* the record has the message `feature_lists`, though perhaps an empty one */
    bool saw_unknown; /* the record has fields that tf.SequenceExample does not know */
};

/* Replaces what `sequence` held. Returns CORRUPT when the record is no SequenceExample, with
 * `fault` (or NULL) saying why, or NO_MEMORY; `sequence` then holds nothing of use. */
recmap_status sequence_features_read(struct sequence_features *sequence, const uint8_t *data,
                                     size_t size, struct example_fault *fault);
void sequence_features_free(struct sequence_features *sequence);

/* The steps of a list; NULL when it has none. */
const struct example_feature *sequence_steps(const struct sequence_features *sequence,
                                             const struct sequence_list *list);

/* Walks over the values of a step, by example_values_next. */
struct example_values sequence_values_begin(const struct example_feature *step);

#endif
