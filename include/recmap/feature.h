/* Which features to read from records of tf.Example, and the columns that they become.
 *
 * docs/reference/features.md shows each kind with an example and names its counterpart in
 * TensorFlow. */
#ifndef RECMAP_FEATURE_H
#define RECMAP_FEATURE_H

#include <recmap/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The element type of a column, which also determines the list of the record that it is read from:
 * BYTES from bytes_list; FLOAT32, FLOAT16, BFLOAT16 and FLOAT64 from float_list; all others from
 * int64_list. With `raw`, all are read from bytes_list.
 *
 * A value that the element type cannot represent is an error and is never truncated: an integer out
 * of range, a BOOL other than 0 and 1, a finite float that would become infinite. FLOAT16 and
 * BFLOAT16 round to nearest, ties to even. */
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

/* The bytes of one element; sizeof(recmap_bytes) for BYTES; 0 for NONE and unknown values. */
RECMAP_API size_t recmap_element_size(recmap_element element);

/* The name of an element type, as in NumPy: "int64", "float32", "bytes", ..., and "bool",
 * "bfloat16". A static string; NULL for NONE and unknown values. */
RECMAP_API const char *recmap_element_name(recmap_element element);

/* The element type with this name; "float" and "string" are FLOAT32 and BYTES. NONE if the name is
 * unknown. */
RECMAP_API recmap_element recmap_element_of_name(const char *name);

typedef enum recmap_feature_kind {
    /* Every record has as many values as `shape` says. */
    RECMAP_FEATURE_FIXED_LEN = 1,
    /* Any number of values: a ragged column. */
    RECMAP_FEATURE_VAR_LEN = 2,
    /* Any number of steps of `shape` each: padded to the longest row of the batch, or ragged. */
    RECMAP_FEATURE_FIXED_LEN_SEQUENCE = 3,
    /* Values partitioned into nested rows by other features of the record. */
    RECMAP_FEATURE_RAGGED = 4,
    /* Values at coordinates given by other features of the record. */
    RECMAP_FEATURE_SPARSE = 5,
    /* Elements of `shape` values each, any number of them in a record, from which rows are cut.
     * Only for rows: recmap_dataset_rows, and loaders with a row order. */
    RECMAP_FEATURE_SLICED = 6,
    /* Pixels of an encoded picture: see `image`. Not in feature lists, and not in custom parsers.
     */
    RECMAP_FEATURE_IMAGE = 7,
    /* Boxes in a picture, moved as its crop, flip and orientation move the pixels of an IMAGE
     * feature: see `boxes`. Not in feature lists, and not in custom parsers. */
    RECMAP_FEATURE_BOXES = 8,
} recmap_feature_kind;

/* How a partition of a RAGGED feature is encoded. Partitions are listed from the outermost to the
 * innermost. `key` is the int64 feature that holds the partition. */
typedef enum recmap_partition_kind {
    RECMAP_PARTITION_ROW_SPLITS = 1,    /* starts with 0, ascends, ends with the number of items to
                                           partition; an empty list means no rows */
    RECMAP_PARTITION_ROW_LENGTHS = 2,   /* the length of each row */
    RECMAP_PARTITION_ROW_STARTS = 3,    /* where each row begins; the first is 0 */
    RECMAP_PARTITION_ROW_LIMITS = 4,    /* where each row ends; the last is the number of items */
    RECMAP_PARTITION_VALUE_ROW_IDS = 5, /* the row of each value, ascending; rows end with the last
                                           one named; at most 2^16 more rows than values */
    RECMAP_PARTITION_UNIFORM = 6,       /* `length` items in each row; no key */
} recmap_partition_kind;

typedef struct recmap_partition {
    recmap_partition_kind kind;
    const char *key;
    uint64_t length;
} recmap_partition;

/* How bytes values are stored. */
typedef enum recmap_bytes_mode {
    RECMAP_BYTES_VIEW = 0, /* views into the records, which must stay valid */
    RECMAP_BYTES_COPY = 1, /* one buffer, with offsets */
} recmap_bytes_mode;

/* How a value of bytes holds elements: not at all, or in this byte order. ZLIB: as a ZLIB stream
 * (RFC 1950) of little-endian elements, at most 256 MiB of them, as zlib.compress of Python makes.
 */
typedef enum recmap_raw {
    RECMAP_RAW_NONE = 0,
    RECMAP_RAW_LITTLE_ENDIAN = 1,
    RECMAP_RAW_BIG_ENDIAN = 2,
    RECMAP_RAW_ZLIB = 3,
} recmap_raw;

/* One feature. If every member except `name`, `kind` and `element` is zero, it is a required scalar
 * of FIXED_LEN, or a plain VAR_LEN. recmap_parser_create copies everything that the struct points
 * to. */
typedef struct recmap_feature {
    const char *name; /* name of the column */
    const char *key;  /* name of the feature that holds the values; NULL: `name` */
    recmap_feature_kind kind;
    recmap_element element;
    recmap_bytes_mode bytes_mode; /* BYTES only */
    int as_bits; /* UINT64: not 0 to take the 64 bits of each int64, negative or not, as numbers
                    from 2^63 on are stored. Otherwise a negative number is an error. */

    /* FIXED_LEN: the dimensions of a record's values, none for a scalar. FIXED_LEN_SEQUENCE and
     * SLICED: the dimensions of a step or an element. Each dimension is above 0. */
    const uint64_t *shape;
    size_t dimension_count;

    /* A recmap_raw other than NONE: the record has bytes values with the elements in C order, as
     * tf.io.decode_raw reads them: one value, or several with equally many elements, whose elements
     * follow each other. For FIXED_LEN, VAR_LEN, FIXED_LEN_SEQUENCE and SLICED, but not for BYTES.
     */
    int raw;
    int raw_resize; /* raw FIXED_LEN, but not ZLIB: not 0 if there is one value, which is truncated
                       to the size of the shape, or padded with zeros */

    /* FIXED_LEN: the values for a record without the feature: none (it is an error), one for every
     * element, or one per element. FIXED_LEN_SEQUENCE and SLICED: none, or the padding value;
     * without one, 0 or "". They have the type of the list that the element is read from (for
     * `raw`: as if it were not raw). A record that has the feature with an empty list does not get
     * the default. */
    const recmap_value *defaults;
    size_t default_count;

    int unpadded; /* FIXED_LEN_SEQUENCE: not 0 for a ragged column of steps */

    /* FIXED_LEN_SEQUENCE. max_length: keep the first steps of a row, at most this many, and leave
     * out the others; 0: keep all. pad_to: pad rows to the smallest multiple of this that holds the
     * longest row of the batch, and at least to this; 0: to the longest row. So columns have few
     * different shapes, or one if both are equal. `unpadded` columns have no pad_to. */
    uint64_t max_length;
    uint64_t pad_to;

    const recmap_partition *partitions; /* RAGGED: outermost first; at least one */
    size_t partition_count;

    /* SPARSE: the int64 features that hold the coordinate of each value in each dimension, and the
     * size of each dimension. Values are sorted by coordinates unless `already_sorted` is set,
     * which is not verified. */
    const char *const *index_keys;
    const uint64_t *sizes;
    size_t index_count;
    int already_sorted;

    int pad_edge; /* SLICED: not 0 to repeat the nearest element of the row instead of padding */

    /* SLICED: elements that precede and follow the elements of each record that has any, such as
     * tokens that begin and end a document. Together as many as the row order adds. If an element
     * has several values, all are the given one. Types are as for `defaults`. */
    const recmap_value *prepend;
    size_t prepend_count;
    const recmap_value *append;
    size_t append_count;

    /* IMAGE: what pixels to make of the bytes value, which is required (image.h). `element` is the
     * element of the pixels; the description may leave its own 0. `shape` is empty: the column has
     * the shape [rows, height, width, channels]. Without a size, each row has the size of its
     * picture. `defaults`, only with a size: int64 values 0 to 255, one or one for each channel,
     * the colour of rows whose record lacks the feature or has no bytes in it.
     *
     * FIXED_LEN, VAR_LEN, FIXED_LEN_SEQUENCE, SLICED: not NULL if each value is a picture. Its size
     * is not 0, and `element` is the element of the pixels. The dimensions of the pixels follow
     * those of the values: FIXED_LEN gives [rows, shape..., height, width, channels]. All pictures
     * of a record have the same draw; SLICED: all pictures of a row, see recmap_dataset_rows. A
     * value without bytes, and padding, give zeros. There are no `defaults`, `prepend` and
     * `append`, and a list of any number, other than SLICED, has at most `max_pixels` pixels in
     * all. */
    const struct recmap_image *image;

    /* BOXES: where the boxes are, and in which image (image.h). `element` is FLOAT32, `key` is NULL
     * and `shape` is empty. */
    const struct recmap_boxes *boxes;
    uint64_t reserved[4]; /* 0; room for later versions. Anything else is INVALID */
} recmap_feature;

#ifdef __cplusplus
}
#endif
#endif
