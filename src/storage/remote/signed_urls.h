/* Queries of web URLs, such as the signatures of presigned URLs. They are credentials: an index, a
 * message and a cache name an object without its query, and only requests add the query again.
 * Pure. */
#ifndef RECMAP_STORAGE_REMOTE_SIGNED_URLS_H
#define RECMAP_STORAGE_REMOTE_SIGNED_URLS_H

#include <stdbool.h>
#include <stddef.h>

#include <recmap/status.h>

/* A hash table of the queries by URL. All zeros: empty. */
struct signed_urls {
    char **entries; /* a URL without its query, NUL, the query, NUL; or NULL */
    size_t count;
    size_t capacity; /* a power of two, or 0 */
};

/* Returns true if the text is a web URL with a query. */
bool signed_url_is_signed(const char *text);

/* The size of a web URL without its query. */
size_t signed_url_bare_size(const char *url);

/* Adds a URL. A query that the table has for the same URL is replaced. No message quotes the query.
 * Errors: INVALID (not a web URL with a query), NO_MEMORY. */
recmap_status signed_urls_add(struct signed_urls *urls, const char *url, recmap_error *error);

/* The query of a URL, without the question mark; NULL if the table has none. */
const char *signed_urls_find(const struct signed_urls *urls, const char *url);

/* Overwrites and frees all queries. */
void signed_urls_deinit(struct signed_urls *urls);

#endif
