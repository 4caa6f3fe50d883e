/* What the pages of recmap view show: an open view, and answers to requests about it. */
#ifndef RECMAP_TOOLS_VIEWER_VIEWER_H
#define RECMAP_TOOLS_VIEWER_VIEWER_H

#include "viewer/listing.h"
#include "viewer/page_json.h"
#include "viewer/reply.h"

struct viewer {
    struct view view;
    struct search_cache searches;
    recmap_batch *batch; /* the records of the rows shown last */
};

/* The viewer owns the view, which is open. Deinit also after an error. Errors: NO_MEMORY. */
recmap_status viewer_init(struct viewer *viewer, recmap_error *error);
void viewer_deinit(struct viewer *viewer);

/* Answers a request for a resource: a part of the page, or data as JSON, pictures or sounds.
 * Nothing else is served; no file is opened. `context` is the viewer. */
void viewer_answer(void *context, struct reply *reply, const char *resource,
                   const struct request *request);

/* Continues the search for the last filter. Returns whether more is left. `context` is the viewer.
 */
bool viewer_continue(void *context);

/* ---- The answers. Each writes its JSON, or fails. */

/* About the data set: counts, columns, ids. */
recmap_status viewer_write_info(struct viewer *viewer, struct page_json *json,
                                const struct request *request, recmap_error *error);

/* Fields `first`, `count` and the fields of a listing: rows of the table. */
recmap_status viewer_write_rows(struct viewer *viewer, struct page_json *json,
                                const struct request *request, recmap_error *error);

/* Field `number`: one record, with its features. */
recmap_status viewer_write_record(struct viewer *viewer, struct page_json *json,
                                  const struct request *request, recmap_error *error);

/* Fields `number` and `first`: bytes of the record. */
recmap_status viewer_write_hex(struct viewer *viewer, struct page_json *json,
                               const struct request *request, recmap_error *error);

/* Field `id` or `number`, and the fields of a listing: the records with that id, and their rows. */
recmap_status viewer_write_matches(struct viewer *viewer, struct page_json *json,
                                   const struct request *request, recmap_error *error);

/* Fields `first` and `count`: damaged places that the index lists. */
recmap_status viewer_write_damage(struct viewer *viewer, struct page_json *json,
                                  const struct request *request, recmap_error *error);

/* Fields `number`, and perhaps `part` and `value`: a picture or sound. The reply's type is set. */
recmap_status viewer_write_media(struct viewer *viewer, struct reply *reply,
                                 const struct request *request, recmap_error *error);

/* ---- Shared by the answers. */

/* Reads a number of a request, up to `limit`. Errors: INVALID, also if it is missing and
 * `is_required`; otherwise it keeps its value then. */
recmap_status viewer_get_number(uint64_t *number, const struct request *request, const char *name,
                                bool is_required, uint64_t limit, recmap_error *error);

/* Reads the record that field `number` names; the caller releases it. Errors: INVALID; those of
 * recmap_dataset_get; UNSUPPORTED for a record that is too large to show. */
recmap_status viewer_get_record(recmap_record *record, struct viewer *viewer,
                                const struct request *request, recmap_error *error);

/* Writes the member "search" of an object, if the filter of a listing has not been compared with
 * all records: how far the search is. */
void viewer_write_search(struct page_json *json, const struct listing *listing);

/* Writes an array of the record's values in the lifted columns other than "@length". */
recmap_status viewer_write_values(struct viewer *viewer, struct page_json *json, uint64_t number,
                                  size_t limit, recmap_error *error);

enum { COLUMNS_SHOWN_MAX = 64 };

#endif
