/* Natural order of names: runs of digits compare as numbers, so part-2 precedes part-10. */
#ifndef RECMAP_BASE_TEXT_NATURAL_H
#define RECMAP_BASE_TEXT_NATURAL_H

/* Returns a value below, equal to or above 0, like strcmp. Runs of digits may have any length; of
 * two equal numbers the one with fewer leading zeros comes first; everything else compares byte by
 * byte. This is a total order: only equal names give 0. */
int natural_compare(const char *a, const char *b);

#endif
