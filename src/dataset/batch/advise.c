#include "dataset/batch/advise.h"

#include "dataset/open/dataset.h"

/* Adjacent records of one shard. */
struct stretch {
    struct open_shard *shard; /* pinned; NULL: none yet */
    uint32_t shard_index;
    uint64_t offset;
    uint64_t size;
    size_t record_count;
};

/* The largest request. */
#define STRETCH_MAX ((uint64_t)1 << 20)

struct advice {
    recmap_dataset *dataset;
    struct stretch stretch;
    bool only_missing;
    bool is_random;
    size_t asked_count;
};

static void ask(struct advice *advice) {
    const struct stretch *stretch = &advice->stretch;
    if (!stretch->record_count) return;
    if (advice->only_missing &&
        open_shard_is_resident(stretch->shard, stretch->offset, stretch->size))
        return;
    if (advice->is_random) open_shard_expect_random(stretch->shard);
    open_shard_will_need(stretch->shard, stretch->offset, stretch->size);
    advice->asked_count += stretch->record_count;
}

static bool enter_shard(struct advice *advice, uint32_t shard_index) {
    struct stretch *stretch = &advice->stretch;
    if (stretch->shard && stretch->shard_index == shard_index) return true;
    if (stretch->shard) shard_cache_unpin(stretch->shard);
    stretch->shard = NULL;
    stretch->shard_index = shard_index;
    return dataset_pin_shard(&stretch->shard, advice->dataset, shard_index, NULL) == RECMAP_OK;
}

static void add(struct advice *advice, const struct index_place *place) {
    struct stretch *stretch = &advice->stretch;
    bool follows = stretch->record_count && place->shard_index == stretch->shard_index &&
                   place->offset == stretch->offset + stretch->size && stretch->size < STRETCH_MAX;
    if (!follows) {
        ask(advice);
        stretch->record_count = 0;
        if (!enter_shard(advice, place->shard_index)) return;
        stretch->offset = place->offset;
        stretch->size = 0;
    }
    stretch->size += place->frame_size;
    stretch->record_count++;
}

static bool are_random(const uint64_t *numbers, size_t count) {
    size_t following = 0;
    for (size_t i = 1; i < count; i++) following += numbers[i] == numbers[i - 1] + 1;
    return following < count / 2;
}

size_t dataset_will_need(recmap_dataset *dataset, const uint64_t *numbers, size_t count,
                         bool only_missing) {
    enum { AHEAD = 16 };
    struct advice advice = {
        .dataset = dataset, .only_missing = only_missing, .is_random = are_random(numbers, count)};
    for (size_t i = 0; i < count; i++) {
        struct index_place place;
        if (i + AHEAD < count) dataset_prefetch_place(dataset, numbers[i + AHEAD]);
        if (dataset_find_place(&place, dataset, numbers[i], NULL) == RECMAP_OK)
            add(&advice, &place);
    }
    ask(&advice);
    if (advice.stretch.shard) shard_cache_unpin(advice.stretch.shard);
    return advice.asked_count;
}

bool dataset_is_resident(recmap_dataset *dataset, uint64_t number) {
    struct index_place place;
    struct open_shard *shard;
    if (dataset_find_place(&place, dataset, number, NULL) != RECMAP_OK) return true;
    if (dataset_pin_shard(&shard, dataset, place.shard_index, NULL) != RECMAP_OK) return true;
    bool is_resident = open_shard_is_resident(shard, place.offset, place.frame_size);
    shard_cache_unpin(shard);
    return is_resident;
}
