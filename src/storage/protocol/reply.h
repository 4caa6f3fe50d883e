/* Interpreting the reply to a request for a range of an object. Pure.
 *
 * Some servers ignore ranges or conditions, and caches in between may mix versions of an object. So
 * nothing is taken from a body before its headers were checked: only a reply that names exactly the
 * requested bytes of exactly the expected object is good. */
#ifndef RECMAP_STORAGE_PROTOCOL_REPLY_H
#define RECMAP_STORAGE_PROTOCOL_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ETAG_MAX = 256, CODE_MAX = 96, REGION_MAX = 64, QUOTE_MAX = 128 };

#define REPLY_NO_SIZE UINT64_MAX
#define REPLY_NO_TIME INT64_MIN

/* The headers of a reply that matter. */
struct reply {
    long status;
    bool has_range;
    uint64_t range_begin, range_end; /* of Content-Range; the end is exclusive */
    uint64_t range_total;            /* the object's size, or REPLY_NO_SIZE */
    uint64_t content_length;         /* or REPLY_NO_SIZE */
    bool is_encoded;                 /* Content-Encoding is set: the body is not the object */
    bool is_malformed;               /* a header above cannot be understood, or is too long */
    char etag[ETAG_MAX];             /* with its quotes; "" without */
    int64_t modified;                /* Last-Modified in seconds since 1970, or REPLY_NO_TIME */
    uint64_t retry_after;            /* seconds; 0 without */
    char region[REGION_MAX];         /* x-amz-bucket-region; "" without */
};

/* Forgets all headers. Called before the first line, and for each further reply of a redirect. */
void reply_reset(struct reply *reply);

/* Adds one header line. Lines that do not matter are ignored. */
void reply_add_header(struct reply *reply, const char *line, size_t size);

/* What was requested, and which object is expected. */
struct range_request {
    uint64_t offset;
    uint64_t size;        /* at least 1 */
    bool accepts_shorter; /* the object may end in the range; its size is not known yet */
    uint64_t object_size; /* or REPLY_NO_SIZE */
    const char *etag;     /* "": not known */
    int64_t modified;     /* or REPLY_NO_TIME; compared only if there is no ETag */
};

enum reply_verdict {
    REPLY_GOOD,
    REPLY_EMPTY,   /* the object has no bytes: good if a shorter range is accepted */
    REPLY_CHANGED, /* another object, or another version of it */
    REPLY_MISSING,
    REPLY_DENIED,
    REPLY_REDIRECTED, /* for the caller to explain: redirects are not followed here */
    REPLY_UNUSABLE,   /* the server does not do what was asked: repeating the request is useless */
    REPLY_TRY_AGAIN,
    REPLY_ODD, /* not a reply to the request: a proxy, a cache or one of many servers may have
                  failed once, so the request is repeated, but the server may also never do what was
                  asked */
};

/* Judges a reply by its status and headers. `reason` is a static text for every other verdict than
 * GOOD. For GOOD, `body_size` is the size that the body must have. */
enum reply_verdict reply_check(uint64_t *body_size, const char **reason, const struct reply *reply,
                               const struct range_request *request);

/* Copies the code from the body of an error, as S3 and Azure send it: <Code>NoSuchKey</Code>. ""
 * if there is none, or if it is not made of letters, digits, `.` and `_`. */
void reply_find_code(char code[CODE_MAX], const char *body, size_t size);

/* Copies the first bytes of a body for a message. Those that are not ASCII are escaped. */
void reply_quote(char quote[QUOTE_MAX], const char *body, size_t size);

/* Parses an HTTP date such as "Sun, 06 Nov 1994 08:49:37 GMT". Returns REPLY_NO_TIME if the text is
 * not one, or if the year is later than 2261: nanoseconds since 1970 must fit into 64 bits. */
int64_t reply_parse_date(const char *text, size_t size);

/* Returns true if a text may be an ETag: it is shorter than ETAG_MAX, and has no control
 * characters, which would end the header line that the ETag is sent in. */
bool etag_is_valid(const char *etag);

/* Returns true if an ETag may be used in If-Match, which accepts strong ones only. */
bool etag_is_strong(const char *etag);

/* The reason of a reply without an ETag, for an object that had one. */
extern const char reply_lacks_etag[];

#endif
