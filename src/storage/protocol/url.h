/* URLs of shards: which store an object is in, and its name there. Pure.
 *
 *     s3://BUCKET/KEY   gs://BUCKET/KEY   az://CONTAINER/BLOB   http://HOST/PATH https://HOST/PATH
 *
 * A key is used as it is written: nothing in it is decoded, and `?`, `#` and `%` are part of it. */
#ifndef RECMAP_STORAGE_PROTOCOL_URL_H
#define RECMAP_STORAGE_PROTOCOL_URL_H

#include <stdbool.h>
#include <stddef.h>

enum url_scheme { URL_HTTP, URL_HTTPS, URL_S3, URL_GS, URL_AZ };

enum { URL_MAX = 4096 };

/* The parts point into the parsed text. */
struct url {
    enum url_scheme scheme;
    const char *host; /* with port; the bucket or container of an object store */
    size_t host_size;
    const char *key; /* what follows the slash after the host; HTTP: still percent-encoded */
};

/* Returns NULL, or why the text is not a URL that recmap reads. */
const char *url_parse(struct url *url, const char *text);

/* As url_parse, for URLs of any scheme, which a client of the caller reads. Leaves `url->scheme`
 * unset. The host may be empty. */
const char *url_parse_any(struct url *url, const char *text);

/* Returns true if the store can list its objects. */
bool url_has_listing(enum url_scheme scheme);

/* Returns true if the URL is of Hadoop's file system, which only Python reads. */
bool url_is_hadoop(const char *text);

/* Returns true if nobody on the network can read what is sent to a web URL: it is `https://`, or
 * its host is this machine. */
bool url_is_private(const char *text);

/* Copies the host of a web URL as the header Host has it: with the port, unless it is the scheme's.
 * Sets `size` to the host's size in the text, from after `://` on. Returns false if it is empty or
 * too long. */
bool url_copy_host(char *host, size_t capacity, size_t *size, const char *text);

/* Appends `text` to a NUL-terminated buffer, percent-encoded as for a signature: all bytes but
 * letters, digits and -._~ (and / with `keeps_slash`). Returns false if the capacity does not
 * suffice. */
bool url_append_encoded(char *buffer, size_t capacity, const char *text, size_t size,
                        bool keeps_slash);

/* Appends plain text. Returns false if the capacity does not suffice. */
bool url_append(char *buffer, size_t capacity, const char *text, size_t size);

#endif
