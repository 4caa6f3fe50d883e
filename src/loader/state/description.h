/* Descriptions of orders as text: reading their members, and comparing them. The text may be
 * anything that begins with a bracket; it need not be well-formed. */
#ifndef RECMAP_LOADER_STATE_DESCRIPTION_H
#define RECMAP_LOADER_STATE_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A member of a JSON object, as slices of its text. */
struct description_member {
    const char *key;
    size_t key_size; /* with its quotes */
    const char *value;
    size_t value_size;
};

/* Returns the next member of a compact object, or false after the last. The cursor starts after the
 * opening bracket. */
bool description_next_member(struct description_member *member, const char **cursor);

/* Finds the member of `object` with the key of `query`. */
bool description_find_member(struct description_member *member, const char *object,
                             const struct description_member *query);

/* Removes the numbers of records and rows of row orders, which follow from the other members and
 * the counts. States are saved without them; states of samplers have them. */
void description_shorten(char *text);

/* The description of the order that a view has the records of; NULL if `text` describes no view. */
const char *description_base(const char *text);

/* Returns true if two views select the same records of their bases, which may differ. */
bool description_views_agree(const char *ours, const char *theirs);

/* Returns true if the text describes a mixture, or a view of one. */
bool description_is_of_mixture(const char *text);

/* Returns true if `ours` describes a mixture, or a view of one, that gives the same records as
 * `theirs` at all positions of the run before `run_position`: it has the same sources first, and
 * the same weights up to there. Both have equally many positions per epoch. */
bool description_continues(const char *ours, const char *theirs, uint64_t run_position);

#endif
