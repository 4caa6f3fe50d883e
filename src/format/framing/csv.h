/* One record per row of delimited text (RFC 4180). A row ends at an LF outside quotes, at CR LF or
 * at the end of the file. The record is the row without the line's end and without a byte order
 * mark before it. Empty rows are records. Unless the framing says otherwise, the first row of a
 * file names the fields and is not a record. Pure.
 *
 * Quotes are what base/text/fields.h reads: they open a field only at its start. */
#ifndef RECMAP_FORMAT_FRAMING_CSV_H
#define RECMAP_FORMAT_FRAMING_CSV_H

#include "format/framing/framing.h"

/* The maximum size of a row up to the end of its last quoted field. A quote that is not closed
 * within it, or before the end of the file, is damage. */
#define CSV_QUOTED_MAX (UINT64_C(64) << 20)

/* The framing named csv[:comma|tab|semicolon|pipe][,noquotes][,noheader]. Returns false if the name
 * is another one. */
bool csv_framing_init(struct framing *framing, const char *name);

bool framing_is_csv(const struct framing *framing);

#endif
