/* The extractor reads ids and columns from records: features of a tf.Example, or values returned by
 * the application's callback. */
#ifndef RECMAP_SCAN_EXTRACT_H
#define RECMAP_SCAN_EXTRACT_H

#include <recmap/index.h>

#include "scan/run.h"

/* Immutable and thread-safe. */
struct extractor;

/* Copies its arguments. `extract` may be NULL: then names are features of tf.Example. Errors:
 * INVALID, NO_MEMORY. */
recmap_status extractor_create(struct extractor **extractor, const char *id_feature,
                               const recmap_lift *lifts, size_t lift_count,
                               recmap_extract_fn extract, void *context, recmap_error *error);
void extractor_destroy(struct extractor *extractor);

bool extractor_has_ids(const struct extractor *extractor);
size_t extractor_column_count(const struct extractor *extractor);

/* Adds id and columns of the run's last record. The error has no place.
 * Errors: FEATURE, NO_MEMORY, or what the callback returned. */
recmap_status extractor_lift(const struct extractor *extractor, struct record_run *run,
                             const uint8_t *data, size_t size, recmap_error *error);

/* The id of one record; type NONE if it has none. Errors: as above. */
recmap_status extractor_read_id(recmap_value *id, const struct extractor *extractor,
                                const uint8_t *data, size_t size, recmap_error *error);

#endif
