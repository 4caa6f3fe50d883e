#include "index/build/part_check.h"

#include "base/core/error.h"
#include "index/build/moved_shards.h"
#include "index/build/named_shards.h"
#include "index/build/set_copies.h"
#include "index/build/shard_files.h"

/* The checks that are for joining nothing by mistake. */
static recmap_status check_copies(const struct named_shards *list, recmap_storage *storage,
                                  recmap_error *error) {
    RETURN_IF_FAILED(set_copies_check(list, error));
    RETURN_IF_FAILED(moved_shards_check(list, storage, error));
    return shard_files_check(list, error);
}

recmap_status part_check(uint64_t *file_count, struct build_part *parts, size_t count,
                         recmap_sets sets, recmap_storage *storage, recmap_error *error) {
    struct named_shards list;
    recmap_status status = named_shards_init(&list, parts, count, error);
    if (status == RECMAP_OK) status = named_shards_match(file_count, &list, error);
    if (status == RECMAP_OK && sets == RECMAP_SETS_ERROR)
        status = check_copies(&list, storage, error);
    named_shards_deinit(&list);
    return status == RECMAP_OK ? build_parts_check_grown(parts, count, storage, error) : status;
}
