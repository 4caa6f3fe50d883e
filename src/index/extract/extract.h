/* The extractor reads ids, columns and element counts from records. Ids and columns are features of
 * a tf.Example, or values returned by the application's callback. */
#ifndef RECMAP_INDEX_EXTRACT_EXTRACT_H
#define RECMAP_INDEX_EXTRACT_EXTRACT_H

#include <recmap/index.h>

#include "format/framing/framing.h"
#include "index/extract/run.h"

/* Immutable and thread-safe. */
struct extractor;

/* Copies what it uses of the options, which index_options_check has accepted: ids, lifts, counted
 * features, and the callback. NULL options extract nothing. Errors: INVALID, NO_MEMORY. */
recmap_status extractor_create(struct extractor **extractor, const recmap_index_options *options,
                               recmap_error *error);
void extractor_destroy(struct extractor *extractor);

/* Lets the extractor read records of text, if the framing has such: rows of csv, whose header may
 * be NULL, and JSON objects in lines. A callback is called instead in any framing. Errors: as
 * text_source_init; INVALID for counted features. */
recmap_status extractor_use_text(struct extractor *extractor, const struct framing *framing,
                                 const char *header, size_t header_size, recmap_error *error);

/* Returns true if the extractor would read records of this framing as text; or if it does. */
bool extractor_may_read_text(const struct extractor *extractor, const struct framing *framing);
bool extractor_reads_text(const struct extractor *extractor);

/* Sets the type of a column of text, unless it is known. */
void extractor_set_type(struct extractor *extractor, size_t column, recmap_type type);

/* Widens `types`, one for each column and NONE at first, to hold the values of a record of text:
 * integers and other numbers are FLOAT64, and numbers and texts in rows are BYTES. Ignores a record
 * that cannot be read. */
void extractor_widen_types(recmap_type *types, const struct extractor *extractor,
                           const uint8_t *data, size_t size);

bool extractor_has_ids(const struct extractor *extractor);
size_t extractor_column_count(const struct extractor *extractor);
size_t extractor_counted_count(const struct extractor *extractor);

/* Adds id, columns and counts of the run's last record. The error has no place. After FEATURE,
 * run->is_malformed says whether the record alone is at fault: a row with another number of fields,
 * or a value that is not of its type. A column whose records have different types is not.
 * Errors: FEATURE, NO_MEMORY, or what the callback returned. */
recmap_status extractor_lift(const struct extractor *extractor, struct record_run *run,
                             const uint8_t *data, size_t size, recmap_error *error);

/* Room for the bytes of an id that a record of text does not contain as they are. */
struct id_room {
    uint8_t bytes[4096];
};

/* The id of a record that extractor_lift has read before; type NONE if it has none. Values of other
 * features may be left unread, so that what is malformed in them need not be noticed. Its bytes are
 * in the record or in `room`. Errors: as above. */
recmap_status extractor_read_id(recmap_value *id, struct id_room *room,
                                const struct extractor *extractor, const uint8_t *data, size_t size,
                                recmap_error *error);

#endif
