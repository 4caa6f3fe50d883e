#include <math.h>

#include "parse/example/feature_stats.h"

static void widen(uint64_t *min, uint64_t *max, bool is_first, uint64_t value) {
    if (is_first || value < *min) *min = value;
    if (is_first || value > *max) *max = value;
}

static void add_integer(struct feature_stats *stats, int64_t value) {
    bool is_first = stats->int64_count++ == 0;
    if (is_first || value < stats->min_int64) stats->min_int64 = value;
    if (is_first || value > stats->max_int64) stats->max_int64 = value;
}

static void add_number(struct feature_stats *stats, float value) {
    if (isnan(value)) {
        stats->nan_count++;
        return;
    }
    bool is_first = stats->float_count++ == 0;
    if (is_first || value < stats->min_float) stats->min_float = value;
    if (is_first || value > stats->max_float) stats->max_float = value;
}

static void add_depth(struct text_stats *text, bool is_first, unsigned depth) {
    if (is_first || depth < text->min_depth) text->min_depth = depth;
    if (is_first || depth > text->max_depth) text->max_depth = depth;
}

static bool has_depth(const struct feature_stats *stats) {
    return stats->text.value_count || stats->text.is_held || stats->held_count;
}

void text_stats_add(struct feature_stats *stats, const struct text_value *value, unsigned depth) {
    struct text_stats *text = &stats->text;
    add_depth(text, !has_depth(stats), depth);
    widen(&stats->min_size, &stats->max_size, text->value_count++ == 0, value->size);
    text->kinds |= 1u << value->kind;
    text->is_held = true;
    text->length++;
    if (value->kind == TEXT_INT64) add_integer(stats, value->integer);
    if (value->kind == TEXT_FLOAT) add_number(stats, (float)value->number);
}

void text_stats_add_array(struct feature_stats *stats, unsigned depth) {
    add_depth(&stats->text, !has_depth(stats), depth);
    stats->text.is_held = true;
}

void text_stats_add_null(struct feature_stats *stats) {
    stats->text.has_null = true;
}

void text_stats_end_record(struct feature_stats *stats) {
    struct text_stats *text = &stats->text;
    if (text->is_held) {
        widen(&stats->min_length, &stats->max_length, stats->length_count++ == 0, text->length);
        stats->held_count++;
    } else {
        stats->unset_count += text->has_null;
    }
    text->is_held = text->has_null = false;
    text->length = 0;
}

static bool has_kind(const struct text_stats *text, enum text_kind kind) {
    return text->kinds & 1u << kind;
}

static bool has_several_kinds(const struct text_stats *text) {
    bool has_numbers = has_kind(text, TEXT_INT64) || has_kind(text, TEXT_FLOAT);
    return has_numbers + has_kind(text, TEXT_BYTES) + has_kind(text, TEXT_BOOL) > 1;
}

static const char *kind_name(const struct text_stats *text) {
    if (text->max_depth > 1) return "nested";
    if (!text->kinds) return "unset";
    if (text->min_depth < text->max_depth) return "mixed";
    if (!text->is_row && has_several_kinds(text)) return "mixed";
    if (has_kind(text, TEXT_BYTES)) return "bytes";
    if (has_kind(text, TEXT_BOOL)) return "bool";
    return has_kind(text, TEXT_FLOAT) ? "float" : "int64";
}

/* An integer among floats is one of them. */
static void join_numbers(recmap_schema_feature *feature) {
    float min = (float)feature->min_int64, max = (float)feature->max_int64;
    if (!feature->int64_count) return;
    if (!feature->float_count || min < feature->min_float) feature->min_float = min;
    if (!feature->float_count || max > feature->max_float) feature->max_float = max;
    feature->float_count += feature->int64_count;
    feature->int64_count = 0;
}

/* A text among numbers of rows makes all of them texts. */
static void join_texts(recmap_schema_feature *feature, const struct text_stats *text) {
    feature->int64_count = feature->float_count = feature->nan_count = 0;
    feature->bytes_count = text->value_count;
}

/* An array is FIXED_LEN with its length as shape; the printed features have none for one value. */
void text_stats_describe(recmap_schema_feature *feature, const struct feature_stats *stats,
                         uint64_t record_count) {
    const struct text_stats *text = &stats->text;
    feature->kind = kind_name(text);
    bool has_element = *feature->kind == 'i' || *feature->kind == 'f' || *feature->kind == 'b';
    uint64_t min_length = text->max_depth ? 2 : 1;
    feature->is_fixed = has_element && stats->held_count == record_count &&
                        stats->min_length >= min_length && stats->min_length == stats->max_length;
    if (has_kind(text, TEXT_BYTES) || has_kind(text, TEXT_BOOL)) join_texts(feature, text);
    else if (has_kind(text, TEXT_FLOAT)) join_numbers(feature);
}
