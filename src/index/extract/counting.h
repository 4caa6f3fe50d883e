/* Counts the elements of features in records of tf.Example and tf.SequenceExample. */
#ifndef RECMAP_INDEX_EXTRACT_COUNTING_H
#define RECMAP_INDEX_EXTRACT_COUNTING_H

#include <recmap/index.h>

#include "parse/example/example.h"

/* Immutable and thread-safe. */
struct counting;

enum { COUNTED_FEATURES_MAX = 64 };

/* Copies the counted features of `options`. Errors: NO_MEMORY. */
recmap_status counting_create(struct counting **counting, const recmap_index_options *options,
                              recmap_error *error);
void counting_destroy(struct counting *counting);

size_t counting_feature_count(const struct counting *counting);
const char *counting_name(const struct counting *counting, size_t i);

/* counts[i] is the number of elements that the record has of counted feature i; `features` is what
 * example_lookup found of these features in the record. Errors, without a place: FEATURE if raw
 * numbers are expected of a feature and it does not consist of them. */
recmap_status counting_read(uint64_t *counts, const struct counting *counting,
                            const struct example_feature *features, const uint8_t *data,
                            size_t size, recmap_error *error);

#endif
