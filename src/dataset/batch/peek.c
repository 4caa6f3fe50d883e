/* Reading one record in two steps: its address is returned now, its bytes are checked later. */
#include "dataset/open/dataset.h"
#include "format/framing/tfrecord.h"

/* The shard's mapped bytes, or NULL. Only TFRecord frames can be peeked at, because the index alone
 * determines where their payload is, and only in shards whose records need no pin. */
static const uint8_t *bytes_of(struct open_shard **shard, const recmap_dataset *dataset,
                               uint32_t shard_index) {
    if (dataset->is_remote || dataset->evicts_shards ||
        !framing_is_tfrecord(dataset->framings[shard_index]))
        return NULL;
    if (dataset_pin_shard(shard, dataset, shard_index, NULL) != RECMAP_OK) return NULL;
    const uint8_t *bytes = open_shard_bytes(*shard);
    if (!bytes) shard_cache_unpin(*shard);
    return bytes;
}

/* Reports no errors: whenever the bytes cannot be given at once, the caller gets the record with
 * recmap_dataset_get, which says what is wrong. */
int recmap_dataset_peek(recmap_peek *peek, recmap_dataset *dataset, uint64_t number) {
    struct index_place place;
    struct open_shard *shard;
    if (number >= dataset->info.record_count) return 0;
    dataset_prefetch_page(dataset, number);
    if (dataset_find_place(&place, dataset, number, NULL) != RECMAP_OK ||
        place.frame_size < TFRECORD_OVERHEAD)
        return 0;
    const uint8_t *bytes = bytes_of(&shard, dataset, place.shard_index);
    if (!bytes) return 0;
    dataset_prefetch_one(dataset, bytes + place.offset, place.frame_size);
    *peek = (recmap_peek){
        .data = bytes + place.offset + TFRECORD_HEADER_SIZE,
        .size = (size_t)(place.frame_size - TFRECORD_OVERHEAD),
        .number = number,
        .offset = place.offset,
        .shard_index = place.shard_index,
        .shard = shard,
    };
    return 1;
}

recmap_status recmap_dataset_check(recmap_dataset *dataset, const recmap_peek *peek,
                                   recmap_error *error) {
    struct index_place place = {peek->shard_index, peek->offset, peek->size + TFRECORD_OVERHEAD};
    recmap_record found;
    return dataset_check_frame(&found, dataset, open_shard_window(peek->shard), &place,
                               peek->number, error);
}
