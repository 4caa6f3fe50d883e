/* Matches the keys of objects with patterns: `*`, `?` and `[..]` within one component, and a
 * component `**` for any number of folders that are not hidden; at the end, with or without a
 * slash, for all files in them, too. This is how the patterns of local files match (os/tree.h).
 * Both texts are changed for the time of a call. Pure. */
#ifndef RECMAP_STORAGE_REMOTE_KEY_PATTERN_H
#define RECMAP_STORAGE_REMOTE_KEY_PATTERN_H

#include <stdbool.h>

bool key_pattern_matches(char *pattern, char *key);

/* Returns true if only keys of one folder can match: the last one before the first wildcard. */
bool key_pattern_is_flat(const char *pattern);

/* Returns true if a key in this folder, whose name has no slash at its end, or in one below it, may
 * match.
 */
bool key_pattern_may_contain(char *pattern, char *folder);

#endif
