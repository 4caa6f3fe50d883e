/* Reads one page of a listing: the XML that S3 (ListObjectsV2) and Azure (List Blobs) send. Pure.
 *
 * Only what such replies contain is understood: elements, text, character references, comments and
 * processing instructions. A document type, and anything malformed, is an error. */
#ifndef RECMAP_STORAGE_PROTOCOL_LIST_REPLY_H
#define RECMAP_STORAGE_PROTOCOL_LIST_REPLY_H

#include <stdbool.h>
#include <stddef.h>

/* The names of the elements. */
struct list_dialect {
    const char *root; /* the outermost */
    const char *item; /* the element of one object */
    const char *name; /* within it */
    const char *next; /* the token of the next page */
    const char *more; /* `true` if there is a next page; NULL: only the token says so */
};

extern const struct list_dialect list_dialect_s3, list_dialect_azure;

/* LIST_INCOMPLETE: the page says that there is a next one, but has no token to request it. */
enum list_verdict { LIST_OK, LIST_MALFORMED, LIST_INCOMPLETE, LIST_NO_MEMORY };

struct list_page {
    char **names; /* each malloc'ed; so are the array and `next` */
    size_t count;
    size_t capacity;
    char *next; /* NULL: this is the last page */
    bool has_more;
};

/* Reads the page into a zeroed struct, which the caller deinitialises whatever the result. */
enum list_verdict list_page_read(struct list_page *page, const struct list_dialect *dialect,
                                 const char *text, size_t size);
void list_page_deinit(struct list_page *page);

/* Returns true if the text begins with the outermost element of a list and ends before the end of
 * that element, as if the connection had ended early. */
bool list_is_cut(const struct list_dialect *dialect, const char *text, size_t size);

#endif
