/* Natural order of names: runs of digits compare as numbers: part-2 comes before part-10. */
#ifndef RECMAP_BASE_NATURAL_H
#define RECMAP_BASE_NATURAL_H

/* Below, equal to or above 0, as strcmp. Digits of any length are taken; of two equal numbers the
 * one with fewer leading zeros comes first; all else compares byte by byte. A total order: only
 * equal names give 0. */
int natural_compare(const char *a, const char *b);

#endif
