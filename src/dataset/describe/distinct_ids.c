/* How often the ids of an index repeat. */
#include "base/core/error.h"
#include "dataset/open/concat.h"
#include "dataset/open/dataset.h"

/* Pairs are sorted by their hashes, so pairs of equal ids follow each other. The first chunk shows
 * how often ids repeat in it, and, if there are others, about how often in all. */
static recmap_status count_in_index(uint64_t *distinct_count, struct index_file *index,
                                    recmap_error *error) {
    struct ids_chunk chunk;
    *distinct_count = 0;
    if (!index_id_chunk_count(index)) return RECMAP_OK;
    RETURN_IF_FAILED(index_id_chunk(&chunk, index, 0, error));
    uint64_t previous = UINT64_MAX; /* a hash has 48 bits */
    for (size_t i = 0; i < chunk.pair_count; i++) {
        uint64_t hash = ids_at(&chunk, i).hash;
        *distinct_count += hash != previous;
        previous = hash;
    }
    uint64_t total = index_manifest(index)->id_count;
    if (chunk.pair_count && total > chunk.pair_count)
        *distinct_count =
            (uint64_t)((double)*distinct_count / (double)chunk.pair_count * (double)total);
    return RECMAP_OK;
}

recmap_status recmap_dataset_count_distinct_ids(uint64_t *distinct_count, recmap_dataset *dataset,
                                                recmap_error *error) {
    if (!dataset->part_count) return count_in_index(distinct_count, dataset->index, error);
    *distinct_count = 0;
    for (size_t i = 0; i < dataset->part_count; i++) {
        uint64_t count;
        RETURN_IF_FAILED(count_in_index(&count, dataset->parts[i].dataset->index, error));
        *distinct_count += count;
    }
    return RECMAP_OK;
}

/* Ids may repeat, as the id of a video does in the records of its frames. Labels repeat far more
 * often. */
int recmap_ids_repeat(uint64_t id_count, uint64_t distinct_count) {
    enum { IDS_MIN = 100, REPEATS_MIN = 10 };
    return id_count >= IDS_MIN && distinct_count && id_count / distinct_count >= REPEATS_MIN;
}
