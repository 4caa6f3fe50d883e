/* Writes the new index: everything but the columns and the manifest is copied from the old one. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/words/shell_word.h"
#include "dataset/annotate/annotation.h"
#include "dataset/annotate/column_rows.h"
#include "dataset/annotate/row_key.h"
#include "index/build/column_stage.h"

enum { WINDOW_PAIRS = 1024 };

/* Iterates over the rows of a new column, by ascending record number. The sorter was made for ids:
 * here, the `hash` of a pair is the key of a row, and its `number` the value. */
struct row_cursor {
    struct new_column *column;
    struct column_stage *stage;
    struct id_pair window[WINDOW_PAIRS];
    size_t next, count;
};

struct rewrite {
    recmap_annotation *annotation;
    struct store_writer *writer;
    struct row_cursor **cursors; /* of each column; NULL for one of the old index */
    uint32_t format_version;     /* the lowest that the columns need */
};

/* Makes sure that there is a pair at `next`, unless all are used. */
static recmap_status fill_window(struct row_cursor *cursor, recmap_error *error) {
    if (cursor->next < cursor->count) return RECMAP_OK;
    cursor->next = 0;
    return idsort_next(cursor->column->rows, cursor->window, WINDOW_PAIRS, &cursor->count, error);
}

static recmap_status create_cursor(struct row_cursor **cursor, struct new_column *column,
                                   recmap_error *error) {
    struct row_cursor *fresh = calloc(1, sizeof *fresh);
    *cursor = fresh;
    if (!fresh) return fail_memory(error);
    fresh->column = column;
    fresh->stage = column_stage_create(&(recmap_lift){column->name, column->default_value, 1});
    if (!fresh->stage) return fail_memory(error);
    return idsort_finish(column->rows, error);
}

static void destroy_cursor(struct row_cursor *cursor) {
    if (!cursor) return;
    column_stage_destroy(cursor->stage);
    free(cursor);
}

static recmap_value value_of(const struct new_column *column, uint64_t word) {
    if (column->type == RECMAP_TYPE_BYTES) return text_set_at(column->texts, word);
    return column_number(column->type, word);
}

static recmap_status fail_missing(const struct rewrite *rewrite, const struct new_column *column,
                                  uint64_t number, recmap_error *error) {
    char word[SHELL_WORD_SIZE];
    fail(error, RECMAP_INVALID, "record %" PRIu64 " has no value for column \"%s\"", number,
         column->name);
    fail_file(error, column->path ? column->path : rewrite->annotation->path);
    fail_advise(error,
                "give records without a value a default: `--default %s`, or use "
                "`--missing-values null`",
                shell_word_of_name(word, column->name, "=VALUE"));
    return RECMAP_INVALID;
}

/* Returns true if the next row is one of the record. */
static bool is_at(const struct row_cursor *cursor, uint64_t number) {
    return cursor->count && cursor->window[cursor->next].hash >> 1 == number;
}

/* Stages the value of the record: from its row, or the default, or null. */
static recmap_status stage_value(struct rewrite *rewrite, struct row_cursor *cursor,
                                 uint64_t number, recmap_error *error) {
    recmap_value value = {.type = RECMAP_TYPE_NONE};
    RETURN_IF_FAILED(fill_window(cursor, error));
    if (is_at(cursor, number)) {
        struct id_pair row = cursor->window[cursor->next++];
        if (!(row.hash & 1)) value = value_of(cursor->column, row.number);
        RETURN_IF_FAILED(fill_window(cursor, error));
        if (is_at(cursor, number))
            return column_rows_fail_repeat(rewrite->annotation, cursor->column, number, error);
    }
    if (value.type == RECMAP_TYPE_NONE && !cursor->column->default_value &&
        !cursor->column->is_nullable)
        return fail_missing(rewrite, cursor->column, number, error);
    return column_stage_add(cursor->stage, &value, "", error);
}

static void note_format(struct rewrite *rewrite, const uint8_t *chunk, size_t size) {
    uint32_t version = column_format_version(chunk, size);
    if (version > rewrite->format_version) rewrite->format_version = version;
}

static recmap_status put_new_chunk(struct rewrite *rewrite, struct row_cursor *cursor,
                                   struct store_key key, recmap_error *error) {
    const struct manifest *manifest = index_manifest(rewrite->annotation->index);
    uint64_t first = key.chunk << COLUMN_CHUNK_SHIFT;
    uint64_t end = min_u64(first + COLUMN_CHUNK_RECORDS, manifest->record_count);
    for (uint64_t number = first; number < end; number++)
        RETURN_IF_FAILED(stage_value(rewrite, cursor, number, error));
    size_t size;
    uint8_t *packed = column_stage_pack(cursor->stage, &size);
    if (!packed) return fail_memory(error);
    note_format(rewrite, packed, size);
    recmap_status status =
        store_writer_put(rewrite->writer, STORE_COLUMNS, key, packed, size, error);
    free(packed);
    return status;
}

/* Copies a value under a key, after its hash was verified. */
static recmap_status copy_value(struct rewrite *rewrite, enum store_table table, size_t value_index,
                                struct store_key key, recmap_error *error) {
    struct store *store = index_store(rewrite->annotation->index);
    size_t count;
    const struct store_value *values = store_values(store, table, &count);
    assert(value_index < count);
    RETURN_IF_FAILED(store_check(store, table, value_index, error));
    if (table == STORE_COLUMNS)
        note_format(rewrite, values[value_index].data, values[value_index].size);
    RETURN_IF_FAILED(store_writer_put(rewrite->writer, table, key, values[value_index].data,
                                      values[value_index].size, error));
    return store_intact(store) ? RECMAP_OK : store_fail_cut(store, error);
}

/* Writes the chunks of all columns in the order of their keys, as the store requires: by chunk,
 * then by column. Chunks of columns that stay are copied as they are stored; chunks of new columns
 * are built from their sorted rows, one chunk at a time. */
static recmap_status put_columns(struct rewrite *rewrite, recmap_error *error) {
    recmap_annotation *annotation = rewrite->annotation;
    const struct manifest *manifest = index_manifest(annotation->index);
    for (uint64_t chunk = 0; chunk << COLUMN_CHUNK_SHIFT < manifest->record_count; chunk++) {
        uint64_t first = chunk << COLUMN_CHUNK_SHIFT;
        RETURN_IF_FAILED(
            annotation_report(annotation, first, manifest->record_count, first, error));
        for (size_t i = 0; i < annotation->column_count; i++) {
            const struct new_column *column = &annotation->columns[i];
            struct store_key key = {chunk, (uint32_t)i};
            RETURN_IF_FAILED(
                rewrite->cursors[i]
                    ? put_new_chunk(rewrite, rewrite->cursors[i], key, error)
                    : copy_value(rewrite, STORE_COLUMNS,
                                 (size_t)chunk * manifest->column_count + column->old_column, key,
                                 error));
        }
    }
    return RECMAP_OK;
}

static recmap_status copy_table(struct rewrite *rewrite, enum store_table table,
                                recmap_error *error) {
    size_t count;
    const struct store_value *values =
        store_values(index_store(rewrite->annotation->index), table, &count);
    for (size_t i = 0; i < count; i++)
        RETURN_IF_FAILED(copy_value(rewrite, table, i, values[i].key, error));
    return RECMAP_OK;
}

static struct manifest_column describe(const struct rewrite *rewrite, size_t i) {
    const struct new_column *column = &rewrite->annotation->columns[i];
    const struct row_cursor *cursor = rewrite->cursors[i];
    if (cursor)
        return (struct manifest_column){column->name,
                                        column->default_value,
                                        column_stage_type(cursor->stage),
                                        column_stage_first_value(cursor->stage),
                                        !column->is_lifted,
                                        column_stage_null_count(cursor->stage)};
    struct manifest_column described =
        index_manifest(rewrite->annotation->index)->columns[column->old_column];
    described.name = column->name;
    return described;
}

/* The old manifest with other columns, whose strings are borrowed. */
static recmap_status put_manifest(struct rewrite *rewrite, recmap_error *error) {
    struct manifest manifest = *index_manifest(rewrite->annotation->index);
    size_t count = rewrite->annotation->column_count, size;
    manifest.columns = calloc(count + 1, sizeof *manifest.columns);
    manifest.column_count = count;
    manifest.format_version = rewrite->format_version;
    if (manifest.format_version < INDEX_FORMAT_PARTS && index_has_parts(rewrite->annotation->index))
        manifest.format_version = INDEX_FORMAT_PARTS;
    if (!manifest.columns) return fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        manifest.columns[i] = describe(rewrite, i);
        if (manifest.columns[i].type == RECMAP_TYPE_FLOAT64)
            manifest.format_version = INDEX_FORMAT_FLOAT64;
    }
    uint8_t *packed = manifest_encode(&size, &manifest);
    free(manifest.columns);
    if (!packed) return fail_memory(error);
    recmap_status status = store_writer_put(rewrite->writer, STORE_MANIFEST,
                                            (struct store_key){0, 0}, packed, size, error);
    free(packed);
    return status;
}

static recmap_status check_not_replaced(void *context, recmap_error *error) {
    const recmap_annotation *annotation = context;
    struct file_stat now;
    bool is_there;
    RETURN_IF_FAILED(file_find_stat(&now, &is_there, annotation->path, error));
    if (is_there && file_is_same(&now, &annotation->replaced)) return RECMAP_OK;
    fail(error, RECMAP_MISMATCH, "another build replaced the index meanwhile");
    fail_file(error, annotation->path);
    fail_advise(error, "annotate it again");
    return RECMAP_MISMATCH;
}

/* The tables are written in the order in which a build writes them. */
static recmap_status write_index(struct rewrite *rewrite, recmap_error *error) {
    static const enum store_table copied[] = {STORE_COUNTS, STORE_IDS, STORE_DAMAGE, STORE_SHARDS};
    recmap_annotation *annotation = rewrite->annotation;
    RETURN_IF_FAILED(
        store_writer_create(&rewrite->writer, annotation->path, LEFTOVERS_REMOVE, error));
    RETURN_IF_FAILED(copy_table(rewrite, STORE_POINTS, error));
    RETURN_IF_FAILED(copy_table(rewrite, STORE_OFFSETS, error));
    RETURN_IF_FAILED(put_columns(rewrite, error));
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
        RETURN_IF_FAILED(copy_table(rewrite, copied[i], error));
    RETURN_IF_FAILED(put_manifest(rewrite, error));
    return store_writer_finish(rewrite->writer, check_not_replaced, annotation, error);
}

static recmap_status run(struct rewrite *rewrite, recmap_error *error) {
    recmap_annotation *annotation = rewrite->annotation;
    rewrite->cursors = calloc(annotation->column_count + 1, sizeof(struct row_cursor *));
    if (!rewrite->cursors) return fail_memory(error);
    for (size_t i = 0; i < annotation->column_count; i++)
        if (annotation->columns[i].old_column == NOT_OLD)
            RETURN_IF_FAILED(create_cursor(&rewrite->cursors[i], &annotation->columns[i], error));
    return write_index(rewrite, error);
}

recmap_status recmap_annotation_finish(recmap_annotation *annotation, recmap_error *error) {
    if (annotation->is_closed)
        return fail(error, RECMAP_INVALID,
                    "the annotation has already finished or failed: create another one");
    annotation->is_closed = true;
    struct rewrite rewrite = {.annotation = annotation, .format_version = 1};
    recmap_status status = row_key_check_unmatched(annotation, error);
    if (status == RECMAP_OK) status = run(&rewrite, error);
    for (size_t i = 0; rewrite.cursors && i < annotation->column_count; i++)
        destroy_cursor(rewrite.cursors[i]);
    free(rewrite.cursors);
    store_writer_destroy(rewrite.writer);
    return status;
}
