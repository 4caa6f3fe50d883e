/* A request as libmicrohttpd parsed it: its path, the headers that decide whether it is answered,
 * and the fields of its query. */
#ifndef RECMAP_TOOLS_VIEWER_REQUEST_H
#define RECMAP_TOOLS_VIEWER_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct MHD_Connection;

/* A header that the request does not have is NULL. */
struct request {
    struct MHD_Connection *connection;
    const char *path; /* up to the query; not decoded */
    const char *host;
    const char *origin;
    const char *fetch_site; /* Sec-Fetch-Site, which browsers set and pages cannot */
    const char *fetch_mode;
    const char *fetch_dest;
    const char *content_length;
    const char *transfer_encoding;
    bool is_ambiguous; /* one of these headers occurs twice: other programs might read the other */
};

void request_init(struct request *request, struct MHD_Connection *connection, const char *path);

/* What a field of the query is. */
enum request_field { FIELD_MISSING, FIELD_VALID, FIELD_INVALID };

/* Decodes a field of the query into `value`, a C string. INVALID if its escapes are malformed, if
 * it contains a NUL, or if it does not fit. */
enum request_field request_get_text(char *value, size_t capacity, const struct request *request,
                                    const char *name);

/* The same for a decimal number of up to 20 digits. INVALID also if it is above UINT64_MAX. */
enum request_field request_get_number(uint64_t *value, const struct request *request,
                                      const char *name);

#endif
