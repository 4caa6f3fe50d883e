/* Writes a record as one line of JSON. */
#include <recmap/example.h>

#include <math.h>
#include <string.h>

#include "base/text/json.h"
#include "parse/example/foreign.h"
#include "parse/example/sequence_features.h"

/* JSON has a single NaN, which reads back as this one. Any other NaN would lose its bits. */
static bool is_plain_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return !isnan(value) || bits == 0x7fc00000;
}

/* protobuf maps 64-bit integers to JSON strings. Returns false if JSON cannot represent the value.
 */
static bool put_value(struct json_writer *json, const recmap_value *value) {
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

/* An unset feature is {}; one without values is {"int64List":{}}. Returns false if JSON would lose
 * information. */
static bool put_feature(struct json_writer *json, const struct example_feature *feature,
                        struct example_values values) {
    bool complete = true;
    json_open(json, '{');
    if (feature->kind != RECMAP_TYPE_NONE) {
        json_key(json, list_name(feature->kind));
        json_open(json, '{');
        if (feature->count > 0) {
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

/* Writes a Features message as the member `key`. */
static bool put_features(struct json_writer *json, const char *key,
                         const struct example_features *features) {
    bool complete = true;
    json_key(json, key);
    json_open(json, '{');
    if (features->count > 0) {
        json_key(json, "feature");
        json_open(json, '{');
        for (size_t i = 0; complete && i < features->count; i++) {
            const struct example_entry *entry = &features->entries[i];
            json_key_sized(json, entry->name, entry->name_size);
            complete = put_feature(json, &entry->feature, example_values_begin(&entry->feature));
        }
        json_close(json, '}');
    }
    json_close(json, '}');
    return complete;
}

static bool put_example(struct json_writer *json, const struct example_features *features) {
    bool complete = true;
    json_open(json, '{');
    if (features->has_features) complete = put_features(json, "features", features);
    json_close(json, '}');
    return complete;
}

/* Writes a FeatureList message, which is {} if it has no steps. */
static bool put_steps(struct json_writer *json, const struct example_feature *steps, size_t count) {
    bool complete = true;
    json_open(json, '{');
    if (count > 0) {
        json_key(json, "feature");
        json_open(json, '[');
        for (size_t i = 0; complete && i < count; i++)
            complete = put_feature(json, &steps[i], sequence_values_begin(&steps[i]));
        json_close(json, ']');
    }
    json_close(json, '}');
    return complete;
}

static bool put_lists(struct json_writer *json, const struct sequence_features *sequence) {
    bool complete = true;
    json_key(json, "featureLists");
    json_open(json, '{');
    if (sequence->list_count > 0) {
        json_key(json, "featureList");
        json_open(json, '{');
        for (size_t i = 0; complete && i < sequence->list_count; i++) {
            const struct sequence_list *list = &sequence->lists[i];
            json_key_sized(json, list->name, list->name_size);
            complete = put_steps(json, sequence_steps(sequence, list), list->step_count);
        }
        json_close(json, '}');
    }
    json_close(json, '}');
    return complete;
}

static bool put_sequence(struct json_writer *json, const struct sequence_features *sequence) {
    bool complete = true;
    json_open(json, '{');
    if (sequence->context.has_features)
        complete = put_features(json, "context", &sequence->context);
    if (complete && sequence->has_lists) complete = put_lists(json, sequence);
    json_close(json, '}');
    return complete;
}

static void put_base64(struct json_writer *json, const recmap_record *record) {
    json_open(json, '{');
    json_key(json, "number");
    json_uint64(json, record->number);
    json_key(json, "base64");
    json_base64(json, record->data, record->size);
    json_close(json, '}');
}

/* Each function appends the record if it is such a message and JSON loses nothing; `complete` tells
 * which. */
static recmap_status try_example(struct json_writer *json, bool *complete,
                                 const recmap_record *record) {
    struct example_features features = EXAMPLE_FEATURES_INIT;
    recmap_status status = example_features_read(&features, record->data, record->size, NULL);
    *complete = status == RECMAP_OK && !features.saw_unknown && put_example(json, &features);
    example_features_deinit(&features);
    return status == RECMAP_NO_MEMORY ? status : RECMAP_OK;
}

static recmap_status try_sequence(struct json_writer *json, bool *complete,
                                  const recmap_record *record) {
    struct sequence_features sequence = {0};
    recmap_status status = sequence_features_read(&sequence, record->data, record->size, NULL);
    *complete = status == RECMAP_OK && !sequence.saw_unknown && put_sequence(json, &sequence);
    sequence_features_deinit(&sequence);
    return status == RECMAP_NO_MEMORY ? status : RECMAP_OK;
}

recmap_status recmap_record_to_json(recmap_text *text, const recmap_record *record,
                                    recmap_error *error) {
    bool complete = false;
    struct foreign foreign;
    struct json_writer json = json_begin(text);
    recmap_status status = RECMAP_OK;
    if (!foreign_find(&foreign, record->data, record->size)) {
        status = try_example(&json, &complete, record);
        if (status == RECMAP_OK && !complete && !json.failed) {
            json_restart(&json);
            status = try_sequence(&json, &complete, record);
        }
    }
    if (status == RECMAP_OK && !complete && !json.failed) {
        json_restart(&json);
        put_base64(&json, record);
    }
    json.failed |= status != RECMAP_OK;
    return json_end(&json, error);
}
