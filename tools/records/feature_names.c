#include "records/feature_names.h"

#include <string.h>

#include "base/words/near_name.h"

void feature_names_add(struct feature_names *names, const recmap_example_part *part) {
    if (part->kind == RECMAP_EXAMPLE_PART_STEP || names->count == FEATURE_NAMES_MAX ||
        part->name_size >= FEATURE_NAME_SIZE)
        return;
    char *name = names->names[names->count++];
    memcpy(name, part->name, part->name_size);
    name[part->name_size] = 0;
}

const char *feature_names_suggest(const struct feature_names *names, const char *word) {
    struct near_name near = NEAR_NAME_INIT;
    for (size_t i = 0; i < names->count; i++)
        near_name_offer(&near, word, strlen(word), names->names[i], strlen(names->names[i]));
    return near.name;
}
