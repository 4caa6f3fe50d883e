#include "terminal/suggest.h"

#include <string.h>

enum { NAME_MAX_SIZE = 32 };

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The number of characters to insert, remove or replace. Keeps one row of the table of distances
 * between prefixes; `diagonal` is what the row above had one column to the left. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size) {
    size_t row[NAME_MAX_SIZE + 1];
    for (size_t j = 0; j <= b_size; j++) row[j] = j;
    for (size_t i = 0; i < a_size; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b_size; j++) {
            size_t replaced = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = min(replaced, 1 + min(row[j], row[j + 1]));
        }
    }
    return row[b_size];
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
