/* How near two names are, to find what a misspelt name may mean. Pure. */
#ifndef RECMAP_BASE_TEXT_NEAR_NAME_H
#define RECMAP_BASE_TEXT_NEAR_NAME_H

#include <stddef.h>

/* Longer names are near no name. */
enum { NEAR_NAME_MAX = 64 };

/* The number of bytes to insert, remove or replace to make one name the other, ignoring the case of
 * ASCII letters. SIZE_MAX if the names probably do not mean the same: one byte may differ, from 5
 * bytes on two (two swapped letters count as two), and from 9 bytes on every third. */
size_t near_name_distance(const char *a, size_t a_size, const char *b, size_t b_size);

#endif
