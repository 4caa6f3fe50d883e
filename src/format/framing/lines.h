/* One record per line. A line ends at LF, at CR LF or at the end of the file. Empty lines are
 * records; every other byte is data. Pure. */
#ifndef RECMAP_FORMAT_FRAMING_LINES_H
#define RECMAP_FORMAT_FRAMING_LINES_H

#include "format/framing/framing.h"

extern const struct framing lines_framing;

#endif
