/* The value of one feature that has one value, found without reading other features' values. */
#ifndef RECMAP_PARSE_EXAMPLE_SINGLE_VALUE_H
#define RECMAP_PARSE_EXAMPLE_SINGLE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/record.h>

/* Reads the single value of a short feature of a record in the form that writers use. Returns false
 * for any other record, also if it lacks the feature: then example_lookup decides. If that succeeds
 * on the record, both give the same value. Values of other features are not validated, so call this
 * only for records that were validated before, or do not need to be. */
bool example_single_value(recmap_value *value, const char *name, size_t name_size,
                          const uint8_t *data, size_t size);

#endif
