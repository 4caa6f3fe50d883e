/* Reads the files of the AWS command line tools: sections of `name = value` lines. Pure. */
#ifndef RECMAP_STORAGE_PROTOCOL_PROFILE_H
#define RECMAP_STORAGE_PROTOCOL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

/* Finds a value in the section [profile] or [profile PROFILE]. Returns a pointer into the text and
 * sets `size`; NULL if there is no such value. `has_section` is set if the section exists. */
const char *profile_find(size_t *size, bool *has_section, const char *text, const char *profile,
                         const char *name);

#endif
