#include "base/words/near_name.h"

#include <stdbool.h>

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same(char a, char b) {
    return lower(a) == lower(b);
}

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The largest distance of two names that probably mean the same. */
static size_t distance_limit(size_t longer_size) {
    return longer_size < 2 ? 0 : longer_size < 5 ? 1 : longer_size < 9 ? 2 : longer_size / 3;
}

/* Fills in the table of distances between the prefixes of `a` and of `b` row by row, and keeps
 * three rows of it: the row of the first i + 1 bytes of `a` needs the two above it. */
size_t near_name_distance(const char *a, size_t a_size, const char *b, size_t b_size) {
    size_t rows[3][NEAR_NAME_MAX + 1];
    if (a_size > NEAR_NAME_MAX || b_size > NEAR_NAME_MAX) return SIZE_MAX;
    for (size_t j = 0; j <= b_size; j++) rows[0][j] = j;
    for (size_t i = 0; i < a_size; i++) {
        const size_t *swapped = rows[(i + 2) % 3], *above = rows[i % 3];
        size_t *row = rows[(i + 1) % 3];
        row[0] = i + 1;
        for (size_t j = 0; j < b_size; j++) {
            size_t replaced = above[j] + !is_same(a[i], b[j]);
            row[j + 1] = min(replaced, 1 + min(row[j], above[j + 1]));
            if (i && j && is_same(a[i], b[j - 1]) && is_same(a[i - 1], b[j]))
                row[j + 1] = min(row[j + 1], 1 + swapped[j - 1]);
        }
    }
    size_t limit = distance_limit(a_size > b_size ? a_size : b_size);
    size_t distance = rows[a_size % 3][b_size];
    return distance <= limit ? distance : SIZE_MAX;
}

void near_name_offer(struct near_name *nearest, const char *wanted, size_t wanted_size,
                     const char *name, size_t size) {
    size_t distance = near_name_distance(wanted, wanted_size, name, size);
    if (distance < nearest->distance) *nearest = (struct near_name){name, size, distance};
}
