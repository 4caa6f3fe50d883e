/* One small HTTP request to a service that issues credentials. */
#ifndef RECMAP_STORAGE_CREDENTIALS_EXCHANGE_H
#define RECMAP_STORAGE_CREDENTIALS_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include <recmap/status.h>

#include "storage/credentials/storage_options.h"

enum { EXCHANGE_HEADERS_MAX = 4, EXCHANGE_BODY_MAX = 64 << 10 };

struct exchange_request {
    const char *method; /* GET, PUT or POST */
    const char *url;
    const char *headers[EXCHANGE_HEADERS_MAX]; /* "Name: value"; NULL: none */
    const char *body;                          /* of a POST */
    bool is_local; /* the service of this machine or container: no proxy, short timeouts, and a
                      link-local address is connected to */
};

struct exchange_reply {
    long status; /* 0: no reply; `reason` says why */
    char reason[128];
    char body[EXCHANGE_BODY_MAX + 1]; /* ends with a NUL */
    size_t size;
};

/* Makes a request once, with the proxy and the authorities of the options. Redirects are not
 * followed. A reply that is too long, or that does not arrive, has the status 0. The reply may
 * contain secrets: erase it after use.
 * Errors: CANCELLED, NO_MEMORY, UNSUPPORTED (libcurl is missing). */
typedef recmap_status exchange_function(struct exchange_reply *reply,
                                        const struct exchange_request *request,
                                        const struct storage_options *options, recmap_error *error);

#endif
