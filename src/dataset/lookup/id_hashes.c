/* The hash of each record's id, from the index alone. */
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "dataset/open/concat.h"

static recmap_status read_parts(uint64_t *hashes, const recmap_dataset *dataset,
                                recmap_error *error) {
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < dataset->part_count; i++) {
        const struct dataset_part *part = &dataset->parts[i];
        status = recmap_dataset_read_id_hashes(hashes + part->first_record, part->dataset, error);
    }
    return status;
}

recmap_status recmap_dataset_read_id_hashes(uint64_t *hashes, recmap_dataset *dataset,
                                            recmap_error *error) {
    if (dataset->part_count) return read_parts(hashes, dataset, error);
    uint64_t count = dataset->info.record_count;
    for (uint64_t i = 0; i < count; i++) hashes[i] = RECMAP_NO_ID_HASH;
    for (size_t i = 0; i < index_id_chunk_count(dataset->index); i++) {
        struct ids_chunk chunk;
        RETURN_IF_FAILED(index_id_chunk(&chunk, dataset->index, i, error));
        for (size_t j = 0; j < chunk.pair_count; j++) {
            struct id_pair pair = ids_at(&chunk, j);
            if (pair.number < count) hashes[pair.number] = pair.hash;
        }
        RETURN_IF_FAILED(
            interrupt_check(thread_interrupt(), chunk.pair_count * sizeof *hashes, error));
    }
    return RECMAP_OK;
}
