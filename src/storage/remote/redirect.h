/* Where libcurl may go: protocols, and the targets of redirects. */
#ifndef RECMAP_STORAGE_REMOTE_REDIRECT_H
#define RECMAP_STORAGE_REMOTE_REDIRECT_H

#include "storage/remote/curl_library.h"

#include <stdbool.h>

/* Allows HTTP and HTTPS only; redirects from HTTPS lead to HTTPS. */
void redirect_limit_protocols(CURL *easy, bool is_https);

/* Returns true if a line of the reply's headers redirects to an address that is not connected to
 * (blocked.h), or to a URL that cannot be parsed. */
bool redirect_is_blocked(CURL *easy, const char *line, size_t size);

#endif
