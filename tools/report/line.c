#include "report/line.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static bool is_finite(const recmap_example_part *part, size_t index) {
    return part->int64s || isfinite(part->floats[index]);
}

/* Returns true if number a is below number b. Numbers that are not finite are below none. */
static bool is_below(const recmap_example_part *part, size_t a, size_t b) {
    if (!is_finite(part, a)) return false;
    if (!is_finite(part, b)) return true;
    return part->int64s ? part->int64s[a] < part->int64s[b] : part->floats[a] < part->floats[b];
}

static bool is_above(const recmap_example_part *part, size_t a, size_t b) {
    return is_finite(part, a) && (!is_finite(part, b) || is_below(part, b, a));
}

size_t line_choose(size_t places[LINE_POINTS_MAX], const recmap_example_part *part) {
    size_t count = 0;
    if (part->count <= LINE_POINTS_MAX) {
        for (; count < part->count; count++) places[count] = count;
        return count;
    }
    for (size_t i = 0; i < LINE_PARTS; i++) {
        size_t first = part->count / LINE_PARTS * i + part->count % LINE_PARTS * i / LINE_PARTS;
        size_t end = part->count / LINE_PARTS * (i + 1) +
                     part->count % LINE_PARTS * (i + 1) / LINE_PARTS;
        size_t min = first, max = first;
        for (size_t at = first + 1; at < end; at++) {
            if (is_below(part, at, min)) min = at;
            if (is_above(part, at, max)) max = at;
        }
        places[count++] = min < max ? min : max;
        places[count++] = min < max ? max : min;
    }
    return count;
}
