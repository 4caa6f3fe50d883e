/* What is known of one feature, or one feature list, over the records of a schema. */
#ifndef RECMAP_EXAMPLE_FEATURE_STATS_H
#define RECMAP_EXAMPLE_FEATURE_STATS_H

#include <recmap/example.h>

#include "example/feature.h"

struct feature_stats {
    const char *name; /* ended by a NUL; may hold NULs before that */
    size_t name_size;
    bool is_list;
    uint64_t held_count;  /* records that hold it with a kind; that have the list */
    uint64_t unset_count; /* records that have it without a kind; steps without one */
    uint64_t step_count;
    uint64_t min_steps;
    uint64_t max_steps;
    uint64_t length_count; /* features or steps with a kind */
    uint64_t min_length;   /* values, over those */
    uint64_t max_length;
    unsigned kinds; /* bit 1 << recmap_type of each kind seen */
    uint64_t int64_count;
    int64_t min_int64;
    int64_t max_int64;
    uint64_t float_count; /* that are no NaN */
    uint64_t nan_count;
    float min_float;
    float max_float;
    uint64_t bytes_count;
    uint64_t min_size;
    uint64_t max_size;
};

/* One whose name, of these bytes, is its own; malloc'ed. NULL when memory is out. */
struct feature_stats *feature_stats_create(const uint8_t *name, size_t name_size, bool is_list);

/* By features and lists, then by the bytes of names. */
int feature_stats_compare(const struct feature_stats *a, const struct feature_stats *b);

/* Adds what a record holds: a feature, or a list of steps. */
void feature_stats_add(struct feature_stats *stats, const struct example_feature *feature);
void feature_stats_add_list(struct feature_stats *stats, const struct example_feature *steps,
                            size_t count);

/* As users see it. */
recmap_schema_feature feature_stats_describe(const struct feature_stats *stats,
                                             uint64_t record_count);

#endif
