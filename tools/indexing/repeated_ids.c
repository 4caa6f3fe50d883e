#include "indexing/repeated_ids.h"

#include <inttypes.h>

#include "terminal/message.h"

void repeated_ids_warn(const char *path, recmap_dataset *dataset) {
    const recmap_dataset_info *info = recmap_dataset_get_info(dataset);
    uint64_t distinct_count;
    if (!info->id_name ||
        recmap_dataset_count_distinct_ids(&distinct_count, dataset, NULL) != RECMAP_OK ||
        !recmap_ids_repeat(info->id_count, distinct_count))
        return;
    message("%s: the ids of '%s' repeat: %" PRIu64 " different one%s in %" PRIu64
            " record%s; name a feature that tells records apart with --id",
            path, info->id_name, distinct_count, plural(distinct_count), info->id_count,
            plural(info->id_count));
}
