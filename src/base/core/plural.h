/* The ending of an English noun after a number: "%zu record%s", count, plural(count). */
#ifndef RECMAP_BASE_CORE_PLURAL_H
#define RECMAP_BASE_CORE_PLURAL_H

#include <stdint.h>

static inline const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

#endif
