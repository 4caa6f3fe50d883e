/* Columns: the output of a parser for a batch of records, in Arrow's memory layout. */
#ifndef RECMAP_COLUMNS_H
#define RECMAP_COLUMNS_H

#include <recmap/feature.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A view of a bytes value. */
typedef struct recmap_bytes {
    const uint8_t *data; /* never NULL */
    size_t size;
} recmap_bytes;

/* One column. Buffers are 64-byte aligned, in the machine's byte order, and padded to a multiple of
 * 64 bytes. Row i belongs to record i of the batch.
 *
 *     FIXED_LEN             values [rows, shape...]
 *     VAR_LEN               offsets[0] partitions values [n] into rows
 *     FIXED_LEN_SEQUENCE    values [rows, longest, shape...] and lengths; unpadded: offsets[0]
 *                           partitions values [steps, shape...] into rows
 *     RAGGED                offsets[0] partitions the rows that offsets[1] makes, and so on; the
 *                           innermost offsets partition values; uniform partitions at the inner end
 *                           are dimensions of values instead
 *     SLICED                values [rows, width of a row, shape...]
 *     IMAGE                 values [rows, height, width, channels], or, if its layout is CHW, shown
 *                           as [rows, channels, height, width] with strides; without a size:
 *                           offsets[0] partitions values [n] into rows, and `picture_shapes`
 *     BOXES                 offsets[0] partitions values [boxes, 4] into rows; the visible shares:
 *                           values [boxes]
 *     SPARSE                values [n], indices [n, 1 + index keys] of which the first is the row,
 *                           and offsets[0], which partitions both into rows
 *
 * Lists of pictures (`image` of another kind than IMAGE) have their pixels as further dimensions.
 * Columns of feature lists of SequenceExample have one more level: the steps of the row. */
typedef struct recmap_column {
    const char *name;
    recmap_feature_kind kind;
    recmap_element element;
    uint64_t row_count;

    const uint64_t *shape; /* dimensions of values: value_count / shape[0] elements in each */
    size_t dimension_count;
    uint64_t value_count; /* elements: the product of the shape */

    /* Of each dimension, how many elements apart its values are. NULL: C order, in which the last
     * dimension varies fastest. The values fill their memory without gaps in any case. */
    const int64_t *strides;

    /* Elements in the order of the strides. BYTES as views: `views` holds them and `values` is
     * NULL. Copied BYTES: `bytes_offsets`, with one more entry than values, partitions `values`,
     * and `views` is NULL.
     */
    const void *values;
    const recmap_bytes *views;
    const int64_t *bytes_offsets;

    /* Row offsets from the outermost level to the innermost. The first array has row_count + 1
     * entries; each further one has one more entry than the last entry of the preceding one says.
     */
    const int64_t *const *offsets;
    size_t offsets_count;

    const int64_t *lengths;       /* padded sequences: number of steps of each row */
    const int64_t *indices;       /* SPARSE */
    const uint64_t *dense_shape;  /* SPARSE: [rows, sizes...] */
    size_t dense_dimension_count; /* 1 + index keys; 0 for other kinds */

    const int64_t *picture_shapes; /* IMAGE without a size: height, width and channels of the pixels
                                      of each row; a row without a picture has zeros */

    /* Bit i (least significant first) is 1 if row i has a value: its record was parsed and has the
     * feature (for FIXED_LEN with a default, parsing is enough). NULL if all rows have a value.
     * Rows without one hold zeros, no values, or empty views. */
    const uint8_t *validity;
    uint64_t null_count;
} recmap_column;

/* Where columns get memory from instead of malloc: memory that a device can read directly, for
 * instance. It is used for values, offsets, lengths and indices, but not for views of bytes or
 * validity.
 *
 * `allocate` returns `size` bytes, aligned to 64, or NULL without memory. `release` gets memory
 * from `allocate` back, with the same size, once the columns do not need it and no exported array
 * does. Memory is allocated for each batch and not kept for the next one, so both should be fast.
 * Threads: both are called on any thread, and on several at a time. The context must remain valid
 * until all memory was released. */
typedef struct recmap_allocator {
    void *(*allocate)(size_t size, void *context);
    void (*release)(void *memory, size_t size, void *context);
    void *context;
} recmap_allocator;

/* The columns of one batch. Their memory is reused from batch to batch, unless an exported array
 * still uses it. Threads: columns belong to one thread at a time; arrays exported from them may be
 * released on any thread. */
typedef struct recmap_columns recmap_columns;

/* Creates an empty object, which the caller destroys. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_columns_create(recmap_columns **columns,
                                                                recmap_error *error);

/* NULL may be destroyed. */
RECMAP_API void recmap_columns_destroy(recmap_columns *columns);

/* The number of columns of the last parse, and column `column_index` (below that number). Columns
 * are in the order of the features; for SequenceExample, the context's columns come before the
 * columns of the feature lists. They are valid until the next parse into the same object or until
 * it is destroyed. */
RECMAP_API size_t recmap_columns_count(const recmap_columns *columns);
RECMAP_API const recmap_column *recmap_columns_get(const recmap_columns *columns,
                                                   size_t column_index);
/* The column with this name, or NULL. */
RECMAP_API const recmap_column *recmap_columns_find(const recmap_columns *columns,
                                                    const char *name);

/* The number of rows, the same for every column. */
RECMAP_API uint64_t recmap_columns_row_count(const recmap_columns *columns);

/* A row whose record is damaged or could not be parsed (RECMAP_PARSE_COLLECT): all its columns are
 * null. */
typedef struct recmap_failure {
    uint64_t row;
    uint64_t number; /* of the record */
    uint64_t offset; /* byte in the record, or RECMAP_NO_OFFSET */
    recmap_status status;
    const char *message;  /* as in recmap_error; valid as long as the columns */
    uint64_t reserved[4]; /* 0; room for later versions */
} recmap_failure;

/* The number of rows of the last parse that could not be parsed. */
RECMAP_API size_t recmap_columns_failure_count(const recmap_columns *columns);
/* Failure `failure_index` (below that number), in the order of rows. */
RECMAP_API recmap_failure recmap_columns_failure(const recmap_columns *columns,
                                                 size_t failure_index);

/* Ties the lifetime of `owner` to the memory of the last parse, to keep the records alive that
 * views point into. `release(owner)` is called once, when nothing uses this memory any more: the
 * columns were parsed into again or destroyed, and all exported arrays were released. At most one
 * owner per parse. `release` is not NULL, may be called on any thread, and is called immediately if
 * nothing was parsed. */
RECMAP_API void recmap_columns_set_owner(recmap_columns *columns, void *owner,
                                         void (*release)(void *owner));

#ifdef __cplusplus
}
#endif
#endif
