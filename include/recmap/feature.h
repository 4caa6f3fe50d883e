/* What is to be read out of records of tf.Example: features, and the columns that they become.
 *
 * docs/features.md draws each kind and names its counterpart in TensorFlow. */
#ifndef RECMAP_FEATURE_H
#define RECMAP_FEATURE_H

#include <recmap/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The elements of a column. Which list of the record they come from: BYTES from bytes_list;
 * FLOAT32, FLOAT16, BFLOAT16 and FLOAT64 from float_list; all others from int64_list; with `raw`
 * all of them from bytes_list.
 *
 * A value that the element cannot hold is an error, never cut: an integer out of range, a BOOL
 * other than 0 and 1, a finite float that would become infinite. FLOAT16 and BFLOAT16 round to the
 * nearest, ties to even. */
typedef enum recmap_element {
    RECMAP_ELEMENT_NONE = 0,
    RECMAP_ELEMENT_INT64 = 1,
    RECMAP_ELEMENT_FLOAT32 = 2,
    RECMAP_ELEMENT_BYTES = 3,
    RECMAP_ELEMENT_INT32 = 4,
    RECMAP_ELEMENT_INT16 = 5,
    RECMAP_ELEMENT_INT8 = 6,
    RECMAP_ELEMENT_UINT64 = 7,
    RECMAP_ELEMENT_UINT32 = 8,
    RECMAP_ELEMENT_UINT16 = 9,
    RECMAP_ELEMENT_UINT8 = 10,
    RECMAP_ELEMENT_BOOL = 11, /* one byte: 0 or 1 */
    RECMAP_ELEMENT_FLOAT16 = 12,
    RECMAP_ELEMENT_BFLOAT16 = 13,
    RECMAP_ELEMENT_FLOAT64 = 14,
} recmap_element;

/* Bytes of one element; sizeof(recmap_bytes) for BYTES; 0 for NONE and unknown values. */
RECMAP_API size_t recmap_element_size(recmap_element element);

/* "int64", "float32", "bytes", ... as NumPy names them ("bool", "bfloat16"). A static string; NULL
 * for NONE and unknown values. */
RECMAP_API const char *recmap_element_name(recmap_element element);

/* The element of that name; "float" and "string" are FLOAT32 and BYTES. NONE when there is none. */
RECMAP_API recmap_element recmap_element_of_name(const char *name);

typedef enum recmap_feature_kind {
    /* As many values in every record as `shape` says. */
    RECMAP_FEATURE_FIXED_LEN = 1,
    /* Any number of values: a ragged column. */
    RECMAP_FEATURE_VAR_LEN = 2,
    /* Any number of steps of `shape` each: padded to the longest of the batch, or ragged. */
    RECMAP_FEATURE_FIXED_LEN_SEQUENCE = 3,
    /* Values cut into nested rows by other features of the record. */
    RECMAP_FEATURE_RAGGED = 4,
    /* Values at coordinates that other features of the record give. */
    RECMAP_FEATURE_SPARSE = 5,
} recmap_feature_kind;

/* How a partition of a RAGGED feature is written, from the outermost to the innermost. `key` is the
 * int64 feature that holds it. */
typedef enum recmap_partition_kind {
    RECMAP_PARTITION_ROW_SPLITS = 1,  /* begins with 0, ascends, ends with the count of what is cut;
                                         nothing stands for no rows */
    RECMAP_PARTITION_ROW_LENGTHS = 2, /* of each row */
    RECMAP_PARTITION_ROW_STARTS = 3,  /* where each row begins; the first is 0 */
    RECMAP_PARTITION_ROW_LIMITS = 4,  /* where each row ends; the last is the count */
    RECMAP_PARTITION_VALUE_ROW_IDS = 5, /* the row of each value, ascending; rows end with the last,
                                           at most 2^16 more than values */
    RECMAP_PARTITION_UNIFORM = 6,       /* `length` in each row; no key */
} recmap_partition_kind;

typedef struct recmap_partition {
    recmap_partition_kind kind;
    const char *key;
    uint64_t length;
} recmap_partition;

/* What becomes of bytes. */
typedef enum recmap_bytes_mode {
    RECMAP_BYTES_VIEW = 0, /* views into the records, which must stay where they are */
    RECMAP_BYTES_COPY = 1, /* one buffer, with offsets */
} recmap_bytes_mode;

/* One feature. All zeros but `name`, `kind` and `element` is a scalar of FIXED_LEN that must be
 * there, or a plain VAR_LEN. Everything that it points to is copied when a parser is made. */
typedef struct recmap_feature {
    const char *name; /* of the column */
    const char *key;  /* of the feature that holds the values; NULL: `name` */
    recmap_feature_kind kind;
    recmap_element element;
    recmap_bytes_mode bytes_mode; /* BYTES only */

    /* FIXED_LEN: dimensions of a record, none for a scalar. FIXED_LEN_SEQUENCE: those of a step.
     * Each above 0. */
    const uint64_t *shape;
    size_t dimension_count;

    /* Not 0: each record holds one bytes value with the elements in C order, little-endian, as
     * tf.io.decode_raw reads it. FIXED_LEN, VAR_LEN and FIXED_LEN_SEQUENCE; no BYTES. */
    int raw;

    /* FIXED_LEN: what a record without the feature gets: none (it is an error), one for every
     * element, or one an element. FIXED_LEN_SEQUENCE: none or the one that pads; 0 or "" where
     * there is none. Of the type of the list that the element comes from (for `raw`: as if not
     * raw). A record that has the feature with an empty list does not take the default. */
    const recmap_value *defaults;
    size_t default_count;

    int unpadded; /* FIXED_LEN_SEQUENCE: not 0 for a ragged column of steps */

    const recmap_partition *partitions; /* RAGGED: outermost first; at least one */
    size_t partition_count;

    /* SPARSE: int64 features with the coordinate of each value in a dimension, and the size of each
     * dimension. Values are sorted by coordinates unless `already_sorted`, which is trusted. */
    const char *const *index_keys;
    const uint64_t *sizes;
    size_t index_count;
    int already_sorted;
} recmap_feature;

#ifdef __cplusplus
}
#endif
#endif
