#include "support/index/forged.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/index/build.h"

static struct forged_value copy_value(struct store_key key, const void *data, size_t size) {
    struct forged_value copy = {key, must_realloc(NULL, size + 1), size};
    if (size) memcpy(copy.data, data, size);
    return copy;
}

static void decode(struct forged *index) {
    const struct forged_value *described = &index->tables[STORE_MANIFEST].values[0];
    assert_int_equal(manifest_decode(&index->manifest, described->data, described->size),
                     DECODE_OK);
    size_t shards = (size_t)index->manifest.shard_count;
    size_t damages = (size_t)index->manifest.damage_count;
    index->shards = must_realloc(NULL, (shards + 1) * sizeof *index->shards);
    index->damages = must_realloc(NULL, (damages + 1) * sizeof *index->damages);
    const struct forged_value *shard_table = &index->tables[STORE_SHARDS].values[0];
    assert_int_equal(shards_decode(index->shards, &index->shard_count, shards, shard_table->data,
                                   shard_table->size),
                     DECODE_OK);
    const struct forged_value *damage_table = &index->tables[STORE_DAMAGE].values[0];
    if (!damages) return;
    assert_int_equal(damages_decode(index->damages, &index->damage_count, damages,
                                    damage_table->data, damage_table->size),
                     DECODE_OK);
}

struct forged forged_read(const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store *opened;
    struct forged index = {.shards = NULL};
    ASSERT_OK(store_open(&opened, path, NULL, &error), &error);
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        size_t count;
        const struct store_value *values = store_values(opened, (enum store_table)table, &count);
        for (size_t i = 0; i < count; i++)
            forged_add(&index, (enum store_table)table, values[i].key, values[i].data,
                       values[i].size);
    }
    store_close(opened);
    decode(&index);
    return index;
}

void forged_deinit(struct forged *index) {
    for (size_t i = 0; i < index->shard_count; i++) shard_entry_deinit(&index->shards[i]);
    for (size_t i = 0; i < index->damage_count; i++) free(index->damages[i].reason);
    free(index->shards);
    free(index->damages);
    manifest_deinit(&index->manifest);
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        while (index->tables[table].count) forged_remove(index, (enum store_table)table);
}

static void replace(struct forged_table *table, uint8_t *data, size_t size) {
    assert_non_null(data);
    free(table->values[0].data);
    table->values[0].data = data;
    table->values[0].size = size;
}

void forged_encode(struct forged *index) {
    size_t size;
    uint8_t *bytes = manifest_encode(&size, &index->manifest);
    replace(&index->tables[STORE_MANIFEST], bytes, size);
    bytes = shards_encode(&size, index->shards, index->shard_count);
    replace(&index->tables[STORE_SHARDS], bytes, size);
    if (!index->tables[STORE_DAMAGE].count) return;
    bytes = damages_encode(&size, index->damages, index->damage_count);
    replace(&index->tables[STORE_DAMAGE], bytes, size);
}

void forged_add(struct forged *index, enum store_table table, struct store_key key,
                const void *data, size_t size) {
    struct forged_table *target = &index->tables[table];
    assert_true(target->count < FORGED_VALUES_MAX);
    target->values[target->count++] = copy_value(key, data, size);
}

void forged_remove(struct forged *index, enum store_table table) {
    struct forged_table *source = &index->tables[table];
    assert_true(source->count > 0);
    free(source->values[--source->count].data);
}

void forged_write(const struct forged *index, const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store_writer *writer;
    ASSERT_OK(store_writer_create(&writer, path, LEFTOVERS_REMOVE, &error), &error);
    for (int t = 0; t < STORE_TABLE_COUNT; t++) {
        const struct forged_table *table = &index->tables[t];
        for (size_t i = 0; i < table->count; i++)
            ASSERT_OK(store_writer_put(writer, (enum store_table)t, table->values[i].key,
                                       table->values[i].data, table->values[i].size, &error),
                      &error);
    }
    ASSERT_OK(store_writer_finish(writer, NULL, NULL, &error), &error);
    store_writer_destroy(writer);
}
