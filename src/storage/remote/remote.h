/* Objects in remote stores, as sources. */
#ifndef RECMAP_STORAGE_REMOTE_REMOTE_H
#define RECMAP_STORAGE_REMOTE_REMOTE_H

#include "base/os/list.h"
#include "base/os/source.h"
#include "storage/remote/remote_identity.h"
#include "storage/remote/storage.h"

/* Opens an object. With `expected`, no request is made: each read then compares the object with
 * `expected`, and returns STALE if it is another one. With NULL, one request finds out size, time
 * and ETag, and later reads expect them. Holds a reference to the storage. Errors: as
 * transfer_run. */
recmap_status remote_open(struct source **source, recmap_storage *storage, const char *url,
                          const struct remote_identity *expected, recmap_error *error);

/* Adds the URLs of the objects that a pattern (* ? [..] **) matches, or, if the URL ends with a
 * slash or has no key, of the objects in that folder whose names pass `filter`. No match is not an
 * error. Errors: INVALID (the store has no lists), and as transfer_run. */
recmap_status remote_list(struct path_list *list, recmap_storage *storage, const char *pattern,
                          path_filter filter, recmap_error *error);

/* The last part of a URL's path: the name of the object within its folder. */
const char *remote_name(const char *url);

/* The error of a text that is not a URL that the storage reads, or OK. The storage may be NULL. */
recmap_status remote_check_url(const char *url, const recmap_storage *storage, recmap_error *error);

#endif
