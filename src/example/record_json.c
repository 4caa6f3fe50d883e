/* A record as one line of JSON. */
#include <recmap/example.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "example/example.h"

/* JSON has one NaN, which reads back as this one. Another would lose its bits. */
static bool is_plain_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return !isnan(value) || bits == 0x7fc00000;
}

/* 64-bit integers are strings in protobuf's mapping. Returns false when the value has no JSON. */
static bool put_value(json_writer *json, const recmap_value *value) {
    switch (value->type) {
    case RECMAP_TYPE_INT64: json_int64_string(json, value->as.int64); return true;
    case RECMAP_TYPE_FLOAT:
        json_float(json, value->as.float32);
        return is_plain_float(value->as.float32);
    default: json_base64(json, value->as.bytes.data, value->as.bytes.size); return true;
    }
}

static const char *list_name(recmap_type kind) {
    switch (kind) {
    case RECMAP_TYPE_INT64: return "int64List";
    case RECMAP_TYPE_FLOAT: return "floatList";
    default: return "bytesList";
    }
}

/* An unset feature is {}, one of no values {"int64List":{}}. False: something would be lost. */
static bool put_feature(json_writer *json, const example_feature *feature) {
    bool complete = true;
    json_open(json, '{');
    if (feature->kind != RECMAP_TYPE_NONE) {
        json_key(json, list_name(feature->kind));
        json_open(json, '{');
        if (feature->count > 0) {
            example_values values = example_values_begin(feature);
            recmap_value value;
            json_key(json, "value");
            json_open(json, '[');
            while (complete && example_values_next(&value, &values))
                complete = put_value(json, &value);
            json_close(json, ']');
        }
        json_close(json, '}');
    }
    json_close(json, '}');
    return complete;
}

static bool put_example(json_writer *json, const example_features *features) {
    bool complete = true;
    json_open(json, '{');
    if (features->has_features) {
        json_key(json, "features");
        json_open(json, '{');
        if (features->count > 0) {
            json_key(json, "feature");
            json_open(json, '{');
            for (size_t i = 0; complete && i < features->count; i++) {
                const example_entry *entry = &features->entries[i];
                json_key_sized(json, entry->name, entry->name_size);
                complete = put_feature(json, &entry->feature);
            }
            json_close(json, '}');
        }
        json_close(json, '}');
    }
    json_close(json, '}');
    return complete;
}

static void put_base64(json_writer *json, const recmap_record *record) {
    json_open(json, '{');
    json_key(json, "number");
    json_uint64(json, record->number);
    json_key(json, "base64");
    json_base64(json, record->data, record->size);
    json_close(json, '}');
}

/* Takes back what was appended behind `size`. */
static void cut(recmap_text *text, size_t size) {
    text->size = size;
    if (text->data) text->data[size] = 0;
}

recmap_status recmap_record_to_json(recmap_text *text, const recmap_record *record,
                                    recmap_error *error) {
    example_features features = EXAMPLE_FEATURES_INIT;
    size_t start = text->size;
    json_writer json = json_begin(text);
    recmap_status status = example_features_read(&features, record->data, record->size, NULL);
    if (status == RECMAP_NO_MEMORY) return fail_memory(error);
    bool complete = status == RECMAP_OK && !features.saw_unknown && put_example(&json, &features);
    example_features_free(&features);
    if (!complete && !json.failed) {
        cut(text, start);
        json = json_begin(text);
        put_base64(&json, record);
    }
    if (!json.failed) return RECMAP_OK;
    cut(text, start);
    return fail_memory(error);
}
