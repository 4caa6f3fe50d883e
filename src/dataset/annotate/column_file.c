/* A text file is read twice: the first pass finds the type of the column, the second one adds the
 * rows. So memory does not grow with the file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "dataset/annotate/column_rows.h"
#include "dataset/annotate/row_key.h"
#include "dataset/annotate/table.h"
#include "dataset/annotate/table_error.h"

/* A text file and the column that is read from it. */
struct column_file {
    recmap_annotation *annotation;
    struct new_column *column;
    struct table table;
    uint64_t row_count;
    unsigned pass;                     /* 0 or 1 */
    uint64_t number_count, text_count; /* numbers with a leading zero are neither */
    uint64_t text_line;                /* of the first text */
    char text[FIELD_SHOWN_MAX + 1];
    uint64_t float_line;   /* of the first number that is not an integer */
    uint64_t rounded_line; /* of the first integer that float64 does not hold exactly */
    int64_t rounded;
    bool has_missing_word;
    bool needs_float64;  /* a number is not held by a float as it is written */
    recmap_error beyond; /* about the first number that no type of numbers can hold */
    bool has_beyond;
};

static void count_number(struct column_file *file, const struct table_row *row, recmap_type type) {
    file->number_count++;
    if (type == RECMAP_TYPE_FLOAT && !file->float_line) file->float_line = row->line;
    if (!file->needs_float64) file->needs_float64 = !field_fits_float(&row->value);
    if (!file->rounded_line && file->needs_float64 && field_is_rounded(&file->rounded, &row->value))
        file->rounded_line = row->line;
}

static void count_value(struct column_file *file, const struct table_row *row, recmap_type type) {
    if (type == RECMAP_TYPE_INT64 || type == RECMAP_TYPE_FLOAT) count_number(file, row, type);
    if (type == RECMAP_TYPE_NONE) file->has_missing_word |= field_is_missing_word(&row->value);
    bool is_text = type == RECMAP_TYPE_BYTES && !field_has_leading_zero(&row->value);
    if (!is_text || file->text_count++) return;
    file->text_line = row->line;
    snprintf(file->text, sizeof file->text, "%.*s", field_shown_size(&row->value),
             (const char *)row->value.data);
}

/* Adds what to do about a number that is beyond the type. */
static void advise_beyond(recmap_error *error, const struct column_file *file,
                          const struct table_row *row, recmap_type type) {
    bool is_csv = !file->table.is_json;
    const char *texts = is_csv ? "give JSON lines with texts" : "make all values strings";
    const char *missing = is_csv ? "leave the field empty" : "make it null";
    int64_t bits;
    if (type == RECMAP_TYPE_INT64 && field_to_bits(&bits, &row->value))
        fail_advise(error, "write it as %" PRId64 ", the int64 with the same bits, or %s", bits,
                    texts);
    else if (type == RECMAP_TYPE_INT64) fail_advise(error, "correct the value, or %s", texts);
    else fail_advise(error, "correct the value, or %s if the value is missing", missing);
}

/* In CSV, a later text can make the column one of texts, where such a number is a text, too. So
 * this is an error only once all rows are read. JSON says that it is a number. */
static recmap_status note_beyond(struct column_file *file, const struct table_row *row,
                                 recmap_type type, recmap_error *error) {
    recmap_error beyond = {.message = ""};
    table_fail(&file->table, row->line, &beyond, "", "%.*s is beyond %s",
               field_shown_size(&row->value), (const char *)row->value.data,
               type == RECMAP_TYPE_INT64 ? "int64 (-2^63 to 2^63 - 1)" : "float64 (1.8e308)");
    advise_beyond(&beyond, file, row, type);
    if (file->table.is_json) {
        if (error) *error = beyond;
        return RECMAP_INVALID;
    }
    file->number_count++;
    if (!file->has_beyond) file->beyond = beyond;
    file->has_beyond = true;
    return RECMAP_OK;
}

/* Widens the type so far to include another value's type. JSON says which values are texts, so
 * texts and numbers in one column are an error there; in CSV they make the column one of texts. */
static recmap_status widen_type(recmap_type *type, struct column_file *file,
                                const struct table_row *row, recmap_error *error) {
    recmap_type next;
    if (!field_type(&next, &row->value)) return note_beyond(file, row, next, error);
    count_value(file, row, next);
    if (next == RECMAP_TYPE_NONE || next == *type) return RECMAP_OK;
    bool mixes = *type != RECMAP_TYPE_NONE &&
                 (next == RECMAP_TYPE_BYTES || *type == RECMAP_TYPE_BYTES);
    if (mixes && file->table.is_json)
        return table_fail(&file->table, row->line, error,
                          "make the values of all lines numbers, or all strings",
                          "\"%s\" is of type %s here and of type %s in earlier lines",
                          file->column->name, recmap_type_name(next), recmap_type_name(*type));
    _Static_assert(RECMAP_TYPE_NONE < RECMAP_TYPE_INT64 && RECMAP_TYPE_INT64 < RECMAP_TYPE_FLOAT &&
                       RECMAP_TYPE_FLOAT < RECMAP_TYPE_BYTES,
                   "a wider type has a larger number");
    if (next > *type) *type = next;
    return RECMAP_OK;
}

static recmap_status report(struct column_file *file, recmap_error *error) {
    uint64_t size = file->table.map->size;
    uint64_t done = size - (uint64_t)(file->table.text.end - file->table.text.at);
    if (file->row_count++ % REPORT_ROWS) return RECMAP_OK;
    return annotation_report(file->annotation, (file->pass * size + done) / 2, size,
                             file->column->row_count, error);
}

/* The column's warning, which the caller fills in. NULL if memory runs out. */
static recmap_error *create_warning(struct new_column *column) {
    column->warning = malloc(sizeof *column->warning);
    return column->warning;
}

/* One mistyped number makes the column one of texts, which no comparison with numbers finds. */
static recmap_status warn_of_text(struct column_file *file, recmap_error *error) {
    if (!file->text_count || file->number_count <= file->text_count) return RECMAP_OK;
    recmap_error *warning = create_warning(file->column);
    if (!warning) return fail_memory(error);
    table_fail(&file->table, file->text_line, warning,
               "correct the value, or leave the field empty if the value is missing",
               "\"%s\" makes column \"%s\" one of texts, although %" PRIu64 " of its %" PRIu64
               " values are numbers",
               file->text, file->column->name, file->number_count,
               file->number_count + file->text_count);
    return RECMAP_OK;
}

/* Large numbers are usually timestamps or ids. One fraction, or a NaN for a missing value, makes
 * floats of integers, which are equal for neighbouring ones. */
static recmap_status warn_of_rounding(struct column_file *file, recmap_error *error) {
    if (!file->rounded_line) return RECMAP_OK;
    recmap_error *warning = create_warning(file->column);
    if (!warning) return fail_memory(error);
    table_fail(&file->table, file->rounded_line, warning,
               file->table.is_json
                   ? "write all values as integers, or all as strings, and null if the value is "
                     "missing"
                   : "write all values as integers, and leave the field empty if the value is "
                     "missing",
               "%" PRId64 " is rounded to %.0f, because line %" PRIu64
               " makes column \"%s\" one of float64",
               file->rounded, (double)file->rounded, file->float_line, file->column->name);
    return RECMAP_OK;
}

static recmap_status fail_no_value(const struct column_file *file, recmap_error *error) {
    const char *name = file->column->name;
    struct near_name near = NEAR_NAME_INIT;
    if (file->table.is_json) near = table_near_name(&file->table, name);
    fail(error, RECMAP_INVALID, "no row has a value of \"%s\"", name);
    fail_file(error, file->table.path);
    if (near.name) fail_advise(error, "did you mean \"%.*s\"?", (int)near.size, near.name);
    else fail_advise(error, "check the name of the field, or leave the column out");
    return RECMAP_INVALID;
}

/* The first pass. The type starts as NONE, and the values widen it from int64 to float and bytes.
 * In the end, float becomes float64 if floats do not hold all numbers as they are written. What
 * depends on the final type waits until all rows are read: a number beyond int64 or float is
 * an error unless a text makes the column one of texts, and a column in which no row has a value is
 * an error, because it has no type. */
static recmap_status find_type(struct column_file *file, recmap_error *error) {
    recmap_type type = RECMAP_TYPE_NONE;
    for (;;) {
        struct table_row row;
        bool is_row;
        RETURN_IF_FAILED(report(file, error));
        RETURN_IF_FAILED(table_next(&row, &is_row, &file->table, error));
        if (!is_row) break;
        RETURN_IF_FAILED(widen_type(&type, file, &row, error));
    }
    if (file->has_beyond && type != RECMAP_TYPE_BYTES) {
        if (error) *error = file->beyond;
        return RECMAP_INVALID;
    }
    if (type == RECMAP_TYPE_NONE && file->has_missing_word) type = RECMAP_TYPE_BYTES;
    if (type == RECMAP_TYPE_FLOAT && file->needs_float64) type = RECMAP_TYPE_FLOAT64;
    if (type != RECMAP_TYPE_NONE) {
        RETURN_IF_FAILED(annotation_set_type(file->annotation, file->column, type, error));
        return type == RECMAP_TYPE_FLOAT64 ? warn_of_rounding(file, error)
                                           : warn_of_text(file, error);
    }
    return fail_no_value(file, error);
}

static recmap_status note_unmatched(const struct column_file *file, const struct table_row *row,
                                    const recmap_value *key, recmap_error *error) {
    recmap_error without_place, unmatched = RECMAP_ERROR_INIT;
    row_key_fail(file->annotation, file->table.key, key, &without_place);
    table_fail(&file->table, row->line, &unmatched, without_place.advice, "%s",
               without_place.message);
    return row_key_note_unmatched(file->column, &unmatched, error);
}

static recmap_status add_row(struct column_file *file, const struct table_row *row,
                             recmap_error *error) {
    size_t count;
    recmap_value key, value;
    RETURN_IF_FAILED(
        row_key_find_records(&count, &key, file->annotation, &file->table, row, error));
    if (!count) return note_unmatched(file, row, &key, error);
    if (!field_value(&value, &row->value, file->column->type))
        return table_fail(&file->table, row->line, error,
                          "annotate again once the file is complete",
                          "changed while the file was read");
    if (value.type == RECMAP_TYPE_BYTES && value.as.bytes.size > COLUMN_BYTES_MAX)
        return table_fail(&file->table, row->line, error, "shorten the text",
                          "a text of %zu bytes for column \"%s\" is longer than the maximum of %d",
                          value.as.bytes.size, file->column->name, (int)COLUMN_BYTES_MAX);
    recmap_status status = column_rows_add(file->annotation, file->column, count, &value, error);
    if (status == RECMAP_INVALID) fail_file(error, file->table.path);
    return status;
}

static recmap_status add_rows(struct column_file *file, recmap_error *error) {
    RETURN_IF_FAILED(table_rewind(&file->table, error));
    file->pass = 1;
    for (;;) {
        struct table_row row;
        bool is_row;
        RETURN_IF_FAILED(report(file, error));
        RETURN_IF_FAILED(table_next(&row, &is_row, &file->table, error));
        if (!is_row) return RECMAP_OK;
        RETURN_IF_FAILED(add_row(file, &row, error));
    }
}

static recmap_status add_table(struct column_file *file, recmap_key key, recmap_error *error) {
    recmap_status status = table_open(&file->table, file->column->path, file->column->name, key,
                                      index_manifest(file->annotation->index)->id_name, error);
    if (status == RECMAP_OK) status = row_key_check(file->annotation, file->table.key, error);
    file->column->key = file->table.key;
    if (status == RECMAP_OK) status = find_type(file, error);
    if (status == RECMAP_OK) status = add_rows(file, error);
    table_close(&file->table);
    return status;
}

static recmap_status fail_extension(const char *path, const char *name, recmap_error *error) {
    if (table_has_extension(path, ".npy")) {
        fail(error, RECMAP_INVALID, "arrays of NumPy are read only in Python");
        fail_advise(error,
                    "use `ds.annotate({\"%s\": \"FILE.npy\"})` in Python, or write a CSV file with "
                    "the fields number and %s",
                    name, name);
    } else {
        fail(error, RECMAP_INVALID,
             "the file's name does not end in .csv, .tsv, .jsonl or .ndjson");
        fail_advise(error, "the extension selects the format: CSV, TSV or JSON lines");
    }
    fail_file(error, path);
    return RECMAP_INVALID;
}

static recmap_status check_extension(const char *path, const char *name, recmap_error *error) {
    static const char *const extensions[] = {".csv", ".tsv", ".jsonl", ".ndjson"};
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (table_has_extension(path, extensions[i])) return RECMAP_OK;
    return fail_extension(path, name, error);
}

static recmap_status add_file(recmap_annotation *annotation, const char *name, const char *path,
                              recmap_key key, const char *default_value, recmap_error *error) {
    struct column_file file = {.annotation = annotation};
    RETURN_IF_FAILED(check_extension(path, name, error));
    RETURN_IF_FAILED(annotation_add_column(&file.column, annotation, name, default_value, error));
    file.column->path = strdup(path);
    file.column->key = key;
    return file.column->path ? add_table(&file, key, error) : fail_memory(error);
}

recmap_status recmap_annotation_add_file(recmap_annotation *annotation, const char *name,
                                         const char *path, recmap_key key,
                                         const char *default_value, recmap_error *error) {
    struct interrupt former =
        thread_interrupt_replace(annotation->progress ? annotation_ask : NULL, annotation);
    recmap_status status = add_file(annotation, name, path, key, default_value, error);
    thread_interrupt_restore(&former);
    if (status == RECMAP_CANCELLED) fail(error, status, "cancelled");
    annotation->is_closed |= status != RECMAP_OK;
    return status;
}
