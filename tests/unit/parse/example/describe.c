#include "unit/parse/example/describe.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/text/json.h"
#include "parse/example/example.h"

static void put(recmap_text *text, const char *format, ...) {
    char part[64];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(part, sizeof part, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof part || !text_append(text, part, (size_t)size)) abort();
}

static void put_quoted(recmap_text *text, const uint8_t *data, size_t size) {
    put(text, "\"");
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '\n') put(text, "\\n");
        else if (data[i] == '"' || data[i] == '\\') put(text, "\\%c", data[i]);
        else if (data[i] < 0x20 || data[i] > 0x7e) put(text, "\\%03o", data[i]);
        else put(text, "%c", data[i]);
    }
    put(text, "\"");
}

static void put_value(recmap_text *text, const recmap_value *value) {
    put(text, "value: ");
    if (value->type == RECMAP_TYPE_INT64) put(text, "%lld", (long long)value->as.int64);
    else if (value->type == RECMAP_TYPE_FLOAT) put(text, "%.9g", (double)value->as.float32);
    else put_quoted(text, value->as.bytes.data, value->as.bytes.size);
    put(text, " ");
}

static void put_feature(recmap_text *text, const struct example_feature *feature) {
    static const char *const names[] = {"", "int64_list", "float_list", "bytes_list"};
    put(text, "value { ");
    if (feature->kind != RECMAP_TYPE_NONE) {
        put(text, "%s { ", names[feature->kind]);
        struct example_values values = example_values_begin(feature);
        for (recmap_value value; example_values_next(&value, &values);) put_value(text, &value);
        put(text, "} ");
    }
    put(text, "} ");
}

/* Writes the reason if the record is refused, otherwise its features in text form. */
void describe(recmap_text *text, const uint8_t *data, size_t size) {
    struct example_features features = EXAMPLE_FEATURES_INIT;
    struct example_fault fault;
    text->size = 0;
    recmap_status status = example_features_read(&features, data, size, &fault);
    if (status == RECMAP_NO_MEMORY) abort();
    if (status != RECMAP_OK) {
        put(text, "REJECT: %s", fault.reason);
        example_features_deinit(&features);
        return;
    }
    put(text, features.has_features ? "{features { " : "{");
    for (size_t i = 0; i < features.count; i++) {
        put(text, "feature { key: ");
        put_quoted(text, features.entries[i].name, features.entries[i].name_size);
        put(text, " ");
        put_feature(text, &features.entries[i].feature);
        put(text, "} ");
    }
    put(text, features.has_features ? "}}" : "}");
    example_features_deinit(&features);
}
