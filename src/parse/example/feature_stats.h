/* Statistics of one feature or feature list over the records of a schema. */
#ifndef RECMAP_PARSE_EXAMPLE_FEATURE_STATS_H
#define RECMAP_PARSE_EXAMPLE_FEATURE_STATS_H

#include <recmap/example.h>

#include "parse/example/feature.h"
#include "parse/example/picture_stats.h"
#include "parse/example/text_stats.h"

/* The largest float up to which all integers are floats, and one that no int64 reaches. */
#define FLOAT_EXACT_MAX 0x1p24f
#define FLOAT_INTEGER_LIMIT 0x1p63f

struct feature_stats {
    const char *name; /* NUL-terminated; may also contain NULs */
    size_t name_size;
    bool is_list;
    uint64_t held_count;  /* records with this feature and a kind, or with this list */
    uint64_t unset_count; /* records with this feature but no kind; steps without a kind */
    uint64_t step_count;
    uint64_t min_steps;
    uint64_t max_steps;
    uint64_t length_count; /* features or steps with a kind */
    uint64_t min_length;   /* number of values, over those */
    uint64_t max_length;
    unsigned kinds;       /* bit 1 << recmap_type for each kind of values seen */
    unsigned empty_kinds; /* the same for empty lists */
    uint64_t int64_count;
    int64_t min_int64;
    int64_t max_int64;
    uint64_t float_count; /* except NaNs */
    uint64_t nan_count;
    uint64_t infinite_count;
    uint64_t inexact_count; /* beyond 2^24, where a float cannot be every integer, and below 2^63 */
    float min_float;
    float max_float;
    uint64_t bytes_count;
    uint64_t min_size;
    uint64_t max_size;
    struct picture_stats pictures;
    struct text_stats text;
};

/* Returns malloc'ed statistics with a copy of the name, or NULL if memory runs out. */
struct feature_stats *feature_stats_create(const uint8_t *name, size_t name_size, bool is_list);

/* Orders features before lists, then by the bytes of the names. */
int feature_stats_compare(const struct feature_stats *a, const struct feature_stats *b);

/* Adds one record's feature, or its list of steps. */
void feature_stats_add(struct feature_stats *stats, const struct example_feature *feature);
void feature_stats_add_list(struct feature_stats *stats, const struct example_feature *steps,
                            size_t count);

/* Converts to the public form. */
recmap_schema_feature feature_stats_describe(const struct feature_stats *stats,
                                             uint64_t record_count);

#endif
