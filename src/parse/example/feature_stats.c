#include "parse/example/feature_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parse/example/sequence_features.h"
#include "parse/varints/varints.h"

enum {
    PACKED_MIN = 8, /* fewer numbers are read one by one: that takes less time */
    CHUNK = 512,    /* varints decoded at a time */
};

struct feature_stats *feature_stats_create(const uint8_t *name, size_t name_size, bool is_list) {
    struct feature_stats *stats = malloc(sizeof *stats + name_size + 1);
    if (!stats) return NULL;
    char *copy = (char *)(stats + 1);
    if (name_size) memcpy(copy, name, name_size);
    copy[name_size] = 0;
    *stats = (struct feature_stats){.name = copy, .name_size = name_size, .is_list = is_list};
    return stats;
}

int feature_stats_compare(const struct feature_stats *a, const struct feature_stats *b) {
    if (a->is_list != b->is_list) return a->is_list ? 1 : -1;
    size_t size = a->name_size < b->name_size ? a->name_size : b->name_size;
    int order = memcmp(a->name, b->name, size);
    if (order) return order;
    return (a->name_size > b->name_size) - (a->name_size < b->name_size);
}

/* Extend a range by one value. */
static void widen_int64(struct feature_stats *stats, int64_t value) {
    bool is_first = stats->int64_count++ == 0;
    if (is_first || value < stats->min_int64) stats->min_int64 = value;
    if (is_first || value > stats->max_int64) stats->max_int64 = value;
}

static void widen_float(struct feature_stats *stats, float value) {
    if (isnan(value)) {
        stats->nan_count++;
        return;
    }
    float size = fabsf(value);
    if (size > FLOAT_EXACT_MAX) {
        if (isinf(value)) stats->infinite_count++;
        else stats->inexact_count += size < FLOAT_INTEGER_LIMIT;
    }
    bool is_first = stats->float_count++ == 0;
    if (is_first || value < stats->min_float) stats->min_float = value;
    if (is_first || value > stats->max_float) stats->max_float = value;
}

static void widen_count(uint64_t *min, uint64_t *max, bool is_first, uint64_t value) {
    if (is_first || value < *min) *min = value;
    if (is_first || value > *max) *max = value;
}

static void add_value(struct feature_stats *stats, const recmap_value *value) {
    switch (value->type) {
    case RECMAP_TYPE_INT64: widen_int64(stats, value->as.int64); break;
    case RECMAP_TYPE_FLOAT: widen_float(stats, value->as.float32); break;
    default:
        widen_count(&stats->min_size, &stats->max_size, stats->bytes_count++ == 0,
                    value->as.bytes.size);
        picture_stats_add(&stats->pictures, value->as.bytes.data, value->as.bytes.size);
    }
}

/* Adds floats that lie in one piece. The statistics are kept in registers meanwhile. */
static void add_floats(struct feature_stats *stats, const uint8_t *floats, uint64_t count) {
    struct feature_stats local = *stats;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits = load32(floats + 4 * i);
        float value;
        memcpy(&value, &bits, sizeof value);
        widen_float(&local, value);
    }
    *stats = local;
}

static int64_t min_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t max_of(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Compares values with each other first: a chain of comparisons with one range takes longer. */
static void widen_int64s(struct feature_stats *stats, const int64_t *values, size_t count) {
    int64_t min = stats->int64_count ? stats->min_int64 : INT64_MAX;
    int64_t max = stats->int64_count ? stats->max_int64 : INT64_MIN;
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const int64_t *four = values + i;
        min = min_of(min, min_of(min_of(four[0], four[1]), min_of(four[2], four[3])));
        max = max_of(max, max_of(max_of(four[0], four[1]), max_of(four[2], four[3])));
    }
    for (; i < count; i++) {
        min = min_of(min, values[i]);
        max = max_of(max, values[i]);
    }
    stats->min_int64 = min;
    stats->max_int64 = max;
    stats->int64_count += count;
}

/* The same for varints. Returns false, and adds nothing, if the piece has another number of them.
 */
static bool add_varints(struct feature_stats *stats, struct wire varints, uint64_t count) {
    int64_t values[CHUNK + VARINTS_SLACK / sizeof(int64_t)];
    struct feature_stats local = {.int64_count = stats->int64_count,
                                  .min_int64 = stats->min_int64,
                                  .max_int64 = stats->max_int64};
    while (!wire_done(&varints)) {
        size_t size = varints_cut(varints.at, wire_left(&varints), CHUNK);
        size_t decoded = size ? varints_best()(values, CHUNK, varints.at, size) : VARINTS_BAD;
        if (decoded == VARINTS_BAD) return false;
        widen_int64s(&local, values, decoded);
        varints.at += size;
    }
    if (local.int64_count - stats->int64_count != count) return false;
    stats->int64_count = local.int64_count;
    stats->min_int64 = local.min_int64;
    stats->max_int64 = local.max_int64;
    return true;
}

/* Writers pack all numbers of a feature together. Returns false, and adds nothing, for any other
 * form. */
static bool add_packed(struct feature_stats *stats, const struct example_feature *feature) {
    const struct wire *first = &feature->first;
    if (feature->count < PACKED_MIN) return false;
    if (feature->kind == RECMAP_TYPE_INT64) return add_varints(stats, *first, feature->count);
    if (feature->kind != RECMAP_TYPE_FLOAT || wire_left(first) / 4 != feature->count) return false;
    add_floats(stats, first->at, feature->count);
    return true;
}

static void add_values(struct feature_stats *stats, const struct example_feature *feature,
                       struct example_values values) {
    recmap_value value;
    if (feature->count) stats->kinds |= 1u << feature->kind;
    else stats->empty_kinds |= 1u << feature->kind;
    widen_count(&stats->min_length, &stats->max_length, stats->length_count++ == 0, feature->count);
    if (feature->count == 1) {
        value = example_feature_first(feature);
        add_value(stats, &value);
        return;
    }
    if (add_packed(stats, feature)) return;
    while (example_values_next(&value, &values)) add_value(stats, &value);
}

void feature_stats_add(struct feature_stats *stats, const struct example_feature *feature) {
    if (feature->kind == RECMAP_TYPE_NONE) {
        stats->unset_count++;
        return;
    }
    stats->held_count++;
    add_values(stats, feature, example_values_begin(feature));
}

void feature_stats_add_list(struct feature_stats *stats, const struct example_feature *steps,
                            size_t count) {
    widen_count(&stats->min_steps, &stats->max_steps, stats->held_count++ == 0, count);
    stats->step_count += count;
    for (size_t i = 0; i < count; i++) {
        if (steps[i].kind == RECMAP_TYPE_NONE) stats->unset_count++;
        else add_values(stats, &steps[i], sequence_values_begin(&steps[i]));
    }
}

/* Empty lists say what the kind is only if no record has values, and if they agree. */
static const char *kind_name(const struct feature_stats *stats) {
    unsigned kinds = stats->kinds ? stats->kinds : stats->empty_kinds;
    if (!kinds || (!stats->kinds && kinds & (kinds - 1))) return "unset";
    return kinds & (kinds - 1) ? "mixed" : recmap_type_name((recmap_type)__builtin_ctz(kinds));
}

static double share(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

/* Returns whether every record with the feature (or every step) has the same number of values, at
 * least one. */
static bool is_fixed(const struct feature_stats *stats, uint64_t record_count) {
    uint64_t all = stats->is_list ? stats->step_count : record_count;
    bool has_one_kind = stats->kinds && !(stats->kinds & (stats->kinds - 1));
    return has_one_kind && stats->length_count == all && stats->min_length > 0 &&
           stats->min_length == stats->max_length;
}

/* `missing_share` counts records without the feature; an unset feature is present but has no kind.
 * Lists have no unset state of their own; their steps do. */
recmap_schema_feature feature_stats_describe(const struct feature_stats *stats,
                                             uint64_t record_count) {
    const struct picture_size size = picture_stats_size(&stats->pictures);
    recmap_schema_feature feature = {
        .name = stats->name,
        .name_size = stats->name_size,
        .kind = kind_name(stats),
        .share = share(stats->held_count, record_count),
        .min_length = stats->min_length,
        .max_length = stats->max_length,
        .is_list = stats->is_list,
        .is_fixed = is_fixed(stats, record_count),
        .unset_share = share(stats->unset_count, stats->is_list ? stats->step_count : record_count),
        .missing_share =
            share(record_count - stats->held_count - (stats->is_list ? 0 : stats->unset_count),
                  record_count),
        .min_steps = stats->min_steps,
        .max_steps = stats->max_steps,
        .int64_count = stats->int64_count,
        .min_int64 = stats->min_int64,
        .max_int64 = stats->max_int64,
        .float_count = stats->float_count,
        .nan_count = stats->nan_count,
        .min_float = stats->min_float,
        .max_float = stats->max_float,
        .bytes_count = stats->bytes_count,
        .min_size = stats->min_size,
        .max_size = stats->max_size,
        .image_count = stats->pictures.count,
        .image_height = size.height,
        .image_width = size.width,
        .has_wide_gray = stats->pictures.has_wide_gray,
        .turned_count = stats->pictures.turned_count,
    };
    if (stats->text.is_used) text_stats_describe(&feature, stats, record_count);
    return feature;
}
