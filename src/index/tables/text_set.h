/* A set of distinct texts, numbered in the order in which they were added. */
#ifndef RECMAP_INDEX_TABLES_TEXT_SET_H
#define RECMAP_INDEX_TABLES_TEXT_SET_H

#include <recmap/record.h>

enum { TEXT_SET_MAX = 1 << 20 };

struct text_set;

/* NULL if memory runs out. */
struct text_set *text_set_create(void);
void text_set_destroy(struct text_set *texts);

/* Adds a text of at most 255 bytes unless it was added before; `code` is its number. Errors:
 * INVALID if there are more than TEXT_SET_MAX, NO_MEMORY. */
recmap_status text_set_add(uint64_t *code, struct text_set *texts, const recmap_value *text,
                           recmap_error *error);

/* The text with this code, as a value that borrows from the set. */
recmap_value text_set_at(const struct text_set *texts, uint64_t code);

#endif
