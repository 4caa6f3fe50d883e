#include "index/build/count_stage.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct count_stage {
    char *name;
    recmap_element element;
    bool has_elements;
    size_t count;
    uint64_t counts[COUNT_CHUNK_RECORDS];
};

struct count_stage *count_stage_create(const recmap_counted_feature *feature) {
    struct count_stage *stage = malloc(sizeof *stage);
    if (!stage) return NULL;
    stage->name = strdup(feature->name);
    stage->element = feature->element;
    stage->has_elements = false;
    stage->count = 0;
    if (stage->name) return stage;
    count_stage_destroy(stage);
    return NULL;
}

void count_stage_destroy(struct count_stage *stage) {
    if (!stage) return;
    free(stage->name);
    free(stage);
}

const char *count_stage_name(const struct count_stage *stage) {
    return stage->name;
}

recmap_element count_stage_element(const struct count_stage *stage) {
    return stage->element;
}

bool count_stage_has_elements(const struct count_stage *stage) {
    return stage->has_elements;
}

void count_stage_add(struct count_stage *stage, uint64_t count) {
    assert(stage->count < COUNT_CHUNK_RECORDS);
    stage->counts[stage->count++] = count;
    stage->has_elements |= count > 0;
}

bool count_stage_is_full(const struct count_stage *stage) {
    return stage->count == COUNT_CHUNK_RECORDS;
}

size_t count_stage_count(const struct count_stage *stage) {
    return stage->count;
}

uint8_t *count_stage_pack(struct count_stage *stage, size_t *size) {
    uint8_t *bytes = malloc(count_chunk_capacity(stage->count));
    if (bytes) *size = count_chunk_pack(bytes, stage->counts, stage->count);
    stage->count = 0;
    return bytes;
}
