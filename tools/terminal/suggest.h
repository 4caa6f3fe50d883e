/* What a misspelt command or option may mean. */
#ifndef RECMAP_TOOLS_TERMINAL_SUGGEST_H
#define RECMAP_TOOLS_TERMINAL_SUGGEST_H

#include <stddef.h>

/* Returns the name that is nearest to `word`, or NULL if none of them is near: of up to four
 * characters one may differ, of longer words two. Two swapped neighbours count as one. */
const char *suggest_name(const char *word, size_t size, const char *const *names, size_t count);

#endif
