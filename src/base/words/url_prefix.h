/* Which names are URLs. Pure. */
#ifndef RECMAP_BASE_WORDS_URL_PREFIX_H
#define RECMAP_BASE_WORDS_URL_PREFIX_H

#include <stdbool.h>
#include <stddef.h>

/* The size of the scheme with "://" at the beginning of a URL; 0 if the name is not a URL. */
size_t url_prefix_size(const char *name);

/* Returns true if the name looks like a URL: lower-case letters and digits, then "://". Of any
 * scheme, so that an unknown one is reported as such. */
bool url_is_url(const char *name);

#endif
