#include "output/text_kind.h"

#include <stdbool.h>
#include <string.h>

/* Options follow a comma, and the columns a colon. */
static bool is_csv(const char *framing) {
    return !strncmp(framing, "csv", 3) && strchr(":,", framing[3]);
}

enum text_kind text_kind_find(recmap_dataset *dataset, uint64_t number) {
    recmap_location location;
    recmap_shard_info shard;
    if (!dataset || recmap_dataset_locate(&location, dataset, number, 1, NULL) != RECMAP_OK ||
        recmap_dataset_get_shard(&shard, dataset, location.shard_index, NULL) != RECMAP_OK)
        return TEXT_NONE;
    if (is_csv(shard.framing)) return TEXT_ROW;
    return strcmp(shard.framing, "lines") ? TEXT_NONE : TEXT_JSON;
}

const char *text_kind_name(enum text_kind kind) {
    static const char *const names[] = {
        [TEXT_NONE] = "a tf.Example", [TEXT_ROW] = "a row of CSV", [TEXT_JSON] = "a JSON object"};
    return names[kind];
}
