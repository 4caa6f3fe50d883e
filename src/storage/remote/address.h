/* Turns the URL of an object into the HTTP request that reads it, as each store expects it. */
#ifndef RECMAP_STORAGE_REMOTE_ADDRESS_H
#define RECMAP_STORAGE_REMOTE_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

#include "storage/credentials/storage_options.h"
#include "storage/protocol/signature.h"
#include "storage/protocol/url.h"

enum { ADDRESS_MAX = 3 * URL_MAX + 2048, HOST_MAX = 320, HEADERS_MAX = 6 };

struct address {
    char url[ADDRESS_MAX]; /* SCHEME://HOST/PATH?QUERY, percent-encoded */
    char host[HOST_MAX];   /* with the port unless it is the scheme's */
    size_t path_offset;    /* in `url`, of the slash after the host */
    size_t query_offset;   /* in `url`, after the `?`; its size if there is no query */
    enum url_scheme scheme;
    bool is_listing;
};

/* The address of an object. Errors: INVALID, naming what must be configured. */
recmap_status address_of_object(struct address *address, const struct storage_options *options,
                                const struct url *url, recmap_error *error);

/* Adds the query of a presigned URL to the address of an object. Errors: INVALID (too long). */
recmap_status address_add_query(struct address *address, const char *query, recmap_error *error);

/* The address that lists one page of the objects whose keys begin with `prefix`. With `is_flat`,
 * those with another slash after the prefix are left out. `next` is the token of the page; NULL:
 * the first one. */
recmap_status address_of_listing(struct address *address, const struct storage_options *options,
                                 const struct url *url, const char *prefix, size_t prefix_size,
                                 bool is_flat, const char *next, recmap_error *error);

/* The headers that authorise a request at a time, in seconds since 1970: "Name: value" lines. */
struct authorization {
    char lines[HEADERS_MAX][AUTHORIZATION_MAX + 4096];
    size_t count;
};

/* `kept` is the key that signed the request before, or NULL. Errors: INVALID if credentials are
 * missing. */
recmap_status address_authorize(struct authorization *authorization, const struct address *address,
                                const struct storage_options *options, struct signing_key *kept,
                                int64_t seconds, recmap_error *error);

/* Overwrites the headers, which contain credentials. */
void authorization_erase(struct authorization *authorization);

#endif
