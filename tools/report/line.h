/* Which numbers of a long feature a small line shows. */
#ifndef RECMAP_TOOLS_REPORT_LINE_H
#define RECMAP_TOOLS_REPORT_LINE_H

#include <stddef.h>

#include <recmap/example.h>

enum { LINE_PARTS = 60, LINE_POINTS_MAX = 2 * LINE_PARTS };

/* Sets `places` to the indexes of the numbers to show, and returns how many there are. These are
 * all numbers, or if there are more than LINE_POINTS_MAX, the minimum and maximum of each of
 * LINE_PARTS equal parts, in their order. Numbers that are not finite count only in parts without
 * others. */
size_t line_choose(size_t places[LINE_POINTS_MAX], const recmap_example_part *part);

#endif
