/* Adds rows of keys and values from memory to a column. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "dataset/annotate/column_rows.h"
#include "dataset/annotate/row_key.h"
#include "dataset/annotate/row_lookup.h"

/* Rows that are added to a column. */
struct new_rows {
    recmap_annotation *annotation;
    struct new_column *column;
    recmap_key key;
    const recmap_value *keys;
    const recmap_value *values;
    struct row_lookup lookup; /* of ids */
};

static recmap_status check_row(const struct new_rows *rows, size_t i, recmap_error *error) {
    recmap_type key_type = rows->keys[i].type, type = rows->values[i].type;
    const struct new_column *column = rows->column;
    if (key_type != RECMAP_TYPE_INT64 &&
        (rows->key == RECMAP_KEY_NUMBER || key_type != RECMAP_TYPE_BYTES))
        return fail(error, RECMAP_INVALID,
                    "the key has type %s: give an int64 number, or an int64 or bytes id",
                    recmap_type_name(key_type));
    if (type == RECMAP_TYPE_NONE || type == column->type) return RECMAP_OK;
    return fail(error, RECMAP_INVALID, "the value has type %s, but column \"%s\" has type %s",
                recmap_type_name(type), column->name, recmap_type_name(column->type));
}

/* The records of row `i`, which is row `in_group` of the group that was looked up. */
static recmap_status find_records(size_t *count, struct new_rows *rows, size_t i, size_t in_group,
                                  recmap_error *error) {
    recmap_annotation *annotation = rows->annotation;
    if (rows->key == RECMAP_KEY_NUMBER)
        return row_key_find(count, annotation, rows->key, &rows->keys[i], error);
    uint64_t number = rows->lookup.numbers[in_group];
    if (number == ROW_SEVERAL)
        return row_key_find(count, annotation, rows->key, &rows->keys[i], error);
    *count = number != ROW_ABSENT;
    return *count && !row_key_keep_found(annotation, 0, number) ? fail_memory(error) : RECMAP_OK;
}

/* Rows from memory have no place, so the error names their column. */
static recmap_status note_unmatched(const struct new_rows *rows, size_t i, recmap_error *error) {
    recmap_error without_place, unmatched;
    row_key_fail(rows->annotation, rows->key, &rows->keys[i], &without_place);
    fail(&unmatched, RECMAP_INVALID, "column \"%s\": %s", rows->column->name,
         without_place.message);
    fail_advise(&unmatched, "%s", without_place.advice);
    return row_key_note_unmatched(rows->column, &unmatched, error);
}

static bool is_too_long(const recmap_value *value) {
    return value->type == RECMAP_TYPE_BYTES && value->as.bytes.size > COLUMN_BYTES_MAX;
}

/* Rows are told apart by their keys. */
static recmap_status fail_length(const struct new_rows *rows, size_t i, recmap_error *error) {
    enum { SHOWN_MAX = 100 };
    const recmap_value *key = &rows->keys[i];
    char row[SHOWN_MAX + 8];
    if (key->type == RECMAP_TYPE_INT64)
        snprintf(row, sizeof row, "%s %" PRId64, rows->key == RECMAP_KEY_NUMBER ? "record" : "id",
                 key->as.int64);
    else
        snprintf(row, sizeof row, "id \"%.*s\"", (int)min_u64(key->as.bytes.size, SHOWN_MAX),
                 (const char *)key->as.bytes.data);
    fail(error, RECMAP_INVALID,
         "%s: a text of %zu bytes for column \"%s\" is longer than the maximum of %d", row,
         rows->values[i].as.bytes.size, rows->column->name, (int)COLUMN_BYTES_MAX);
    fail_advise(error, "shorten the text");
    return RECMAP_INVALID;
}

static recmap_status add_row(struct new_rows *rows, size_t i, size_t in_group,
                             recmap_error *error) {
    recmap_annotation *annotation = rows->annotation;
    size_t count;
    RETURN_IF_FAILED(check_row(rows, i, error));
    if (is_too_long(&rows->values[i])) return fail_length(rows, i, error);
    RETURN_IF_FAILED(find_records(&count, rows, i, in_group, error));
    if (!count) return note_unmatched(rows, i, error);
    return column_rows_add(annotation, rows->column, count, &rows->values[i], error);
}

static recmap_status report(const struct new_rows *rows, recmap_error *error) {
    uint64_t total = index_manifest(rows->annotation->index)->record_count;
    uint64_t count = rows->column->row_count;
    if (count % REPORT_ROWS) return RECMAP_OK;
    return annotation_report(rows->annotation, min_u64(count, total), total, count, error);
}

static recmap_status add_group(struct new_rows *rows, size_t first, size_t count,
                               recmap_error *error) {
    if (rows->key == RECMAP_KEY_ID)
        RETURN_IF_FAILED(row_lookup_find(&rows->lookup, rows->keys + first, count, error));
    for (size_t i = 0; i < count; i++) {
        RETURN_IF_FAILED(report(rows, error));
        RETURN_IF_FAILED(add_row(rows, first + i, i, error));
    }
    return RECMAP_OK;
}

static recmap_status add_groups(struct new_rows *rows, size_t count, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    row_lookup_init(&rows->lookup, rows->annotation->index);
    for (size_t i = 0; status == RECMAP_OK && i < count; i += ROW_GROUP)
        status = add_group(rows, i, min_u64(count - i, ROW_GROUP), error);
    row_lookup_deinit(&rows->lookup);
    return status;
}

/* Rows belong to the column that was added last. After an error some of the rows may have been
 * added, so the annotation is closed: it cannot be finished. */
recmap_status recmap_annotation_add_rows(recmap_annotation *annotation, recmap_key key,
                                         const recmap_value *keys, const recmap_value *values,
                                         size_t count, recmap_error *error) {
    struct new_column *column =
        annotation->column_count ? &annotation->columns[annotation->column_count - 1] : NULL;
    if (!column || column->old_column != NOT_OLD || column->path)
        return fail(error, RECMAP_INVALID,
                    "there is no column to add rows to: call recmap_annotation_add_column first");
    if (key != RECMAP_KEY_ID && key != RECMAP_KEY_NUMBER)
        return fail(error, RECMAP_INVALID, "invalid key %d: use ID or NUMBER", (int)key);
    RETURN_IF_FAILED(row_key_check(annotation, key, error));
    struct new_rows rows = {annotation, column, key, keys, values, {.index = annotation->index}};
    recmap_status status = add_groups(&rows, count, error);
    annotation->is_closed |= status != RECMAP_OK;
    return status;
}
