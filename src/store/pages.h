/* The structural check of LMDB's file, before LMDB sees it: LMDB trusts every number in its pages,
 * and a forged one can make it read anywhere. Nothing of a value is read but where it lies.
 *
 * Checked are both meta pages, and of the newer one's trees (the table of tables, and the six
 * tables) every page: that it lies in the file, belongs to one place of one tree, is of the kind
 * and level that it should be, holds nodes within its bounds and keys in order; that large values
 * lie in runs of pages of their own; and that all counts are right. The list of free pages is left
 * alone: nobody reads it. */
#ifndef RECMAP_STORE_PAGES_H
#define RECMAP_STORE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

#include "store/store.h"

/* Where pages come from: an open file, or bytes. */
struct page_source {
    const uint8_t *data; /* the whole file, or NULL: read through `fd` */
    int fd;
    uint64_t size;    /* of LMDB's pages, the seal left out */
    const char *path; /* for errors */
};

/* A value as it stands in the file, its head included. */
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

/* Checks the pages, of a size that a seal may have, and lists the values. Every listed value lies
 * within the source and has at least the size of its head.
 * Errors: CORRUPT naming what is wrong and at which byte; IO, NO_MEMORY.
 * Cost: one read a tree page; memory for the listing, a bit a page and a page a level. */
recmap_status pages_check(struct page_listing *listing, const struct page_source *source,
                          uint32_t page_size, recmap_error *error);

void page_listing_free(struct page_listing *listing);

#endif
