#include "dataset/open/row_caches.h"

#include <stdlib.h>

#include "dataset/open/dataset.h"

static struct row_caches *create(uint64_t record_count) {
    struct row_caches *caches = calloc(1, sizeof *caches);
    if (!caches) return NULL;
    caches->marks = list_marks_cache_create();
    caches->layouts = record_layouts_create();
    caches->sums = record_sums_create();
    bool has_bits = verified_init(&caches->verified, record_count);
    if (has_bits && caches->marks && caches->layouts && caches->sums) return caches;
    row_caches_destroy(caches);
    return NULL;
}

struct row_caches *row_caches_of(recmap_dataset *dataset) {
    struct row_caches *caches = atomic_load(&dataset->row_caches);
    if (caches) return caches;
    struct row_caches *fresh = create(dataset->info.record_count);
    if (!fresh || atomic_compare_exchange_strong(&dataset->row_caches, &caches, fresh))
        return fresh;
    row_caches_destroy(fresh);
    return caches;
}

void row_caches_destroy(struct row_caches *caches) {
    if (!caches) return;
    verified_deinit(&caches->verified);
    list_marks_cache_destroy(caches->marks);
    record_layouts_destroy(caches->layouts);
    record_sums_destroy(caches->sums);
    free(caches);
}
