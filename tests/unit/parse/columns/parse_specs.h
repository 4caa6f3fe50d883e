/* Short words for features in tests of parsing. */
#ifndef RECMAP_TESTS_UNIT_PARSE_COLUMNS_PARSE_SPECS_H
#define RECMAP_TESTS_UNIT_PARSE_COLUMNS_PARSE_SPECS_H

#include <recmap/parser.h>

static const recmap_feature_kind FIXED = RECMAP_FEATURE_FIXED_LEN, VAR = RECMAP_FEATURE_VAR_LEN,
                                 SEQUENCE = RECMAP_FEATURE_FIXED_LEN_SEQUENCE,
                                 RAGGED = RECMAP_FEATURE_RAGGED, SPARSE = RECMAP_FEATURE_SPARSE;
static const recmap_element I64 = RECMAP_ELEMENT_INT64, F32 = RECMAP_ELEMENT_FLOAT32,
                            STR = RECMAP_ELEMENT_BYTES;

#define INT64(v) ((recmap_value){.type = RECMAP_TYPE_INT64, .as.int64 = (v)})
#define FLOAT(v) ((recmap_value){.type = RECMAP_TYPE_FLOAT, .as.float32 = (v)})
#define TEXT(v)                                                                                    \
    ((recmap_value){.type = RECMAP_TYPE_BYTES, .as.bytes = {(const uint8_t *)(v), sizeof(v) - 1}})
#define SHAPE(...)                                                                                 \
    .shape = (const uint64_t[]){__VA_ARGS__},                                                      \
    .dimension_count = sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define DEFAULTS(...)                                                                              \
    .defaults = (const recmap_value[]){__VA_ARGS__},                                               \
    .default_count = sizeof((const recmap_value[]){__VA_ARGS__}) / sizeof(recmap_value)
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define INDICES(...)                                                                               \
    .index_keys = (const char *const[]){__VA_ARGS__},                                              \
    .index_count = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)
#define SIZES(...)                                                                                 \
    .sizes = (const uint64_t[]) {                                                                  \
        __VA_ARGS__                                                                                \
    }
#define PARTITIONS(...)                                                                            \
    .partitions = (const recmap_partition[]){__VA_ARGS__},                                         \
    .partition_count = sizeof((const recmap_partition[]){__VA_ARGS__}) / sizeof(recmap_partition)
#define RAGGED_OF(column, from, of, ...)                                                           \
    { .name = (column), .key = (from), .kind = RAGGED, .element = (of), PARTITIONS(__VA_ARGS__) }

#endif
