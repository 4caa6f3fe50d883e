#include "index/build/build_part.h"

#include "base/core/error.h"
#include "index/tables/grown.h"
#include "index/tables/rebuild_advice.h"

bool build_part_is_new(const struct build_part *part) {
    return !part->index && !part->grown;
}

static const struct index_shard *last_shard(const struct build_part *part) {
    return &index_shards(part->grown)[part->grown_shard];
}

uint64_t build_part_start(const struct build_part *part) {
    return part->grown ? last_shard(part)->entry.file_size : 0;
}

const struct framing *build_part_framing(const struct build_part *part,
                                         const struct framing *framing) {
    return part->grown ? last_shard(part)->framing : framing;
}

/* An object in a store cannot grow. */
static recmap_status check_source(struct build_part *part, struct source *source,
                                  recmap_error *error) {
    part->is_complete = source->fd < 0 || source->stat.size == last_shard(part)->entry.file_size;
    return part->is_complete ? index_check_same(part->grown, part->grown_shard, source, error)
                             : index_check_grown(part->grown, part->grown_shard, source, error);
}

/* The advised command names the shards of the index, so it does not help if there are new ones. */
static recmap_status check_grown(struct build_part *part, recmap_storage *storage, bool has_new,
                                 recmap_error *error) {
    struct source *source = NULL;
    recmap_status status = shard_source_open(&source, part->resolved, storage, NULL, error);
    if (status == RECMAP_OK) status = check_source(part, source, error);
    source_close(source);
    if (status == RECMAP_STALE)
        index_advise_rebuild(error, has_new ? NULL : part->grown,
                             (struct rebuild_option){NULL, NULL},
                             "write new records to new shards; or restore the indexed file, or "
                             "build the index again with ");
    return status;
}

recmap_status build_parts_check_grown(struct build_part *parts, size_t count,
                                      recmap_storage *storage, recmap_error *error) {
    size_t new_count = 0;
    for (size_t i = 0; i < count; i++) new_count += build_part_is_new(&parts[i]);
    for (size_t i = 0; i < count; i++)
        if (parts[i].grown)
            RETURN_IF_FAILED(check_grown(&parts[i], storage, new_count != 0, error));
    return RECMAP_OK;
}
