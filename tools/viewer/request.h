/* An HTTP request, parsed strictly. The parser accepts what browsers send to read a page, and
 * nothing else: GET and HEAD without a body. */
#ifndef RECMAP_TOOLS_VIEWER_REQUEST_H
#define RECMAP_TOOLS_VIEWER_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits on a request: its bytes, and its header lines. */
enum { REQUEST_SIZE_MAX = 16 << 10, REQUEST_HEADERS_MAX = 100 };

/* Bytes of the request, not NUL-terminated. `data` is NULL if the request does not have them. */
struct request_text {
    const char *data;
    size_t size;
};

struct request {
    bool is_head;             /* HEAD: the reply has no body */
    struct request_text path; /* from the first slash up to the query; not decoded */
    struct request_text query;
    struct request_text host;
    struct request_text origin;
    struct request_text fetch_site; /* Sec-Fetch-Site, which browsers set and pages cannot */
    struct request_text fetch_mode;
    struct request_text fetch_dest;
};

/* Parses the bytes received so far. Returns 0 if the request is not complete; 200 if it is; or the
 * HTTP status of an error. The request borrows the bytes. */
int request_parse(struct request *request, const char *data, size_t size);

bool request_text_equals(struct request_text text, const char *word);

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
