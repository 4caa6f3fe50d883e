#include "index/extract/run.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "index/tables/ids.h"
#include "index/tables/lifted.h"

bool run_init(struct record_run *run, bool has_ids, size_t column_count,
              size_t counted_feature_count) {
    *run = (struct record_run){.has_ids = has_ids,
                               .column_count = column_count,
                               .counted_feature_count = counted_feature_count};
    if (column_count) run->columns = calloc(column_count, sizeof *run->columns);
    if (counted_feature_count) run->counts = calloc(counted_feature_count, sizeof *run->counts);
    if ((run->columns || !column_count) && (run->counts || !counted_feature_count)) return true;
    run_deinit(run);
    return false;
}

void run_deinit(struct record_run *run) {
    for (size_t i = 0; run->columns && i < run->column_count; i++) {
        free(run->columns[i].words);
        free(run->columns[i].missing);
        free(run->columns[i].bytes);
    }
    for (size_t i = 0; run->counts && i < run->counted_feature_count; i++)
        free(run->counts[i].values);
    free(run->columns);
    free(run->counts);
    free(run->offsets);
    free(run->sizes);
    free(run->checks);
    free(run->ids);
    free(run->keys.hashes);
    free(run->keys.repeats);
    free(run->keys.texts);
    free(run->keys.bytes);
    *run = (struct record_run){0};
}

void run_clear(struct record_run *run) {
    run->count = 0;
    run->key_count = 0;
    run->keys.bytes_size = 0;
    run->advice[0] = run->id_advice[0] = 0;
    for (size_t i = 0; i < run->column_count; i++) {
        run->columns[i].type = RECMAP_TYPE_NONE;
        run->columns[i].bytes_size = 0;
    }
}

bool run_add(struct record_run *run, uint64_t offset, uint64_t size, uint32_t check) {
    size_t needed = run->count + 1;
    if (!array_reserve(&run->offsets, &run->offsets_capacity, needed, sizeof *run->offsets) ||
        !array_reserve(&run->sizes, &run->sizes_capacity, needed, sizeof *run->sizes) ||
        !array_reserve(&run->checks, &run->checks_capacity, needed, sizeof *run->checks))
        return false;
    if (run->has_ids) {
        if (!array_reserve(&run->ids, &run->ids_capacity, needed, sizeof *run->ids)) return false;
        run->ids[run->count] = IDS_NONE;
    }
    run->offsets[run->count] = offset;
    run->sizes[run->count] = size;
    run->checks[run->count] = check;
    run->count = needed;
    return true;
}

uint64_t run_size(const struct record_run *run) {
    uint64_t record_size = sizeof *run->offsets + sizeof *run->sizes + sizeof *run->checks;
    if (run->has_ids) record_size += sizeof *run->ids;
    record_size += run->counted_feature_count * sizeof *run->counts->values;
    record_size += run->column_count *
                   (sizeof *run->columns->words + sizeof *run->columns->missing);
    uint64_t size = run->count * record_size;
    for (size_t i = 0; i < run->column_count; i++) size += run->columns[i].bytes_size;
    return size +
           run->key_count *
               (sizeof *run->keys.hashes + sizeof *run->keys.repeats + sizeof *run->keys.texts) +
           run->keys.bytes_size;
}

void run_set_id(struct record_run *run, uint64_t hash) {
    assert(run->has_ids && run->count);
    run->ids[run->count - 1] = hash;
}

static bool reserve_value(struct run_column *column, size_t count, size_t more_bytes) {
    return array_reserve(&column->words, &column->words_capacity, count, sizeof *column->words) &&
           array_reserve(&column->missing, &column->missing_capacity, count, 1) &&
           array_reserve(&column->bytes, &column->bytes_capacity, column->bytes_size + more_bytes,
                         1);
}

enum run_verdict run_set_column(struct record_run *run, size_t column_index,
                                const recmap_value *value) {
    struct run_column *column = &run->columns[column_index];
    size_t size = value->type == RECMAP_TYPE_BYTES ? value->as.bytes.size : 0;
    assert(run->count && column_index < run->column_count);
    if (size > COLUMN_BYTES_MAX) return RUN_TOO_LONG;
    if (value->type != RECMAP_TYPE_NONE && column->type != RECMAP_TYPE_NONE &&
        value->type != column->type)
        return RUN_OTHER_TYPE;
    if (!reserve_value(column, run->count, size)) return RUN_NO_MEMORY;
    if (value->type != RECMAP_TYPE_NONE && column->type == RECMAP_TYPE_NONE) {
        column->type = value->type;
        column->first_typed = run->count - 1;
    }
    column->words[run->count - 1] = column_append(column->bytes, &column->bytes_size, value);
    column->missing[run->count - 1] = value->type == RECMAP_TYPE_NONE;
    return RUN_OK;
}

bool run_set_count(struct record_run *run, size_t feature, uint64_t count) {
    struct run_counts *counts = &run->counts[feature];
    assert(run->count && feature < run->counted_feature_count);
    if (!array_reserve(&counts->values, &counts->capacity, run->count, sizeof *counts->values))
        return false;
    counts->values[run->count - 1] = count;
    return true;
}

bool run_set_key(struct record_run *run, const struct run_key *key) {
    struct run_keys *keys = &run->keys;
    size_t i = run->key_count, size = strlen(key->text) + 1;
    assert(run->count == i + 1);
    if (!array_reserve(&keys->hashes, &keys->hashes_capacity, i + 1, sizeof *keys->hashes) ||
        !array_reserve(&keys->repeats, &keys->repeats_capacity, i + 1, sizeof *keys->repeats) ||
        !array_reserve(&keys->texts, &keys->texts_capacity, i + 1, sizeof *keys->texts) ||
        !array_reserve(&keys->bytes, &keys->bytes_capacity, keys->bytes_size + size, 1))
        return false;
    keys->hashes[i] = key->hash;
    keys->repeats[i] = key->repeated_at;
    keys->texts[i] = keys->bytes_size;
    memcpy(keys->bytes + keys->bytes_size, key->text, size);
    keys->bytes_size += size;
    run->key_count++;
    return true;
}

struct run_key run_key_at(const struct record_run *run, size_t i) {
    const struct run_keys *keys = &run->keys;
    assert(i < run->key_count);
    return (struct run_key){keys->hashes[i], keys->repeats[i], keys->bytes + keys->texts[i]};
}

const char *run_advice_at(const struct record_run *run, size_t i) {
    return i == run->advised ? run->advice : "";
}

void run_truncate(struct record_run *run, size_t count) {
    assert(count <= run->count);
    run->count = count;
    run->is_malformed = false;
    if (run->key_count > count) {
        run->keys.bytes_size = run->keys.texts[count];
        run->key_count = count;
    }
    if (run->advised >= count) run->advice[0] = 0;
    if (!count) run->id_advice[0] = 0;
    for (size_t i = 0; i < run->column_count; i++) {
        struct run_column *column = &run->columns[i];
        if (column->type == RECMAP_TYPE_NONE) continue;
        bool is_bytes = column->type == RECMAP_TYPE_BYTES;
        if (is_bytes) column->bytes_size = count ? (size_t)column->words[count - 1] : 0;
        if (column->first_typed >= count) column->type = RECMAP_TYPE_NONE;
    }
}

recmap_value run_column_at(const struct record_run *run, size_t column_index, size_t i) {
    assert(column_index < run->column_count && i < run->count);
    const struct run_column *column = &run->columns[column_index];
    recmap_value value = {.type = RECMAP_TYPE_NONE};
    if (column->missing[i]) return value;
    if (column->type != RECMAP_TYPE_BYTES) return column_number(column->type, column->words[i]);
    uint64_t start = i ? column->words[i - 1] : 0;
    value.type = column->type;
    value.as.bytes.size = (size_t)(column->words[i] - start);
    value.as.bytes.data = value.as.bytes.size ? column->bytes + start : NULL;
    return value;
}
