#include "indexing/missing_shards.h"

#include <inttypes.h>

#include "indexing/repeated_ids.h"
#include "terminal/message.h"

static void warn(const char *path, const recmap_missing_shards *missing) {
    if (missing->count == 1)
        message("%s: the shard %s is missing; restore it and index again", path, missing->first);
    else if (missing->count)
        message("%s: %" PRIu64 " shards are missing, the first is %s; restore them and index again",
                path, missing->count, missing->first);
}

static void warn_of_surplus(const char *path, const recmap_missing_shards *missing) {
    if (missing->surplus_count == 1)
        message("%s: the shard %s is surplus by its name; remove it if it is of another run, and "
                "index again",
                path, missing->surplus);
    else if (missing->surplus_count)
        message("%s: %" PRIu64 " shards are surplus by their names, the first is %s; remove them "
                "if they are of another run, and index again",
                path, missing->surplus_count, missing->surplus);
}

void missing_shards_warn(const char *path, bool is_alone, bool is_new,
                         const recmap_dataset_options *dataset_options) {
    recmap_dataset_options opening = *dataset_options;
    recmap_dataset *dataset = NULL;
    recmap_missing_shards missing;
    opening.allow_absolute_paths = opening.allow_urls = opening.allow_missing_shards = 1;
    if (recmap_dataset_open(&dataset, path, &opening, NULL) == RECMAP_OK &&
        recmap_dataset_find_missing_shards(&missing, dataset, NULL) == RECMAP_OK) {
        if (!is_alone || recmap_dataset_get_info(dataset)->file_count > 1) warn(path, &missing);
        warn_of_surplus(path, &missing);
        if (is_new) repeated_ids_warn(path, dataset);
    }
    recmap_dataset_close(dataset);
}
