/* URLs in messages and logs. */
#ifndef RECMAP_BASE_CORE_REDACT_H
#define RECMAP_BASE_CORE_REDACT_H

#include <stddef.h>

/* Copies a text that is, or ends with, a URL, without what may be a secret in it: user information,
 * the query and the fragment. Keys of object stores and files of HDFS may have `#` and `?` in their
 * names, so there a query is one only if it has `=`. Accepts any text. Truncates to `capacity`,
 * which includes the NUL.
 *
 * Errors do this with their paths (error.h); other messages must call it themselves. */
void redact_url(char *safe_text, size_t capacity, const char *text);

#endif
