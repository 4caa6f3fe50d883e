/* The structural check of LMDB's file, which also locates all values. It takes the place of LMDB
 * when an index is read: LMDB trusts every number in its pages, so a damaged or forged page number,
 * size or offset makes it read, or follow pointers, outside of the file. Values are located, not
 * read.
 *
 * Checked are both meta pages, and every page of the trees that the newer one names (the table of
 * tables, and the tables themselves): the page lies in the file, is part of one tree at one place,
 * has the expected kind and level, and holds nodes within its bounds and keys in order. Large
 * values have runs of pages of their own, and all counts match. The list of free pages is not
 * checked, because readers do not use it. */
#ifndef RECMAP_INDEX_STORE_PAGES_H
#define RECMAP_INDEX_STORE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

#include "index/store/store.h"

/* The source of pages: an open file, or bytes in memory. */
struct page_source {
    const uint8_t *data; /* the whole file; NULL: it is read through `fd` */
    int fd;
    uint64_t size;    /* of LMDB's pages, without the seal */
    const char *path; /* for errors */
};

/* A value in the file; offset and size include its prefix. */
struct page_value {
    struct store_key key;
    uint64_t offset;
    uint64_t size;
};

/* All values of a file, by table and key. */
struct page_listing {
    struct {
        struct page_value *values;
        size_t count;
        size_t capacity;
    } tables[STORE_TABLE_COUNT];
};

/* Checks the pages and lists the values. `page_size` comes from a seal that was decoded. Every
 * listed value lies within the source and is at least as large as its prefix.
 * Errors: CORRUPT naming what is wrong and at which byte; IO, NO_MEMORY.
 * Cost: one read per tree page; memory for the listing, a bit per page and a page per level. */
recmap_status pages_check(struct page_listing *listing, const struct page_source *source,
                          uint32_t page_size, recmap_error *error);

void page_listing_deinit(struct page_listing *listing);

#endif
