/* Decodes a stretch of the elements of a record into a row. */
#ifndef RECMAP_SLICES_CUT_H
#define RECMAP_SLICES_CUT_H

#include "dataset/list_marks.h"
#include "slices/find.h"

/* Which elements of a record, and which of the row they become. */
struct stretch {
    uint64_t first;
    uint64_t count; /* above 0 */
    uint64_t total; /* elements of the record; the list must have as many */
    uint64_t place; /* index of the first element in the sink */
};

/* Decodes the stretch. Values up to VARINTS_SLACK bytes past it may be overwritten, so stretches
 * must be cut in ascending places. Returns false if the values are not as the slot needs them; what
 * is wrong is found by reading the whole record. */
bool slice_cut(struct sink *sink, const struct slice_plan *slice, const struct slice_span *span,
               const struct stretch *stretch, const recmap_record *record,
               struct list_marks_cache *marks);

#endif
