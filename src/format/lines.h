/* A record a line: all bytes up to LF, CR LF, or the file's end behind the last of them. Empty
 * lines are records; any other byte is data. Pure. */
#ifndef RECMAP_FORMAT_LINES_H
#define RECMAP_FORMAT_LINES_H

#include "format/framing.h"

extern const struct framing lines_framing;

#endif
