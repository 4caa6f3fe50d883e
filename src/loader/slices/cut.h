/* Decodes a stretch of the elements of a record into a row. */
#ifndef RECMAP_LOADER_SLICES_CUT_H
#define RECMAP_LOADER_SLICES_CUT_H

#include <recmap/rows.h>

#include "dataset/long_records/list_marks.h"
#include "dataset/long_records/record_layouts.h"
#include "loader/slices/find.h"

/* Which elements of a record, and which of the row they become. */
struct stretch {
    uint64_t first;
    uint64_t count; /* above 0 */
    uint64_t total; /* elements of the record; the list must have as many */
    uint64_t place; /* index of the first element in the sink */
};

/* Which elements of its record a piece consists of, apart from those that the feature adds. The
 * place is the one in the piece. Returns false if there are none. */
bool stretch_of_piece(struct stretch *stretch, const recmap_piece *piece,
                      const recmap_feature *feature);

/* The bytes of a list that are there, if not all of them are. */
struct list_start {
    uint64_t offset; /* in the list: where value number `value` starts */
    uint64_t value;  /* of a feature list: step */
    uint64_t end;
};

/* Finds what must be there of a list to cut a stretch from it. Returns false if that is not known.
 */
bool slice_locate(struct list_start *start, const struct slice_plan *slice,
                  const struct list_place *list, const struct stretch *stretch, uint64_t record,
                  struct list_marks_cache *marks);

/* Decodes the stretch; `start` is NULL if the whole record is there. Values up to VARINTS_SLACK
 * bytes past it may be overwritten, so stretches must be cut in ascending places. Returns false if
 * the values are not as the slot needs them; what is wrong is found by reading the whole record. */
bool slice_cut(struct sink *sink, const struct slice_plan *slice, const struct slice_span *span,
               const struct stretch *stretch, const struct list_start *start,
               const recmap_record *record, struct list_marks_cache *marks);

#endif
