#include "dataset/advise.h"

#include "dataset/dataset.h"

/* Records that lie side by side, of one shard. */
struct stretch {
    struct open_shard *shard; /* pinned; NULL: none yet */
    uint32_t shard_index;
    uint64_t offset;
    uint64_t size;
    size_t record_count;
};

/* More is asked for at once by nobody. */
#define STRETCH_MAX ((uint64_t)1 << 20)

struct advising {
    recmap_dataset *dataset;
    struct stretch at;
    bool looks;
    bool is_random;
    size_t asked_count;
};

static void ask(struct advising *advice) {
    const struct stretch *at = &advice->at;
    if (!at->record_count) return;
    if (advice->looks && open_shard_is_resident(at->shard, at->offset, at->size)) return;
    if (advice->is_random) open_shard_expect_random(at->shard);
    open_shard_will_need(at->shard, at->offset, at->size);
    advice->asked_count += at->record_count;
}

static bool enter_shard(struct advising *advice, uint32_t shard_index) {
    struct stretch *at = &advice->at;
    if (at->shard && at->shard_index == shard_index) return true;
    if (at->shard) shard_cache_unpin(at->shard);
    at->shard = NULL;
    at->shard_index = shard_index;
    return shard_cache_pin(&at->shard, advice->dataset->shards, shard_index, NULL) == RECMAP_OK;
}

static void add(struct advising *advice, const struct index_place *place) {
    struct stretch *at = &advice->at;
    bool follows = at->record_count && place->shard_index == at->shard_index &&
                   place->offset == at->offset + at->size && at->size < STRETCH_MAX;
    if (!follows) {
        ask(advice);
        at->record_count = 0;
        if (!enter_shard(advice, place->shard_index)) return;
        at->offset = place->offset;
        at->size = 0;
    }
    at->size += place->frame_size;
    at->record_count++;
}

static bool are_random(const uint64_t *numbers, size_t count) {
    size_t following = 0;
    for (size_t i = 1; i < count; i++) following += numbers[i] == numbers[i - 1] + 1;
    return following < count / 2;
}

size_t dataset_will_need(recmap_dataset *dataset, const uint64_t *numbers, size_t count,
                         bool looks) {
    enum { AHEAD = 16 };
    struct advising with = {
        .dataset = dataset, .looks = looks, .is_random = are_random(numbers, count)};
    for (size_t i = 0; i < count; i++) {
        struct index_place place;
        if (i + AHEAD < count) index_prefetch(dataset->index, numbers[i + AHEAD]);
        if (index_locate(&place, dataset->index, numbers[i], NULL) == RECMAP_OK) add(&with, &place);
    }
    ask(&with);
    if (with.at.shard) shard_cache_unpin(with.at.shard);
    return with.asked_count;
}

bool dataset_is_resident(recmap_dataset *dataset, uint64_t number) {
    struct index_place place;
    struct open_shard *shard;
    if (index_locate(&place, dataset->index, number, NULL) != RECMAP_OK) return true;
    if (shard_cache_pin(&shard, dataset->shards, place.shard_index, NULL) != RECMAP_OK) return true;
    bool is_resident = open_shard_is_resident(shard, place.offset, place.frame_size);
    shard_cache_unpin(shard);
    return is_resident;
}
