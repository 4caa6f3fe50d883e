/* A set of distinct texts, numbered in the order in which they were added. */
#ifndef RECMAP_ANNOTATE_DISTINCT_H
#define RECMAP_ANNOTATE_DISTINCT_H

#include <recmap/record.h>

enum { DISTINCT_MAX = 1 << 20 };

struct distinct;

/* NULL if memory runs out. */
struct distinct *distinct_create(void);
void distinct_destroy(struct distinct *texts);

/* Adds a text of at most 255 bytes unless it was added before; `code` is its number. Errors:
 * INVALID if there are more than DISTINCT_MAX, NO_MEMORY. */
recmap_status distinct_add(uint64_t *code, struct distinct *texts, const recmap_value *text,
                           recmap_error *error);

/* The text with this code, as a value that borrows from the set. */
recmap_value distinct_at(const struct distinct *texts, uint64_t code);

#endif
