/* A parsed expression over lifted columns: a tree of conditions. */
#ifndef RECMAP_DATASET_SELECT_FILTER_H
#define RECMAP_DATASET_SELECT_FILTER_H

#include <stdbool.h>

#include <recmap/filter.h>

enum filter_operator {
    FILTER_EQUAL,
    FILTER_NOT_EQUAL,
    FILTER_LESS,
    FILTER_LESS_EQUAL,
    FILTER_GREATER,
    FILTER_GREATER_EQUAL,
};

enum filter_kind {
    FILTER_AND,             /* all children */
    FILTER_OR,              /* any child */
    FILTER_NOT,             /* not the only child */
    FILTER_COMPARE_VALUE,   /* a column with a value */
    FILTER_COMPARE_COLUMNS, /* a column with another one */
    FILTER_IN,              /* a column with values, any of which may be equal */
    FILTER_NOT_IN,          /* a column with values, none of which is equal */
    FILTER_IS_NULL,         /* a column that is null */
    FILTER_IS_NOT_NULL,
};

/* A value to compare with. For an int64 column it can also be a double. */
struct filter_value {
    recmap_value value;
    double number;
    bool is_double; /* a fraction, or beyond int64 */
    bool is_beyond; /* beyond int64: its double could equal the double of a value of a column */
};

#define FILTER_NO_NODE SIZE_MAX

struct filter_node {
    enum filter_kind kind;
    enum filter_operator relation;
    size_t first_child, next_sibling; /* nodes, or FILTER_NO_NODE */
    size_t column, other;             /* columns of the filter */
    struct filter_value value;
    size_t first_value, value_count; /* of a list: values of the filter, sorted */
};

/* A lifted column that the expression uses, with the values of the current chunk. */
struct filter_column {
    size_t index; /* in the data set */
    recmap_type type;
    void *values;
    bool has_nulls; /* some value of the column is null */
    uint8_t *nulls; /* of the current chunk: 1 for each null; NULL if the column has none */
};

struct recmap_filter {
    recmap_dataset *dataset;
    struct filter_node *nodes;
    size_t node_count, node_capacity, root;
    struct filter_column *columns;
    size_t column_count, column_capacity;
    recmap_value *values; /* of all lists */
    size_t value_count, value_capacity;
    char *texts;    /* which values point to */
    size_t depth;   /* of the tree */
    uint8_t *masks; /* one chunk for each level of the tree; NULL before the first match */
};

/* Parses the expression into an empty filter. Errors: those of recmap_filter_create. */
recmap_status filter_parse(recmap_filter *filter, const char *expression, size_t size,
                           recmap_error *error);

/* Orders values of one type: negative, 0 or positive. */
int filter_value_compare(const recmap_value *a, const recmap_value *b);

#endif
