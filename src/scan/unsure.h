/* Stretches of a compressed shard's image that no checksum vouches for. Where records have no
 * checks of their own, none that lies in such a stretch can be trusted: they are taken back, and
 * the stretch is damage. */
#ifndef RECMAP_SCAN_UNSURE_H
#define RECMAP_SCAN_UNSURE_H

#include "scan/scanner.h"

/* Ascending. */
struct unsure_list {
    struct scan_damage *at;
    size_t count;
    size_t capacity;
};

/* False when memory is out. */
bool unsure_add(struct unsure_list *list, uint64_t begin, uint64_t end, const char *reason);
void unsure_free(struct unsure_list *list);

/* Takes back what was found in these stretches of an image of that size, and frees the list. */
void unsure_take_back(struct scan_findings *findings, struct unsure_list *list,
                      const struct framing *framing, uint64_t image_size);

#endif
