#include "base/words/near_name.h"

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The largest distance of two names that probably mean the same. */
static size_t distance_limit(size_t longer_size) {
    return longer_size < 2 ? 0 : longer_size < 5 ? 1 : longer_size < 9 ? 2 : longer_size / 3;
}

/* The distances from each prefix of `a` to all prefixes of `b`, one row after the other. Before
 * column j is replaced, `row[j]` is the distance of the previous prefix of `a`. */
size_t near_name_distance(const char *a, size_t a_size, const char *b, size_t b_size) {
    size_t row[NEAR_NAME_MAX + 1];
    if (a_size > NEAR_NAME_MAX || b_size > NEAR_NAME_MAX) return SIZE_MAX;
    for (size_t j = 0; j <= b_size; j++) row[j] = j;
    for (size_t i = 0; i < a_size; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b_size; j++) {
            size_t replaced = diagonal + (lower(a[i]) != lower(b[j]));
            diagonal = row[j + 1];
            row[j + 1] = min(replaced, 1 + min(row[j], row[j + 1]));
        }
    }
    size_t limit = distance_limit(a_size > b_size ? a_size : b_size);
    return row[b_size] <= limit ? row[b_size] : SIZE_MAX;
}

void near_name_offer(struct near_name *nearest, const char *wanted, size_t wanted_size,
                     const char *name, size_t size) {
    size_t distance = near_name_distance(wanted, wanted_size, name, size);
    if (distance < nearest->distance) *nearest = (struct near_name){name, size, distance};
}
