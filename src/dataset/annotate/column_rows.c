#include "dataset/annotate/column_rows.h"

#include <assert.h>
#include <inttypes.h>

#include "base/core/error.h"
#include "dataset/annotate/row_key.h"
#include "dataset/annotate/table.h"
#include "dataset/annotate/table_error.h"

enum { WINDOW_PAIRS = 1024 };

/* The lines of the first two rows for the record. */
static recmap_status find_lines(uint64_t lines[2], recmap_annotation *annotation,
                                struct table *table, uint64_t number, recmap_error *error) {
    for (unsigned seen = 0; seen < 2;) {
        struct table_row row;
        bool is_row;
        size_t count;
        recmap_value key;
        RETURN_IF_FAILED(table_next(&row, &is_row, table, error));
        if (!is_row) return RECMAP_INVALID;
        RETURN_IF_FAILED(row_key_find_records(&count, &key, annotation, table, &row, error));
        for (size_t i = 0; i < count; i++) {
            if (annotation->found[i] != number) continue;
            lines[seen++] = row.line;
            break;
        }
    }
    return RECMAP_OK;
}

static recmap_status fail_repeat_in_file(recmap_annotation *annotation,
                                         const struct new_column *column, uint64_t number,
                                         recmap_error *error) {
    struct table table;
    uint64_t lines[2] = {0, 0};
    recmap_status status = table_open(&table, column->path, column->name, column->key,
                                      index_manifest(annotation->index)->id_name, error);
    if (status == RECMAP_OK) status = find_lines(lines, annotation, &table, number, error);
    if (status == RECMAP_OK)
        table_fail(&table, lines[1], error, "give each record one value",
                   "duplicate %s, first used in line %" PRIu64, table_key_name(column->key),
                   lines[0]);
    else if (status == RECMAP_INVALID)
        fail(error, RECMAP_INVALID, "two rows are for record %" PRIu64, number);
    table_close(&table);
    if (status != RECMAP_OK && status != RECMAP_INVALID) return status;
    fail_file(error, column->path);
    fail_advise(error, "give each record one value");
    return RECMAP_INVALID;
}

recmap_status column_rows_fail_repeat(recmap_annotation *annotation,
                                      const struct new_column *column, uint64_t number,
                                      recmap_error *error) {
    if (column->path) return fail_repeat_in_file(annotation, column, number, error);
    fail(error, RECMAP_INVALID, "two rows of column \"%s\" are for record %" PRIu64, column->name,
         number);
    fail_advise(error, "give each record one value");
    return RECMAP_INVALID;
}

/* The error INVALID for the first record with two rows. */
static recmap_status find_repeat(recmap_annotation *annotation, struct new_column *column,
                                 recmap_error *error) {
    struct id_pair window[WINDOW_PAIRS];
    uint64_t last = UINT64_MAX;
    RETURN_IF_FAILED(idsort_finish(column->rows, error));
    for (;;) {
        size_t count;
        RETURN_IF_FAILED(idsort_next(column->rows, window, WINDOW_PAIRS, &count, error));
        assert(count);
        for (size_t i = 0; i < count; i++) {
            uint64_t number = window[i].hash >> 1;
            if (number == last) return column_rows_fail_repeat(annotation, column, number, error);
            last = number;
        }
    }
}

static recmap_status word_of(uint64_t *word, struct new_column *column, const recmap_value *value,
                             recmap_error *error) {
    if (value->type == RECMAP_TYPE_BYTES) return text_set_add(word, column->texts, value, error);
    *word = column_word(value);
    return RECMAP_OK;
}

static uint64_t pack_key(uint64_t number, const recmap_value *value) {
    assert(number <= ROW_NUMBER_MAX);
    return number << 1 | (value->type == RECMAP_TYPE_NONE);
}

/* A row without a value is stored as well: its key must not be repeated either. */
recmap_status column_rows_add(recmap_annotation *annotation, struct new_column *column,
                              size_t count, const recmap_value *value, recmap_error *error) {
    assert(value->type == RECMAP_TYPE_NONE || value->type == column->type);
    uint64_t word;
    column->row_count++;
    if (value->type == RECMAP_TYPE_BYTES && value->as.bytes.size > COLUMN_BYTES_MAX)
        return fail(error, RECMAP_INVALID,
                    "a text of %zu bytes for column \"%s\" is longer than the maximum of %d",
                    value->as.bytes.size, column->name, (int)COLUMN_BYTES_MAX);
    RETURN_IF_FAILED(word_of(&word, column, value, error));
    for (size_t i = 0; i < count; i++)
        RETURN_IF_FAILED(idsort_add(
            column->rows, (struct id_pair){pack_key(annotation->found[i], value), word}, error));
    if (idsort_count(column->rows) <= index_manifest(annotation->index)->record_count)
        return RECMAP_OK;
    /* Some record has two rows. If each row is for many records, the rest would fill the disk. */
    return find_repeat(annotation, column, error);
}
