/* Checks of spans while a shard is inflated: CRCs of the bytes between seek points. Checks are
 * stored with the points that the scan takes, or compared with an index's. */
#ifndef RECMAP_INDEX_SCAN_SPAN_CHECKS_H
#define RECMAP_INDEX_SCAN_SPAN_CHECKS_H

#include "index/tables/points.h"

struct span_checks {
    struct point_list *points;      /* taken so far, to which checks are added */
    const struct point_list *known; /* the points of an index, whose checks are compared; or NULL */
    uint64_t known_size;            /* of the image, if `known` is set */
    size_t span_index;              /* the current span */
    uint64_t checked_size;          /* bytes of it that its checks cover so far */
    uint32_t check;                 /* of the bytes since the last multiple of SPAN_CHECKED_SIZE */
    bool is_changed;                /* one of its checks differs from the index */
    bool lacks_memory;              /* a check could not be stored */
};

/* Continues with another span, from its first byte. */
void span_checks_enter(struct span_checks *checks, size_t span_index);

/* Where the current span begins in the image. */
uint64_t span_checks_span_begin(const struct span_checks *checks);

/* Adds bytes that were just inflated, from byte `offset` of the image. Bytes past a point of the
 * index are left out: the scan inflates them again from that point. */
void span_checks_add(struct span_checks *checks, uint64_t offset, const uint8_t *bytes,
                     size_t size);

/* Returns true if the current span, which ends here, inflates to what was indexed. Without an index
 * there is nothing to compare. */
bool span_checks_match(struct span_checks *checks);

/* The image of `size` bytes is complete, and with it the checks of the last spans. Returns false if
 * memory is out. */
bool span_checks_finish(struct span_checks *checks, uint64_t size);

#endif
