/* Counts the steps of feature lists of a tf.SequenceExample without reading the steps. */
#ifndef RECMAP_PARSE_EXAMPLE_STEP_COUNT_H
#define RECMAP_PARSE_EXAMPLE_STEP_COUNT_H

#include "parse/example/names.h"
#include "parse/example/reader.h"

/* The feature list of one name. */
struct step_count {
    bool is_present;
    uint64_t count;
};

/* counts[i] describes the feature list with name i. As in libprotobuf, the last of several lists
 * with one name wins, and a list stored in several pieces has the steps of all of them. Names may
 * not repeat. Returns false if the record's feature lists are malformed, and then sets `fault`.
 * What is in a step is not checked. */
bool step_count_read(struct step_count *counts, const struct example_names *names,
                     const uint8_t *data, size_t size, struct example_fault *fault);

#endif
