#include "records/feature_names.h"

#include <string.h>

#include "terminal/suggest.h"

void feature_names_add(struct feature_names *names, const recmap_example_part *part) {
    if (part->kind == RECMAP_EXAMPLE_PART_STEP || names->count == FEATURE_NAMES_MAX ||
        part->name_size >= FEATURE_NAME_SIZE)
        return;
    char *name = names->names[names->count++];
    memcpy(name, part->name, part->name_size);
    name[part->name_size] = 0;
}

const char *feature_names_suggest(const struct feature_names *names, const char *word) {
    const char *list[FEATURE_NAMES_MAX];
    for (size_t i = 0; i < names->count; i++) list[i] = names->names[i];
    return suggest_name(word, strlen(word), list, names->count);
}
