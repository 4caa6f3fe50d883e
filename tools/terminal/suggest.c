#include "terminal/suggest.h"

#include <string.h>

enum { NAME_MAX_SIZE = 32 };

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The number of characters to insert, remove or replace, and of neighbours to swap, which is the
 * most frequent typo of all. Keeps the last rows of the table of distances between prefixes: the
 * new row of the first i + 1 characters of `a` needs the two before it. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size) {
    size_t rows[3][NAME_MAX_SIZE + 1];
    for (size_t j = 0; j <= b_size; j++) rows[0][j] = j;
    for (size_t i = 0; i < a_size; i++) {
        const size_t *before = rows[(i + 2) % 3], *last = rows[i % 3];
        size_t *row = rows[(i + 1) % 3];
        row[0] = i + 1;
        for (size_t j = 0; j < b_size; j++) {
            row[j + 1] = min(last[j] + (a[i] != b[j]), 1 + min(row[j], last[j + 1]));
            if (i && j && a[i] == b[j - 1] && a[i - 1] == b[j])
                row[j + 1] = min(row[j + 1], before[j - 1] + 1);
        }
    }
    return rows[a_size % 3][b_size];
}

const char *suggest_name(const char *word, size_t size, const char *const *names, size_t count) {
    const char *nearest = NULL;
    size_t limit = size < 5 ? 1 : 2;
    if (size > NAME_MAX_SIZE) return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t name_size = strlen(names[i]);
        if (name_size > NAME_MAX_SIZE) continue;
        size_t changes = distance(word, size, names[i], name_size);
        if (changes > limit) continue;
        nearest = names[i];
        limit = changes - (changes > 0); /* the next one must be nearer */
        if (!changes) break;
    }
    return nearest;
}
