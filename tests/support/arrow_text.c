#include "support/arrow_text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    char *text;
    size_t size, capacity;
    const char *wrong;
};

static struct writer begin(void) {
    static char texts[4][1 << 16];
    static unsigned turn;
    return (struct writer){texts[turn++ % 4], 0, sizeof texts[0], NULL};
}

static void put(struct writer *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (w->size < w->capacity)
        w->size += (size_t)vsnprintf(w->text + w->size, w->capacity - w->size, format, arguments);
    va_end(arguments);
}

static const char *end(struct writer *w) {
    if (!w->wrong) return w->text;
    snprintf(w->text, w->capacity, "BROKEN: %s", w->wrong);
    return w->text;
}

static void require(struct writer *w, bool holds, const char *problem) {
    if (!holds && !w->wrong) w->wrong = problem;
}

static const struct primitive {
    const char *format, *name;
    size_t size;
} primitives[] = {
    {"l", "int64", 8},        {"i", "int32", 4},        {"s", "int16", 2},  {"c", "int8", 1},
    {"L", "uint64", 8},       {"I", "uint32", 4},       {"S", "uint16", 2}, {"C", "uint8", 1},
    {"f", "float", 4},        {"e", "halffloat", 2},    {"g", "double", 8}, {"b", "bool", 0},
    {"vz", "binary_view", 0}, {"Z", "large_binary", 0},
};

static const struct primitive *primitive_of(const char *format) {
    for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
        if (strcmp(primitives[i].format, format) == 0) return &primitives[i];
    return NULL;
}

static long fixed_size_of(const char *format) {
    return strncmp(format, "+w:", 3) == 0 ? strtol(format + 3, NULL, 10) : -1;
}

static void put_metadata(struct writer *w, const char *metadata) {
    int32_t count, size;
    if (!metadata) return;
    memcpy(&count, metadata, sizeof count);
    metadata += sizeof count;
    for (int32_t i = 0; i < 2 * count; i++) {
        memcpy(&size, metadata, sizeof size);
        put(w, "%s%.*s%s", i % 2 ? "=" : "", (int)size, metadata + sizeof size, i % 2 ? " " : "");
        metadata += sizeof size + (size_t)size;
    }
}

/* Writes a type as text and checks the schema's structure at the same time. The first violation
 * ends the text. */
static void put_type(struct writer *w, const struct ArrowSchema *schema) {
    const struct primitive *primitive = primitive_of(schema->format);
    require(w, schema->release != NULL, "a schema was released");
    require(w, schema->n_children == 0 || schema->children, "children are NULL");
    require(w, !schema->dictionary, "a dictionary");
    if (w->wrong) return;
    put_metadata(w, schema->metadata);
    long fixed = fixed_size_of(schema->format);
    if (primitive) put(w, "%s", primitive->name);
    else if (fixed > 0) put(w, "fixed_size_list<");
    else if (strcmp(schema->format, "+L") == 0) put(w, "large_list<");
    else if (strcmp(schema->format, "+s") == 0) put(w, "struct<");
    else require(w, false, "an unknown format");
    require(w, !primitive || schema->n_children == 0, "a primitive with children");
    require(w, fixed <= 0 || schema->n_children == 1, "a list without one child");
    for (int64_t i = 0; i < schema->n_children; i++) {
        put(w, "%s%s: ", i ? ", " : "", schema->children[i]->name);
        put_type(w, schema->children[i]);
    }
    if (!primitive) put(w, fixed > 0 ? ">[%ld]" : ">", fixed);
}

const char *arrow_type_text(const struct ArrowSchema *schema) {
    struct writer w = begin();
    put_type(&w, schema);
    return end(&w);
}

static bool bit_at(const void *bits, int64_t index) {
    return ((const uint8_t *)bits)[index / 8] >> index % 8 & 1;
}

static bool is_null(const struct ArrowArray *array, int64_t index) {
    return array->n_buffers && array->buffers[0] && !bit_at(array->buffers[0], index);
}

static void check_nulls(struct writer *w, const struct ArrowArray *array) {
    int64_t nulls = 0;
    for (int64_t i = 0; i < array->length; i++) nulls += is_null(array, i);
    require(w, nulls == array->null_count, "null_count does not fit");
}

static void check_offsets(struct writer *w, const struct ArrowArray *array, int64_t limit) {
    const int64_t *offsets = array->buffers[1];
    require(w, offsets && (uintptr_t)offsets % 64 == 0, "offsets are not aligned");
    if (w->wrong) return;
    require(w, offsets[0] == 0, "offsets do not begin with 0");
    for (int64_t i = 0; i < array->length; i++)
        require(w, offsets[i] <= offsets[i + 1], "offsets do not ascend");
    require(w, limit < 0 || offsets[array->length] <= limit, "offsets lead too far");
}

/* A view: the size, then its bytes, or 4 of them and where all are. */
static void check_views(struct writer *w, const struct ArrowArray *array) {
    require(w, array->n_buffers >= 3, "a view array has too few buffers");
    if (w->wrong) return;
    int64_t buffers = array->n_buffers - 3;
    const int64_t *sizes = array->buffers[array->n_buffers - 1];
    for (int64_t i = 0; i < array->length; i++) {
        int32_t view[4];
        memcpy(view, (const uint8_t *)array->buffers[1] + 16 * i, sizeof view);
        const uint8_t *bytes = (const uint8_t *)array->buffers[1] + 16 * i + 4;
        require(w, view[0] >= 0, "a view has a negative size");
        if (view[0] <= 12) {
            for (int32_t j = view[0]; j < 12; j++)
                require(w, bytes[j] == 0, "a short view is not padded with zeros");
            continue;
        }
        require(w, view[2] >= 0 && view[2] < buffers, "a view names no buffer");
        if (w->wrong) return;
        require(w, view[3] >= 0 && (int64_t)view[3] + view[0] <= sizes[view[2]],
                "a view leads out of its buffer");
        if (w->wrong) return;
        require(w, memcmp(bytes, (const uint8_t *)array->buffers[2 + view[2]] + view[3], 4) == 0,
                "the prefix of a view is wrong");
    }
}

static void check_array(struct writer *w, const struct ArrowArray *array,
                        const struct ArrowSchema *schema);

static void check_children(struct writer *w, const struct ArrowArray *array,
                           const struct ArrowSchema *schema, int64_t buffers) {
    require(w, array->n_buffers == buffers, "the number of buffers is wrong");
    require(w, array->n_children == schema->n_children, "children do not fit the schema");
    for (int64_t i = 0; !w->wrong && i < array->n_children; i++)
        check_array(w, array->children[i], schema->children[i]);
}

static void check_primitive(struct writer *w, const struct ArrowArray *array, const char *format) {
    bool is_view = strcmp(format, "vz") == 0, is_binary = strcmp(format, "Z") == 0;
    require(w, array->n_children == 0, "a primitive array with children");
    require(w, is_view || array->n_buffers == (is_binary ? 3 : 2),
            "the number of buffers is wrong");
    if (w->wrong) return;
    require(w, array->buffers[1] && (uintptr_t)array->buffers[1] % 64 == 0,
            "values are not aligned");
    if (is_view) check_views(w, array);
    if (is_binary) check_offsets(w, array, -1);
    require(w, !is_binary || array->buffers[2], "bytes are NULL");
}

/* Checks an array against its schema: buffers, nulls, offsets and the lengths of its children. */
static void check_array(struct writer *w, const struct ArrowArray *array,
                        const struct ArrowSchema *schema) {
    const char *format = schema->format;
    long fixed = fixed_size_of(format);
    require(w, array->release != NULL, "an array was released");
    require(w, array->offset == 0 && array->length >= 0, "offset or length is wrong");
    require(w, !array->dictionary && array->buffers, "a dictionary, or no buffers");
    if (w->wrong) return;
    check_nulls(w, array);
    if (primitive_of(format)) {
        check_primitive(w, array, format);
    } else if (fixed > 0) {
        check_children(w, array, schema, 1);
        require(w, w->wrong || array->children[0]->length == fixed * array->length,
                "items of a fixed size do not fit");
    } else if (strcmp(format, "+L") == 0) {
        check_children(w, array, schema, 2);
        if (!w->wrong) check_offsets(w, array, array->children[0]->length);
    } else {
        check_children(w, array, schema, 1);
        for (int64_t i = 0; !w->wrong && i < array->n_children; i++)
            require(w, array->children[i]->length == array->length, "fields differ in length");
    }
}

static void put_view(struct writer *w, const struct ArrowArray *array, int64_t index) {
    int32_t view[4];
    const uint8_t *fields = (const uint8_t *)array->buffers[1] + 16 * index;
    memcpy(view, fields, sizeof view);
    const uint8_t *bytes = fields + 4;
    if (view[0] > 12) bytes = (const uint8_t *)array->buffers[2 + view[2]] + view[3];
    put(w, "%.*s", view[0], (const char *)bytes);
}

static void put_number(struct writer *w, const void *values, int64_t i, char format) {
    switch (format) {
    case 'l': put(w, "%lld", (long long)((const int64_t *)values)[i]); break;
    case 'i': put(w, "%d", ((const int32_t *)values)[i]); break;
    case 's': put(w, "%d", ((const int16_t *)values)[i]); break;
    case 'c': put(w, "%d", ((const int8_t *)values)[i]); break;
    case 'L': put(w, "%llu", (unsigned long long)((const uint64_t *)values)[i]); break;
    case 'I': put(w, "%u", ((const uint32_t *)values)[i]); break;
    case 'S': put(w, "%u", ((const uint16_t *)values)[i]); break;
    case 'C': put(w, "%u", ((const uint8_t *)values)[i]); break;
    case 'f': put(w, "%g", (double)((const float *)values)[i]); break;
    case 'g': put(w, "%g", ((const double *)values)[i]); break;
    case 'b': put(w, bit_at(values, i) ? "true" : "false"); break;
    default: put(w, "0x%04x", ((const uint16_t *)values)[i]); break;
    }
}

static void put_item(struct writer *w, const struct ArrowArray *array,
                     const struct ArrowSchema *schema, int64_t index);

static void put_range(struct writer *w, const struct ArrowArray *array,
                      const struct ArrowSchema *schema, int64_t begin, int64_t end) {
    put(w, "[");
    for (int64_t i = begin; i < end; i++) {
        if (i > begin) put(w, ", ");
        put_item(w, array->children[0], schema->children[0], i);
    }
    put(w, "]");
}

/* Writes one value as text, by the format of its schema. Nested values recurse. */
static void put_item(struct writer *w, const struct ArrowArray *array,
                     const struct ArrowSchema *schema, int64_t index) {
    const char *format = schema->format;
    long fixed = fixed_size_of(format);
    const int64_t *offsets = array->n_buffers > 1 ? array->buffers[1] : NULL;
    if (is_null(array, index)) {
        put(w, "null");
    } else if (fixed > 0) {
        put_range(w, array, schema, index * fixed, (index + 1) * fixed);
    } else if (strcmp(format, "+L") == 0) {
        put_range(w, array, schema, offsets[index], offsets[index + 1]);
    } else if (strcmp(format, "+s") == 0) {
        put(w, "{");
        for (int64_t i = 0; i < array->n_children; i++) {
            put(w, "%s%s: ", i ? ", " : "", schema->children[i]->name);
            put_item(w, array->children[i], schema->children[i], index);
        }
        put(w, "}");
    } else if (strcmp(format, "vz") == 0) {
        put_view(w, array, index);
    } else if (strcmp(format, "Z") == 0) {
        put(w, "%.*s", (int)(offsets[index + 1] - offsets[index]),
            (const char *)array->buffers[2] + offsets[index]);
    } else {
        put_number(w, array->buffers[1], index, *format);
    }
}

const char *arrow_values_text(const struct ArrowArray *array, const struct ArrowSchema *schema) {
    struct writer w = begin();
    check_array(&w, array, schema);
    put(&w, "[");
    for (int64_t i = 0; !w.wrong && i < array->length; i++) {
        if (i) put(&w, ", ");
        put_item(&w, array, schema, i);
    }
    put(&w, "]");
    return end(&w);
}
