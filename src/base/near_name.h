/* How near two names are, to find what a misspelt name may mean. */
#ifndef RECMAP_BASE_NEAR_NAME_H
#define RECMAP_BASE_NEAR_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Longer names are near no name. */
enum { NEAR_NAME_MAX = 64 };

/* The number of bytes to insert, remove or replace to make one name the other, ignoring the case of
 * ASCII letters. SIZE_MAX if a name is too long. */
size_t near_name_distance(const char *a, size_t a_size, const char *b, size_t b_size);

/* Returns whether names at this distance probably mean the same: one byte may differ, from 5 bytes
 * on two (two swapped letters count as two), and from 9 bytes on every third. */
bool near_name_is_near(size_t distance, size_t a_size, size_t b_size);

#endif
