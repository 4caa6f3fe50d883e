/* The draws of random images. */
#ifndef RECMAP_PARSE_COLUMNS_DRAWS_H
#define RECMAP_PARSE_COLUMNS_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

/* What random images depend on besides the record. */
struct columns_draws {
    bool is_set;
    uint64_t seed;
    uint64_t epoch;
    const uint64_t *positions; /* of the rows; NULL: positions do not count */
    const uint64_t *numbers;   /* of the rows; NULL: those of their records */
};

#endif
