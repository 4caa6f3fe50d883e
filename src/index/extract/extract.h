/* The extractor reads ids, columns and element counts from records. Ids and columns are features of
 * a tf.Example, or values returned by the application's callback. */
#ifndef RECMAP_INDEX_EXTRACT_EXTRACT_H
#define RECMAP_INDEX_EXTRACT_EXTRACT_H

#include <recmap/index.h>

#include "index/extract/run.h"

/* Immutable and thread-safe. */
struct extractor;

/* Copies what it uses of the options, which index_options_check has accepted: ids, lifts, counted
 * features, and the callback. NULL options extract nothing. Errors: INVALID, NO_MEMORY. */
recmap_status extractor_create(struct extractor **extractor, const recmap_index_options *options,
                               recmap_error *error);
void extractor_destroy(struct extractor *extractor);

bool extractor_has_ids(const struct extractor *extractor);
size_t extractor_column_count(const struct extractor *extractor);
size_t extractor_counted_count(const struct extractor *extractor);

/* Adds id, columns and counts of the run's last record. The error has no place.
 * Errors: FEATURE, NO_MEMORY, or what the callback returned. */
recmap_status extractor_lift(const struct extractor *extractor, struct record_run *run,
                             const uint8_t *data, size_t size, recmap_error *error);

/* The id of a record that extractor_lift has read before; type NONE if it has none. Values of other
 * features may be left unread, so that what is malformed in them need not be noticed. Errors: as
 * above. */
recmap_status extractor_read_id(recmap_value *id, const struct extractor *extractor,
                                const uint8_t *data, size_t size, recmap_error *error);

#endif
