/* What an index holds, as one JSON document. */
#include <string.h>

#include "base/core/error.h"
#include "base/text/json.h"
#include "dataset/describe/damage_json.h"
#include "dataset/open/dataset.h"

static void write_columns(struct json_writer *json, const recmap_dataset *dataset) {
    json_key(json, "columns");
    json_open(json, '[');
    for (size_t i = 0; i < dataset->info.lifted_column_count; i++) {
        recmap_lifted_column column;
        if (recmap_dataset_get_lifted_column(&column, dataset, i, NULL) != RECMAP_OK) continue;
        json_open(json, '{');
        json_key(json, "name");
        json_text(json, column.name);
        json_key(json, "type");
        json_text(json, recmap_type_name(column.type));
        if (column.default_value) {
            json_key(json, "default");
            json_text(json, column.default_value);
        }
        if (column.null_count) {
            json_key(json, "nulls");
            json_uint64(json, column.null_count);
        }
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_counts(struct json_writer *json, const recmap_dataset *dataset) {
    json_key(json, "counts");
    json_open(json, '[');
    for (size_t i = 0; i < dataset->info.counted_feature_count; i++) {
        recmap_counted_feature feature;
        if (recmap_dataset_get_counted_feature(&feature, dataset, i, NULL) != RECMAP_OK) continue;
        json_open(json, '{');
        json_key(json, "name");
        json_text(json, feature.name);
        if (feature.element) {
            json_key(json, "dtype");
            json_text(json, recmap_element_name(feature.element));
        }
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_ids(struct json_writer *json, recmap_dataset *dataset) {
    uint64_t distinct_count;
    json_key(json, "ids");
    if (!dataset->info.id_name) {
        json_none(json);
        return;
    }
    json_open(json, '{');
    json_key(json, "name");
    json_text(json, dataset->info.id_name);
    json_key(json, "count");
    json_uint64(json, dataset->info.id_count);
    json_key(json, "records_without");
    json_uint64(json, dataset->info.record_count - dataset->info.id_count);
    if (recmap_dataset_count_distinct_ids(&distinct_count, dataset, NULL) == RECMAP_OK) {
        json_key(json, "distinct");
        json_uint64(json, distinct_count);
        json_key(json, "repeat");
        json_bool(json, recmap_ids_repeat(dataset->info.id_count, distinct_count) != 0);
    }
    json_close(json, '}');
}

static void write_damage(struct json_writer *json, recmap_dataset *dataset) {
    json_key(json, "damage");
    json_open(json, '[');
    for (uint64_t i = 0; i < dataset->info.damage_count; i++) {
        recmap_damage damage;
        if (recmap_dataset_get_damage(&damage, dataset, i, NULL) == RECMAP_OK)
            damage_write_json(json, &damage);
    }
    json_close(json, ']');
}

/* null if no shard is compressed. */
static void write_compressed(struct json_writer *json, const recmap_span_info *info) {
    const struct {
        const char *key;
        uint64_t value;
    } sizes[] = {
        {"shards", info->shard_count},
        {"bytes", info->byte_count},
        {"inflated_bytes", info->inflated_size},
        {"points", info->point_count},
        {"spans", info->span_count},
        {"largest_span", info->largest_size},
        {"kept_bytes", info->keep_size},
    };
    json_key(json, "compressed");
    if (!info->shard_count) {
        json_none(json);
        return;
    }
    json_open(json, '{');
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        json_key(json, sizes[i].key);
        json_uint64(json, sizes[i].value);
    }
    json_close(json, '}');
}

static void write_shard(struct json_writer *json, const recmap_shard_info *info) {
    json_open(json, '{');
    json_key(json, "path");
    json_path(json, info->path);
    json_key(json, "bytes");
    json_uint64(json, info->size);
    json_key(json, "first_record");
    json_uint64(json, info->first_record);
    json_key(json, "records");
    json_uint64(json, info->record_count);
    json_key(json, "framing");
    json_text(json, info->framing);
    json_key(json, "compression");
    json_text(json, info->compression);
    json_key(json, "hash");
    json_hex(json, info->hash, sizeof info->hash);
    json_close(json, '}');
}

static void write_totals(struct json_writer *json, const recmap_dataset_info *info) {
    const struct {
        const char *key;
        uint64_t value;
    } totals[] = {
        {"records", info->record_count},
        {"shards", info->file_count},
        {"bytes", info->byte_count},
        {"index_bytes", info->index_size},
        {"damaged_bytes", info->damaged_byte_count},
    };
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        json_key(json, totals[i].key);
        json_uint64(json, totals[i].value);
    }
    json_key(json, "fingerprint");
    json_hex(json, info->fingerprint.bytes, sizeof info->fingerprint.bytes);
}

/* Span information is read first, because only it can fail: a JSON text that was begun is always
 * finished. */
recmap_status recmap_dataset_info_to_json(recmap_text *text, recmap_dataset *dataset,
                                          int with_shards, recmap_error *error) {
    recmap_span_info spans;
    RETURN_IF_FAILED(recmap_dataset_get_span_info(&spans, dataset, error));
    struct json_writer json = json_begin(text);
    json_open(&json, '{');
    write_totals(&json, &dataset->info);
    write_ids(&json, dataset);
    write_columns(&json, dataset);
    write_counts(&json, dataset);
    write_damage(&json, dataset);
    write_compressed(&json, &spans);
    if (with_shards) {
        json_key(&json, "shard_table");
        json_open(&json, '[');
        for (uint64_t i = 0; i < dataset->info.shard_count; i++) {
            recmap_shard_info shard;
            if (recmap_dataset_get_shard(&shard, dataset, i, NULL) == RECMAP_OK)
                write_shard(&json, &shard);
        }
        json_close(&json, ']');
    }
    json_close(&json, '}');
    return json_end(&json, error);
}
