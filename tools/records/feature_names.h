/* The names of a record's features, one of which a misspelt name may mean. */
#ifndef RECMAP_TOOLS_RECORDS_FEATURE_NAMES_H
#define RECMAP_TOOLS_RECORDS_FEATURE_NAMES_H

#include <recmap/example.h>

enum { FEATURE_NAMES_MAX = 64, FEATURE_NAME_SIZE = 64 };

/* Longer names, and those for which there is no room, are left out. */
struct feature_names {
    char names[FEATURE_NAMES_MAX][FEATURE_NAME_SIZE];
    size_t count;
};

void feature_names_add(struct feature_names *names, const recmap_example_part *part);

/* Returns the name that is nearest to `word`, or NULL if none is near. */
const char *feature_names_suggest(const struct feature_names *names, const char *word);

#endif
