/* A record in one line of text, and its first picture. */
#ifndef RECMAP_TOOLS_VIEWER_PREVIEW_H
#define RECMAP_TOOLS_VIEWER_PREVIEW_H

#include <recmap/dataset.h>

#include "viewer/page_json.h"

/* Writes two members of an object: "preview", a string that shows the first features of a record,
 * or what its bytes are; and, if the record has a picture, "picture": {"part": N}, or {} if the
 * whole record is the picture. Errors: NO_MEMORY. */
recmap_status preview_write(struct page_json *json, const recmap_dataset *dataset,
                            const recmap_record *record, recmap_error *error);

#endif
