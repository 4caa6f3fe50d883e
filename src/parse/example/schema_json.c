/* Writes a schema as one JSON document. */
#include <recmap/example.h>

#include <string.h>

#include "base/text/json.h"

static void put_images(struct json_writer *json, const recmap_schema_feature *feature) {
    json_key(json, "image_share");
    json_double(json, (double)feature->image_count / (double)feature->bytes_count);
    json_key(json, "image_height");
    json_uint64(json, feature->image_height);
    json_key(json, "image_width");
    json_uint64(json, feature->image_width);
    json_key(json, "image_bits");
    json_uint64(json, feature->has_wide_gray ? 16 : 8);
    json_key(json, "image_turned_share");
    json_double(json, (double)feature->turned_count / (double)feature->image_count);
}

/* Writes the range of the values, in the form that fits their kind. */
static void put_range(struct json_writer *json, const recmap_schema_feature *feature) {
    if (!strcmp(feature->kind, "int64") && feature->int64_count) {
        json_key(json, "min");
        json_int64(json, feature->min_int64);
        json_key(json, "max");
        json_int64(json, feature->max_int64);
    }
    if (!strcmp(feature->kind, "float") && feature->float_count) {
        json_key(json, "min");
        json_float(json, feature->min_float);
        json_key(json, "max");
        json_float(json, feature->max_float);
    }
    if (!strcmp(feature->kind, "float")) {
        json_key(json, "nan_count");
        json_uint64(json, feature->nan_count);
    }
    if (!strcmp(feature->kind, "bytes") && feature->bytes_count) {
        json_key(json, "min_size");
        json_uint64(json, feature->min_size);
        json_key(json, "max_size");
        json_uint64(json, feature->max_size);
    }
    if (!strcmp(feature->kind, "bytes") && feature->image_count) put_images(json, feature);
}

static void put_shape(struct json_writer *json, const recmap_schema_feature *feature) {
    json_key(json, "shape");
    if (!feature->is_fixed) {
        json_none(json);
        return;
    }
    json_open(json, '[');
    if (feature->min_length > 1) json_uint64(json, feature->min_length);
    json_close(json, ']');
}

/* The member names are part of the public interface. */
static void put_members(struct json_writer *json, const recmap_schema_feature *feature) {
    json_key(json, "kind");
    json_text(json, feature->kind);
    json_key(json, "share");
    json_double(json, feature->share);
    if (feature->is_list) {
        json_key(json, "min_steps");
        json_uint64(json, feature->min_steps);
        json_key(json, "max_steps");
        json_uint64(json, feature->max_steps);
    }
    json_key(json, "min_length");
    json_uint64(json, feature->min_length);
    json_key(json, "max_length");
    json_uint64(json, feature->max_length);
    json_key(json, "unset_share");
    json_double(json, feature->unset_share);
    json_key(json, "missing_share");
    json_double(json, feature->missing_share);
    put_shape(json, feature);
    put_range(json, feature);
}

/* Merges features and lists, both sorted by name. */
struct name_merge {
    const recmap_schema *schema;
    size_t feature; /* the next feature */
    size_t list;    /* the next list; lists follow all features */
    size_t feature_count;
    size_t count;
};

static struct name_merge merge_begin(const recmap_schema *schema) {
    struct name_merge merge = {.schema = schema, .count = recmap_schema_feature_count(schema)};
    while (merge.list < merge.count && !recmap_schema_get_feature(schema, merge.list).is_list)
        merge.list++;
    merge.feature_count = merge.list;
    return merge;
}

static int compare_names(const recmap_schema_feature *a, const recmap_schema_feature *b) {
    size_t size = a->name_size < b->name_size ? a->name_size : b->name_size;
    int order = memcmp(a->name, b->name, size);
    return order ? order : (a->name_size > b->name_size) - (a->name_size < b->name_size);
}

/* Writes everything with the next name: a feature, a list or both. */
static void put_name(struct json_writer *json, struct name_merge *merge) {
    recmap_schema_feature feature = {0}, list = {0};
    bool has_feature = merge->feature < merge->feature_count, has_list = merge->list < merge->count;
    if (has_feature) feature = recmap_schema_get_feature(merge->schema, merge->feature);
    if (has_list) list = recmap_schema_get_feature(merge->schema, merge->list);
    int order = has_feature && has_list ? compare_names(&feature, &list) : has_list - has_feature;
    if (order < 0) has_list = false;
    if (order > 0) has_feature = false;
    const recmap_schema_feature *named = has_feature ? &feature : &list;
    json_key_sized(json, named->name, named->name_size);
    json_open(json, '{');
    if (has_feature) put_members(json, &feature);
    if (has_list) {
        json_key(json, "list");
        json_open(json, '{');
        put_members(json, &list);
        json_close(json, '}');
    }
    json_close(json, '}');
    merge->feature += has_feature;
    merge->list += has_list;
}

recmap_status recmap_schema_to_json(recmap_text *text, const recmap_schema *schema,
                                    recmap_error *error) {
    struct json_writer json = json_begin(text);
    struct name_merge merge = merge_begin(schema);
    json_open(&json, '{');
    while (merge.feature < merge.feature_count || merge.list < merge.count) put_name(&json, &merge);
    json_close(&json, '}');
    return json_end(&json, error);
}
