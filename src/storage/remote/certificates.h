/* The certificate authorities of the machine.
 *
 * A distribution's libcurl knows where they are. One that is linked into a wheel runs on any
 * distribution, so it must look for them. */
#ifndef RECMAP_STORAGE_REMOTE_CERTIFICATES_H
#define RECMAP_STORAGE_REMOTE_CERTIFICATES_H

#include <stddef.h>

/* The usual places of a bundle: Debian, Fedora, openSUSE and Alpine. Ends with NULL. */
extern const char *const certificates_places[];

/* Returns the first of the places that exists, NULL if none does. */
const char *certificates_find(const char *const *places);

#endif
