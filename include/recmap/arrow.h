/* Columns and records as Arrow arrays, through the Arrow C data interface. Data that already has
 * Arrow's layout is shared, not copied.
 *
 *     BYTES                 binary_view into the records; copied: large_binary
 *     BOOL                  bool, converted into bits
 *     BFLOAT16              uint16, with the metadata "recmap:element" = "bfloat16"
 *     other elements        the type of that name
 *     FIXED_LEN             the element; with a shape of one dimension fixed_size_list, of more the
 *                           extension arrow.fixed_shape_tensor, or, for BYTES and BOOL, nested
 *                           fixed_size_lists
 *     VAR_LEN               large_list
 *     FIXED_LEN_SEQUENCE    large_list of steps, padded or not: Arrow needs no padding
 *     RAGGED                nested large_lists, with fixed_size_lists for uniform partitions at the
 *                           inner end
 *     SPARSE                large_list of struct {indices: fixed_size_list of int64, one per index
 *                           key; value}, with the metadata "recmap:sizes" = "[13, 3]"
 *
 * Feature lists of SequenceExample are large_lists of the above. Rows that are null in a column are
 * null in Arrow. */
#ifndef RECMAP_ARROW_H
#define RECMAP_ARROW_H

#include <recmap/columns.h>
#include <recmap/parser.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ABI, which Arrow's specification provides for copying into projects. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

/* Exports all columns as a struct array, which is a record batch, or column `column_index` alone.
 * Each output may be NULL if it is not needed. Columns that were never parsed into, or whose last
 * parse failed, are exported as a struct without fields.
 *
 * Lifetime: an exported array holds the memory of its batch until it is released, on any thread and
 * in any order, and needs neither columns nor parser any more. Views point into the records: keep
 * those alive with recmap_columns_set_owner. Errors: NO_MEMORY; INVALID for a column that does not
 * exist. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_columns_export_arrow(struct ArrowArray *array,
                                                                      struct ArrowSchema *schema,
                                                                      recmap_columns *columns,
                                                                      recmap_error *error);
RECMAP_API RECMAP_NODISCARD recmap_status recmap_columns_export_arrow_column(
    struct ArrowArray *array, struct ArrowSchema *schema, recmap_columns *columns,
    size_t column_index, recmap_error *error);

/* Exports the schema of every batch of the parser, for a stream of them. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_parser_export_arrow_schema(
    struct ArrowSchema *schema, const recmap_parser *parser, recmap_error *error);

/* Exports records as one binary_view array, which views them without copying. `release(owner)` is
 * called on any thread when the array has been released, and immediately if this function fails.
 * `release` may be NULL. Errors: NO_MEMORY; INVALID for a record of 2 GiB or more, or of which a
 * batch of rows read only a part. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_records_export_arrow(
    struct ArrowArray *array, struct ArrowSchema *schema, const recmap_record *records,
    size_t record_count, void *owner, void (*release)(void *owner), recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
