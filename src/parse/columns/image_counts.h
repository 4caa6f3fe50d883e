/* Counts of the pictures that were decoded, for statistics. */
#ifndef RECMAP_PARSE_COLUMNS_IMAGE_COUNTS_H
#define RECMAP_PARSE_COLUMNS_IMAGE_COUNTS_H

#include <stdint.h>

struct image_counts {
    uint64_t (*clock_ns)(
        void);          /* the caller's, because parsing has none; NULL: time is not taken */
    uint64_t decode_ns; /* of all pictures, also of those that failed */
    uint64_t decoded_count;
    uint64_t failed_count;
    uint64_t warning_count; /* of the decoded pictures, those that a decoder found faults in */
};

/* The time by the counts' clock, or 0. */
static inline uint64_t image_counts_now(const struct image_counts *counts) {
    return counts->clock_ns ? counts->clock_ns() : 0;
}

#endif
