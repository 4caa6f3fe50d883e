/* Statistics of one field of rows, or one path of JSON objects, which are features too. Values are
 * added one by one, and counted when their record ends: an array of objects has values of one path
 * in many places. */
#ifndef RECMAP_PARSE_EXAMPLE_TEXT_STATS_H
#define RECMAP_PARSE_EXAMPLE_TEXT_STATS_H

#include <recmap/example.h>

struct feature_stats;

enum text_kind { TEXT_INT64, TEXT_FLOAT, TEXT_BYTES, TEXT_BOOL };

/* What a text reads like. */
struct text_value {
    enum text_kind kind;
    int64_t integer; /* of INT64 */
    double number;   /* of FLOAT */
    size_t size;     /* of the text, without quotes and escapes */
};

struct text_stats {
    bool is_used; /* the feature is of text */
    bool is_row;  /* values have no types: the kind is the narrowest that fits all of them */
    /* Of the record that is being added. */
    bool is_held;
    bool has_null;
    uint64_t length;
    /* Of all records. */
    unsigned kinds;       /* bit 1 << text_kind for each kind of values seen */
    uint64_t value_count; /* of any kind */
    unsigned min_depth;   /* of the arrays that values are in */
    unsigned max_depth;
};

/* Adds a value within `depth` arrays to the record; an empty array, which is the last of `depth`;
 * or a value that is missing, such as null. */
void text_stats_add(struct feature_stats *stats, const struct text_value *value, unsigned depth);
void text_stats_add_array(struct feature_stats *stats, unsigned depth);
void text_stats_add_null(struct feature_stats *stats);

/* Counts what was added since the last record, which may be nothing. */
void text_stats_end_record(struct feature_stats *stats);

/* The kind, whether all values can be FIXED_LEN, and the ranges, in the public form. */
void text_stats_describe(recmap_schema_feature *feature, const struct feature_stats *stats,
                         uint64_t record_count);

#endif
