/* Verifies the records of a selection. */
#ifndef RECMAP_TOOLS_RECORDS_VERIFY_VIEW_H
#define RECMAP_TOOLS_RECORDS_VERIFY_VIEW_H

#include "records/view.h"

/* Reads and checks every record of the view, and prints what is damaged and how many are good, as
 * text or as one JSON document. Returns the exit status: 1 if a record is damaged. `path` names the
 * selection. */
int verify_view(const struct view *view, const char *path, bool as_json);

#endif
