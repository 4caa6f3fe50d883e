#include "dataset/annotate/row_key.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "dataset/annotate/table_error.h"
#include "dataset/open/dataset.h"

bool row_key_keep_found(recmap_annotation *annotation, size_t count, uint64_t number) {
    if (!array_reserve(&annotation->found, &annotation->found_capacity, count + 1,
                       sizeof *annotation->found))
        return false;
    annotation->found[count] = number;
    return true;
}

static recmap_status find_number(size_t *count, recmap_annotation *annotation,
                                 const recmap_value *value, recmap_error *error) {
    *count = 0;
    if (value->type != RECMAP_TYPE_INT64 || value->as.int64 < 0 ||
        (uint64_t)value->as.int64 >= index_manifest(annotation->index)->record_count)
        return RECMAP_OK;
    if (!row_key_keep_found(annotation, 0, (uint64_t)value->as.int64)) return fail_memory(error);
    *count = 1;
    return RECMAP_OK;
}

/* Several records have the id's hash: reads their ids, so that records with other ids do not get
 * the value. */
static recmap_status find_by_reading(size_t *count, recmap_annotation *annotation,
                                     const recmap_value *id, recmap_error *error) {
    RETURN_IF_FAILED(recmap_dataset_find_all(annotation->found, annotation->found_capacity, count,
                                             annotation->dataset, id, error));
    if (*count <= annotation->found_capacity) return RECMAP_OK;
    if (!array_reserve(&annotation->found, &annotation->found_capacity, *count,
                       sizeof *annotation->found))
        return fail_memory(error);
    return recmap_dataset_find_all(annotation->found, annotation->found_capacity, count,
                                   annotation->dataset, id, error);
}

recmap_status row_key_find(size_t *count, recmap_annotation *annotation, recmap_key key,
                           const recmap_value *value, recmap_error *error) {
    if (key == RECMAP_KEY_NUMBER) return find_number(count, annotation, value, error);
    struct index_candidates candidates;
    RETURN_IF_FAILED(index_candidates_init(&candidates, annotation->index, id_hash(value), error));
    for (*count = 0; *count < 2; ++*count) {
        uint64_t number;
        bool is_found;
        RETURN_IF_FAILED(index_candidates_next(&candidates, &number, &is_found, error));
        if (!is_found) return RECMAP_OK;
        if (!row_key_keep_found(annotation, *count, number)) return fail_memory(error);
    }
    return find_by_reading(count, annotation, value, error);
}

/* JSON lines without ids and numbers count as ones of numbers, but an id may be what was meant. */
static recmap_status fail_no_key(const struct table *table, const struct table_row *row,
                                 recmap_error *error) {
    const char *name = table->key_name;
    struct near_name near = NEAR_NAME_INIT;
    if (table->is_json) near = table_near_name(table, name);
    if (table->is_json && !near.name) near = table_near_name(table, "id");
    table_fail(table, row->line, error, "give the row one, or remove it", "the row has no %s",
               name);
    if (near.name)
        fail_advise(error,
                    "rename \"%.*s\": a field \"id\" or \"number\" says which record a row is for",
                    (int)near.size, near.name);
    return RECMAP_INVALID;
}

/* Finds the records of a row, of which there may be none. In CSV nothing says whether an id is an
 * int64 or bytes, so both are tried. `value` receives the key. */
recmap_status row_key_find_records(size_t *count, recmap_value *value,
                                   struct recmap_annotation *annotation, const struct table *table,
                                   const struct table_row *row, recmap_error *error) {
    bool is_text = table->key == RECMAP_KEY_ID && row->key.kind != FIELD_NUMBER;
    if (row->key.kind == FIELD_MISSING) return fail_no_key(table, row, error);
    bool is_key = is_text || table->key == RECMAP_KEY_ID || field_is_integer(&row->key);
    if (!is_key || !field_value(value, &row->key, is_text ? RECMAP_TYPE_BYTES : RECMAP_TYPE_INT64))
        return table_fail(table, row->line, error,
                          table->key == RECMAP_KEY_NUMBER
                              ? "records are numbered from 0; a field of ids is named \"id\""
                              : "ids are strings or integers of 64 bits",
                          "%.*s is not a record's %s", field_shown_size(&row->key),
                          (const char *)row->key.data, table_key_name(table->key));
    RETURN_IF_FAILED(row_key_find(count, annotation, table->key, value, error));
    recmap_value integer;
    if (!*count && is_text && row->key.kind == FIELD_WORD && field_is_plain_integer(&row->key) &&
        field_value(&integer, &row->key, RECMAP_TYPE_INT64))
        return row_key_find(count, annotation, table->key, &integer, error);
    return RECMAP_OK;
}

recmap_status row_key_check(const recmap_annotation *annotation, recmap_key key,
                            recmap_error *error) {
    if (key != RECMAP_KEY_ID || index_manifest(annotation->index)->id_name) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "the index has no ids");
    fail_file(error, annotation->path);
    fail_advise(error, "name records by their numbers, or build the index with `recmap index --id "
                       "FEATURE`");
    return RECMAP_INVALID;
}

recmap_status row_key_fail(const recmap_annotation *annotation, recmap_key key,
                           const recmap_value *value, recmap_error *error) {
    enum { SHOWN_MAX = 100 };
    const struct manifest *manifest = index_manifest(annotation->index);
    size_t size = value->as.bytes.size;
    if (value->type == RECMAP_TYPE_INT64)
        fail(error, RECMAP_INVALID, "no record has the %s %" PRId64,
             key == RECMAP_KEY_NUMBER ? "number" : "id", value->as.int64);
    else
        fail(error, RECMAP_INVALID, "no record has the id \"%.*s\"",
             (int)(size < SHOWN_MAX ? size : SHOWN_MAX), (const char *)value->as.bytes.data);
    if (key == RECMAP_KEY_NUMBER)
        fail_advise(error, "there %s %" PRIu64 " record%s, numbered from 0",
                    manifest->record_count == 1 ? "is" : "are", manifest->record_count,
                    plural(manifest->record_count));
    else
        fail_advise(error,
                    "remove the rows of other records, or ignore them (`--unmatched ignore`); ids "
                    "are those of feature \"%s\"",
                    manifest->id_name);
    return RECMAP_INVALID;
}

recmap_status row_key_note_unmatched(struct new_column *column, const recmap_error *first,
                                     recmap_error *error) {
    column->row_count++;
    if (column->unmatched_count++) return RECMAP_OK;
    column->unmatched = malloc(sizeof *column->unmatched);
    if (!column->unmatched) return fail_memory(error);
    *column->unmatched = *first;
    return RECMAP_OK;
}

/* The error if no row of a column has the key of a record: even if unmatched rows are ignored, one
 * must match. */
static recmap_status fail_all_unmatched(const struct new_column *column, recmap_error *error) {
    if (column->unmatched_count > 1)
        fail_append(error, ", nor the key of any of the other %" PRIu64 " row%s",
                    column->unmatched_count - 1, plural(column->unmatched_count - 1));
    fail_advise(error,
                "check what the keys of column \"%s\" are: ids or numbers, and of these "
                "records",
                column->name);
    return RECMAP_INVALID;
}

recmap_status row_key_check_unmatched(const recmap_annotation *annotation, recmap_error *error) {
    for (size_t i = 0; i < annotation->column_count; i++) {
        const struct new_column *column = &annotation->columns[i];
        bool is_all = column->unmatched_count == column->row_count;
        if (!column->unmatched || (column->ignores_unmatched && !is_all)) continue;
        if (error) *error = *column->unmatched;
        if (column->ignores_unmatched) return fail_all_unmatched(column, error);
        if (column->unmatched_count > 1)
            fail_append(error, " (and %" PRIu64 " more row%s a key that no record has)",
                        column->unmatched_count - 1,
                        column->unmatched_count == 2 ? " has" : "s have");
        return RECMAP_INVALID;
    }
    return RECMAP_OK;
}
