#include "index/build/set_copies.h"

#include <stdlib.h>

#include "base/core/error.h"
#include "format/shards/set_choice.h"

/* Adds the shards of one index, or those that are named between two. A shard that an index has
 * already is known. Returns the index of the next name. */
static size_t add_addition(struct path_list *paths, const struct named_shards *list, size_t first) {
    const struct build_part *addition = &list->parts[list->shards[first].part];
    size_t i = first;
    for (; i < list->count; i++) {
        const struct build_part *part = &list->parts[list->shards[i].part];
        if (part != addition && (part->index || addition->index)) break;
        if (!part->grown) paths->paths[paths->count++] = list->shards[i].path;
    }
    return i;
}

recmap_status set_copies_check(const struct named_shards *list, recmap_error *error) {
    struct set_register sets = SET_REGISTER_INIT;
    struct path_list paths = {.paths = calloc(list->count + 1, sizeof *paths.paths)};
    recmap_status status = paths.paths ? RECMAP_OK : fail_memory(error);
    for (size_t i = 0; status == RECMAP_OK && i < list->count;) {
        size_t first = paths.count;
        i = add_addition(&paths, list, i);
        status = set_register_check(&sets, &paths, first, NULL, error);
    }
    set_register_clear(&sets);
    free(paths.paths);
    return status;
}
