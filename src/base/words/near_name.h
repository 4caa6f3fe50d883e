/* How near two names are, to find what a misspelt name may mean. Pure. */
#ifndef RECMAP_BASE_WORDS_NEAR_NAME_H
#define RECMAP_BASE_WORDS_NEAR_NAME_H

#include <stddef.h>
#include <stdint.h>

/* Longer names are near no name. */
enum { NEAR_NAME_MAX = 64 };

/* The number of bytes to insert, remove or replace, and of neighbours to swap, to make one name the
 * other, ignoring the case of ASCII letters. SIZE_MAX if the names probably do not mean the same:
 * from 2 bytes on one change is allowed, from 5 bytes on two, and from 9 bytes on one for each
 * three bytes. */
size_t near_name_distance(const char *a, size_t a_size, const char *b, size_t b_size);

/* The nearest of the names offered so far; its `name` is NULL if none is near. */
struct near_name {
    const char *name;
    size_t size, distance;
};
#define NEAR_NAME_INIT                                                                             \
    { NULL, 0, SIZE_MAX }

/* Keeps `name`, which is borrowed, if it is nearer to `wanted` than all names offered before. */
void near_name_offer(struct near_name *nearest, const char *wanted, size_t wanted_size,
                     const char *name, size_t size);

#endif
