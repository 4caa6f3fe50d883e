#include "unit/parse/columns/parse_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void put_int64_values(struct message *list, const char *text) {
    struct message packed;
    packed.size = 0;
    while (*text) {
        char *end;
        put_varint(&packed, (uint64_t)strtoll(text, &end, 10));
        text = *end ? end + 1 : end;
    }
    if (packed.size) put_sub(list, 1, &packed);
}

static void put_float_values(struct message *list, const char *text) {
    struct message packed;
    packed.size = 0;
    while (*text) {
        char *end;
        float value = strtof(text, &end);
        uint32_t bits;
        uint8_t stored[4];
        memcpy(&bits, &value, sizeof bits);
        store32(stored, bits);
        put_raw(&packed, stored, sizeof stored);
        text = *end ? end + 1 : end;
    }
    if (packed.size) put_sub(list, 1, &packed);
}

/* "b:" is none, "b:," two empty ones. */
static void put_bytes_values(struct message *list, const char *text) {
    if (!*text) return;
    for (;;) {
        size_t size = strcspn(text, ",");
        put_bytes(list, 1, text, size);
        if (!text[size]) return;
        text += size + 1;
    }
}

/* "i:1,2", "f:1", "b:x" or "?" as the message Feature. */
static void put_feature(struct message *feature, const char *text) {
    struct message list;
    list.size = 0;
    if (text[0] == '?') return;
    if (text[0] == 'i') put_int64_values(&list, text + 2);
    else if (text[0] == 'f') put_float_values(&list, text + 2);
    else if (text[0] == 'b') put_bytes_values(&list, text + 2);
    else abort();
    put_sub(feature, text[0] == 'i' ? 3 : text[0] == 'f' ? 2 : 1, &list);
}

/* An entry of a map: `value` is its message. */
static void put_map_entry(struct message *map, const char *name, const struct message *value) {
    struct message entry;
    entry.size = 0;
    put_bytes(&entry, 1, name, strlen(name));
    put_sub(&entry, 2, value);
    put_sub(map, 1, &entry);
}

static void put_steps(struct message *list, char *text) {
    struct message step;
    while (*text == '[') {
        char *end = strchr(text, ']');
        if (!end) abort();
        *end = 0;
        step.size = 0;
        put_feature(&step, text + 1);
        put_sub(list, 1, &step);
        text = end + 1;
    }
}

/* All of "name=value name=value". */
static void put_map(struct message *map, char *text, bool is_list) {
    struct message value;
    char *rest = text;
    while (rest && *rest) {
        char *word = rest;
        rest = strchr(word, ' ');
        if (rest) *rest++ = 0;
        char *equals = strchr(word, '=');
        if (!equals) abort();
        *equals = 0;
        value.size = 0;
        if (is_list) put_steps(&value, equals + 1);
        else put_feature(&value, equals + 1);
        put_map_entry(map, word, &value);
    }
}

void put_record(struct message *message, const char *text, int is_sequence) {
    char copy[4096];
    struct message map;
    if (strlen(text) >= sizeof copy) abort();
    snprintf(copy, sizeof copy, "%s", text);
    char *lists = strstr(copy, "| ");
    if (lists) {
        lists[lists > copy ? -1 : 0] = 0;
        lists += 2;
    }
    map.size = 0;
    put_map(&map, copy, false);
    if (map.size) put_sub(message, 1, &map);
    map.size = 0;
    if (is_sequence && lists) put_map(&map, lists, true);
    if (map.size) put_sub(message, 2, &map);
}

/* Describing */

struct writer {
    char *text;
    size_t size, capacity;
};

static void put(struct writer *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (w->size < w->capacity)
        w->size += (size_t)vsnprintf(w->text + w->size, w->capacity - w->size, format, arguments);
    va_end(arguments);
}

static double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023, value;
    if (exponent == 31) value = fraction > 0 ? 0.0 / 0.0 : 1e300 * 1e300;
    else
        value = exponent ? (1024 + fraction) * (double)(1ull << exponent) / (1 << 25)
                         : fraction / (1 << 24);
    return bits >> 15 ? -value : value;
}

static double brain_value(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

static void put_bytes_value(struct writer *w, const recmap_column *column, uint64_t i) {
    if (column->views) {
        put(w, "%.*s", (int)column->views[i].size, (const char *)column->views[i].data);
        return;
    }
    const int64_t *offsets = column->bytes_offsets;
    put(w, "%.*s", (int)(offsets[i + 1] - offsets[i]), (const char *)column->values + offsets[i]);
}

/* Writes one value as text, by the column's element type. */
static void put_value(struct writer *w, const recmap_column *column, uint64_t i) {
    const void *v = column->values;
    switch (column->element) {
    case RECMAP_ELEMENT_INT64: put(w, "%lld", (long long)((const int64_t *)v)[i]); break;
    case RECMAP_ELEMENT_INT32: put(w, "%d", ((const int32_t *)v)[i]); break;
    case RECMAP_ELEMENT_INT16: put(w, "%d", ((const int16_t *)v)[i]); break;
    case RECMAP_ELEMENT_INT8: put(w, "%d", ((const int8_t *)v)[i]); break;
    case RECMAP_ELEMENT_UINT64: put(w, "%llu", (unsigned long long)((const uint64_t *)v)[i]); break;
    case RECMAP_ELEMENT_UINT32: put(w, "%u", ((const uint32_t *)v)[i]); break;
    case RECMAP_ELEMENT_UINT16: put(w, "%u", ((const uint16_t *)v)[i]); break;
    case RECMAP_ELEMENT_BOOL:
    case RECMAP_ELEMENT_UINT8: put(w, "%u", ((const uint8_t *)v)[i]); break;
    case RECMAP_ELEMENT_FLOAT32: put(w, "%g", (double)((const float *)v)[i]); break;
    case RECMAP_ELEMENT_FLOAT64: put(w, "%g", ((const double *)v)[i]); break;
    case RECMAP_ELEMENT_FLOAT16: put(w, "%g", half_value(((const uint16_t *)v)[i])); break;
    case RECMAP_ELEMENT_BFLOAT16: put(w, "%g", brain_value(((const uint16_t *)v)[i])); break;
    case RECMAP_ELEMENT_BYTES: put_bytes_value(w, column, i); break;
    case RECMAP_ELEMENT_NONE: put(w, "?"); break;
    }
}

/* Values from `index` of dimension `dimension` on. */
static void put_dense(struct writer *w, const recmap_column *column, size_t dimension,
                      uint64_t index) {
    if (dimension == column->dimension_count) {
        put_value(w, column, index);
        return;
    }
    put(w, "[");
    for (uint64_t i = 0; i < column->shape[dimension]; i++) {
        if (i) put(w, ", ");
        put_dense(w, column, dimension + 1, index * column->shape[dimension] + i);
    }
    put(w, "]");
}

static bool is_valid(const recmap_column *column, uint64_t row) {
    return !column->validity || column->validity[row / 8] >> row % 8 & 1;
}

/* Item `index` of offsets level `level`; after the last level, it is an item of the values. */
static void put_item(struct writer *w, const recmap_column *column, size_t level, uint64_t index) {
    if (level == column->offsets_count) {
        put_dense(w, column, 1, index);
        return;
    }
    const int64_t *offsets = column->offsets[level];
    put(w, "[");
    for (int64_t i = offsets[index]; i < offsets[index + 1]; i++) {
        if (i > offsets[index]) put(w, ", ");
        put_item(w, column, level + 1, (uint64_t)i);
    }
    put(w, "]");
}

static void put_numbers(struct writer *w, const char *title, const int64_t *numbers,
                        uint64_t count) {
    put(w, " %s [", title);
    for (uint64_t i = 0; i < count; i++) put(w, i ? ", %lld" : "%lld", (long long)numbers[i]);
    put(w, "]");
}

static bool is_aligned(const void *memory) {
    return memory && (uintptr_t)memory % 64 == 0;
}

static const char *check_offsets(const int64_t *offsets, uint64_t count, uint64_t end) {
    if (!is_aligned(offsets)) return "offsets are not aligned";
    if (offsets[0] != 0) return "offsets do not begin with 0";
    for (uint64_t i = 0; i < count; i++)
        if (offsets[i] > offsets[i + 1]) return "offsets do not ascend";
    if ((uint64_t)offsets[count] != end) return "offsets do not end with the count";
    return NULL;
}

static const char *check_levels(const recmap_column *column) {
    uint64_t count = column->row_count;
    for (size_t i = 0; i < column->offsets_count; i++) {
        const int64_t *offsets = column->offsets[i];
        uint64_t end = i + 1 < column->offsets_count ? (uint64_t)offsets[count] : column->shape[0];
        const char *wrong = check_offsets(offsets, count, end);
        if (wrong) return wrong;
        count = end;
    }
    return NULL;
}

static const char *check_bytes(const recmap_column *column) {
    if (!column->views) {
        if (!is_aligned(column->values)) return "values are not aligned";
        return check_offsets(column->bytes_offsets, column->value_count,
                             (uint64_t)column->bytes_offsets[column->value_count]);
    }
    for (uint64_t i = 0; i < column->value_count; i++)
        if (!column->views[i].data) return "a view is NULL";
    return NULL;
}

static const char *check_nulls(const recmap_column *column) {
    uint64_t nulls = 0;
    for (uint64_t i = 0; i < column->row_count; i++) nulls += !is_valid(column, i);
    if (nulls != column->null_count) return "null_count does not fit";
    return !column->validity != !column->null_count ? "validity is there for nothing" : NULL;
}

static const char *check_column(const recmap_column *column) {
    uint64_t count = 1;
    if (column->dimension_count == 0) return "no shape";
    for (size_t i = 0; i < column->dimension_count; i++) count *= column->shape[i];
    if (count != column->value_count) return "value_count is not the shape's";
    if (column->offsets_count == 0 && column->shape[0] != column->row_count)
        return "rows do not fit";
    const char *wrong = check_nulls(column);
    if (!wrong && column->element == RECMAP_ELEMENT_BYTES) wrong = check_bytes(column);
    else if (!wrong && !is_aligned(column->values)) wrong = "values are not aligned";
    return wrong ? wrong : check_levels(column);
}

static void put_column(struct writer *w, const recmap_column *column) {
    put(w, "[");
    for (uint64_t row = 0; row < column->row_count; row++) {
        put(w, "%s%s", row ? ", " : "", is_valid(column, row) ? "" : "~");
        if (column->offsets_count) put_item(w, column, 0, row);
        else put_dense(w, column, 1, row);
    }
    put(w, "]");
    if (column->lengths) put_numbers(w, "lengths", column->lengths, column->row_count);
    if (!column->indices) return;
    size_t width = column->dense_dimension_count;
    put_numbers(w, "indices", column->indices, column->value_count * width);
    put_numbers(w, "shape", (const int64_t *)column->dense_shape, width);
}

const char *describe_column(const recmap_column *column) {
    static char texts[4][1 << 16];
    static unsigned turn;
    struct writer w = {texts[turn++ % 4], 0, sizeof texts[0]};
    const char *wrong = check_column(column);
    w.text[0] = 0;
    if (wrong) put(&w, "BROKEN: %s", wrong);
    else put_column(&w, column);
    return w.text;
}

void batch_add(struct text_batch *batch, const char *text, int is_sequence) {
    struct message message;
    message.size = 0;
    put_record(&message, text, is_sequence);
    if (batch->count == BATCH_MAX) abort();
    recmap_record *record = &batch->records[batch->count];
    *record = (recmap_record){.data = copy_exact(message.data, message.size), .size = message.size};
    record->number = 1000 + batch->count++;
}

void text_batch_deinit(struct text_batch *batch) {
    for (size_t i = 0; i < batch->count; i++) free((void *)(uintptr_t)batch->records[i].data);
    batch->count = 0;
}

/* The batch of the texts through the parser, which is there. */
static recmap_status parse_batch(struct parsing *parsing, recmap_parse_mode mode,
                                 const char *const *texts, struct text_batch *batch,
                                 int is_sequence) {
    batch->count = 0;
    for (; *texts; texts++) batch_add(batch, *texts, is_sequence);
    assert_int_equal(recmap_columns_create(&parsing->columns, NULL), RECMAP_OK);
    return recmap_parser_parse(parsing->columns, parsing->parser, batch->records, batch->count,
                               mode, &parsing->error);
}

recmap_status parse_texts(struct parsing *parsing, const recmap_feature *features, size_t count,
                          recmap_parse_mode mode, const char *const *texts,
                          struct text_batch *batch) {
    *parsing = (struct parsing){.error = RECMAP_ERROR_INIT};
    recmap_status status = recmap_parser_create(&parsing->parser, features, count, &parsing->error);
    if (status != RECMAP_OK) print_message("%s\n", parsing->error.message);
    assert_int_equal(status, RECMAP_OK);
    return parse_batch(parsing, mode, texts, batch, 0);
}

recmap_status parse_sequences(struct parsing *parsing, const recmap_feature *context,
                              size_t context_count, const recmap_feature *lists, size_t list_count,
                              recmap_parse_mode mode, const char *const *texts,
                              struct text_batch *batch) {
    *parsing = (struct parsing){.error = RECMAP_ERROR_INIT};
    recmap_status status = recmap_parser_create_sequence(&parsing->parser, context, context_count,
                                                         lists, list_count, &parsing->error);
    if (status != RECMAP_OK) print_message("%s\n", parsing->error.message);
    assert_int_equal(status, RECMAP_OK);
    return parse_batch(parsing, mode, texts, batch, 1);
}

void parsing_deinit(struct parsing *parsing) {
    recmap_columns_destroy(parsing->columns);
    recmap_parser_release(parsing->parser);
}

void expect_column(const struct parsing *parsing, const char *name, const char *expected) {
    const recmap_column *column = recmap_columns_find(parsing->columns, name);
    assert_non_null(column);
    assert_string_equal(describe_column(column), expected);
}
