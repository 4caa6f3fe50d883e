/* recmap_annotation: collects the columns of the new index, and the values of those that are
 * added. */
#include "dataset/annotate/annotation.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/os/process.h"
#include "base/text/json.h"
#include "base/words/near_name.h"
#include "dataset/open/dataset.h"

enum { COLUMNS_MAX = 64, PROGRESS_NS = 50 * 1000 * 1000 };

recmap_status annotation_report(recmap_annotation *annotation, uint64_t done, uint64_t total,
                                uint64_t row_count, recmap_error *error) {
    annotation->reported = (recmap_progress){done, total, row_count, annotation->path, 0};
    if (!annotation->progress ||
        !annotation->progress(&annotation->reported, annotation->progress_context))
        return RECMAP_OK;
    return fail(error, RECMAP_CANCELLED, "cancelled");
}

int annotation_ask(void *context) {
    recmap_annotation *annotation = context;
    uint64_t now = clock_ns();
    if (now - annotation->asked_ns < PROGRESS_NS) return 0;
    annotation->asked_ns = now;
    return annotation->progress(&annotation->reported, annotation->progress_context);
}

/* The lock makes annotations and appends wait for each other: two that start from the same index
 * would each publish an index without the other's changes. */
static recmap_status lock_index(recmap_annotation *annotation, recmap_error *error) {
    for (;;) {
        bool is_held = false;
        RETURN_IF_FAILED(lock_file_try(&annotation->lock, &is_held, annotation->path, error));
        if (is_held) break;
        recmap_progress progress = {.path = annotation->path, .is_waiting = 1};
        if (annotation->progress && annotation->progress(&progress, annotation->progress_context))
            return fail(error, RECMAP_CANCELLED, "cancelled while waiting for another writer");
        lock_file_pause();
    }
    RETURN_IF_FAILED(file_open(&annotation->replaced_fd, annotation->path, error));
    return file_get_stat(&annotation->replaced, annotation->replaced_fd, annotation->path, error);
}

/* Ids are looked up in the new index, and compared in records of the data set: both must have the
 * same records. */
static recmap_status check_same(const recmap_annotation *annotation, recmap_error *error) {
    const struct manifest *now = index_manifest(annotation->index);
    const struct manifest *opened = index_manifest(annotation->dataset->index);
    if (!memcmp(now->fingerprint, opened->fingerprint, sizeof now->fingerprint)) return RECMAP_OK;
    fail(error, RECMAP_STALE, "the index was replaced since the data set was opened");
    fail_file(error, annotation->path);
    fail_advise(error, "open the data set again");
    return RECMAP_STALE;
}

/* Lists the columns of the index. */
static recmap_status list_columns(recmap_annotation *annotation, recmap_error *error) {
    const struct manifest *manifest = index_manifest(annotation->index);
    for (size_t i = 0; i < manifest->column_count; i++) {
        if (!array_reserve(&annotation->columns, &annotation->column_capacity, i + 1,
                           sizeof *annotation->columns))
            return fail_memory(error);
        struct new_column *column = &annotation->columns[annotation->column_count++];
        *column = (struct new_column){.name = strdup(manifest->columns[i].name), .old_column = i};
        if (!column->name) return fail_memory(error);
    }
    return RECMAP_OK;
}

static recmap_status prepare(recmap_annotation *annotation, recmap_error *error) {
    const char *path = dataset_path(annotation->dataset);
    RETURN_IF_FAILED(index_check_local(path, error));
    /* Names of shards are relative to the folder of the index, not of a link to it. */
    RETURN_IF_FAILED(index_follow_link(&annotation->path, annotation->dataset->index, error));
    RETURN_IF_FAILED(lock_index(annotation, error));
    RETURN_IF_FAILED(index_open(&annotation->index, annotation->path, NULL, error));
    RETURN_IF_FAILED(check_same(annotation, error));
    return list_columns(annotation, error);
}

recmap_status recmap_annotation_create(recmap_annotation **annotation, recmap_dataset *dataset,
                                       const recmap_annotation_options *options,
                                       recmap_error *error) {
    static const recmap_annotation_options defaults = RECMAP_ANNOTATION_OPTIONS_INIT;
    if (!options) options = &defaults;
    if (options->version != RECMAP_ANNOTATION_OPTIONS_VERSION)
        return fail(error, RECMAP_INVALID, "recmap_annotation_options has version %u, expected %d",
                    options->version, RECMAP_ANNOTATION_OPTIONS_VERSION);
    if (dataset->part_count) {
        fail(error, RECMAP_INVALID, "a concatenation has no index of its own");
        fail_advise(error, "annotate its parts, or lift columns of its parts");
        return RECMAP_INVALID;
    }
    recmap_annotation *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->dataset = dataset;
    fresh->progress = options->progress;
    fresh->progress_context = options->progress_context;
    fresh->lock = (struct lock_file)LOCK_FILE_INIT;
    fresh->replaced_fd = -1;
    fresh->is_nullable = true;
    recmap_status status = prepare(fresh, error);
    if (status == RECMAP_OK) *annotation = fresh;
    else recmap_annotation_destroy(fresh);
    return status;
}

void recmap_annotation_set_nullable(recmap_annotation *annotation, int is_nullable) {
    annotation->is_nullable = is_nullable != 0;
}

void recmap_annotation_ignore_unmatched(recmap_annotation *annotation, int ignores) {
    annotation->ignores_unmatched = ignores != 0;
}

uint64_t recmap_annotation_unmatched_count(const recmap_annotation *annotation) {
    uint64_t count = 0;
    for (size_t i = 0; i < annotation->column_count; i++)
        count += annotation->columns[i].unmatched_count;
    return count;
}

static void column_deinit(struct new_column *column) {
    free(column->name);
    free(column->default_value);
    free(column->path);
    free(column->warning);
    free(column->unmatched);
    idsort_destroy(column->rows);
    text_set_destroy(column->texts);
}

void recmap_annotation_destroy(recmap_annotation *annotation) {
    if (!annotation) return;
    for (size_t i = 0; i < annotation->column_count; i++) column_deinit(&annotation->columns[i]);
    free(annotation->columns);
    free(annotation->found);
    index_close(annotation->index);
    file_close(annotation->replaced_fd);
    lock_file_release(&annotation->lock);
    free(annotation->path);
    free(annotation);
}

const recmap_error *recmap_annotation_warning(const recmap_annotation *annotation, size_t index) {
    size_t count = 0;
    for (size_t i = 0; i < annotation->column_count; i++) {
        const recmap_error *warning = annotation->columns[i].warning;
        if (warning && count++ == index) return warning;
    }
    return NULL;
}

static struct new_column *find_column(const recmap_annotation *annotation, const char *name) {
    for (size_t i = 0; i < annotation->column_count; i++)
        if (!strcmp(annotation->columns[i].name, name)) return &annotation->columns[i];
    return NULL;
}

static recmap_status fail_absent(const recmap_annotation *annotation, const char *name,
                                 recmap_error *error) {
    fail(error, RECMAP_NO_COLUMN, "the index has no column \"%s\"%s", name,
         name[0] == '@' ? " that can be changed" : "");
    fail_file(error, annotation->path);
    struct near_name near = NEAR_NAME_INIT;
    for (size_t i = 0; i < annotation->column_count; i++) {
        const char *other = annotation->columns[i].name;
        near_name_offer(&near, name, strlen(name), other, strlen(other));
    }
    if (near.name) fail_advise(error, "did you mean \"%s\"?", near.name);
    else fail_advise(error, "see `recmap info` for its columns");
    return RECMAP_NO_COLUMN;
}

recmap_status recmap_annotation_drop(recmap_annotation *annotation, const char *name,
                                     recmap_error *error) {
    struct new_column *column = find_column(annotation, name);
    if (!column) return fail_absent(annotation, name, error);
    column_deinit(column);
    size_t after = --annotation->column_count - (size_t)(column - annotation->columns);
    memmove(column, column + 1, after * sizeof *column);
    return RECMAP_OK;
}

/* A name must be free, UTF-8, and not one of the library's own, which begin with `@`. */
static recmap_status check_name(const recmap_annotation *annotation, const char *name,
                                recmap_error *error) {
    if (!name[0] || name[0] == '@' || !utf8_valid((const uint8_t *)name, strlen(name)))
        return fail(error, RECMAP_INVALID,
                    "\"%s\" cannot be the name of a column: it is empty, begins with @, or is not "
                    "UTF-8",
                    name);
    if (!find_column(annotation, name)) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "the index already has a column \"%s\"", name);
    fail_file(error, annotation->path);
    fail_advise(error, "drop or rename that column first, or choose another name");
    return RECMAP_INVALID;
}

recmap_status recmap_annotation_rename(recmap_annotation *annotation, const char *name,
                                       const char *new_name, recmap_error *error) {
    struct new_column *column = find_column(annotation, name);
    if (!column) return fail_absent(annotation, name, error);
    RETURN_IF_FAILED(check_name(annotation, new_name, error));
    char *copy = strdup(new_name);
    if (!copy) return fail_memory(error);
    free(column->name);
    column->name = copy;
    return RECMAP_OK;
}

/* If a string cannot be copied, the column is removed again. A column without a sorter, which is
 * created last, may stay: the annotation is then destroyed. */
recmap_status annotation_add_column(struct new_column **column, recmap_annotation *annotation,
                                    const char *name, const char *default_value,
                                    recmap_error *error) {
    RETURN_IF_FAILED(check_name(annotation, name, error));
    if (annotation->column_count >= COLUMNS_MAX)
        return fail(error, RECMAP_INVALID, "an index has at most %d columns", (int)COLUMNS_MAX);
    if (default_value && !utf8_valid((const uint8_t *)default_value, strlen(default_value)))
        return fail(error, RECMAP_INVALID, "the default of column \"%s\" is not UTF-8", name);
    if (!array_reserve(&annotation->columns, &annotation->column_capacity,
                       annotation->column_count + 1, sizeof *annotation->columns))
        return fail_memory(error);
    struct new_column *added = &annotation->columns[annotation->column_count++];
    *added = (struct new_column){
        .name = strdup(name),
        .default_value = default_value ? strdup(default_value) : NULL,
        .old_column = NOT_OLD,
        .is_nullable = annotation->is_nullable,
        .ignores_unmatched = annotation->ignores_unmatched,
    };
    if (!added->name || (default_value && !added->default_value)) {
        column_deinit(added);
        annotation->column_count--;
        return fail_memory(error);
    }
    *column = added;
    return idsort_create(&added->rows, annotation->path, error);
}

recmap_status annotation_set_type(recmap_annotation *annotation, struct new_column *column,
                                  recmap_type type, recmap_error *error) {
    recmap_value value;
    column->type = type;
    if (column->default_value && !column_parse_default(&value, type, column->default_value)) {
        fail(error, RECMAP_INVALID, "the default \"%s\" of column \"%s\" is not of type %s",
             column->default_value, column->name, recmap_type_name(type));
        fail_file(error, column->path ? column->path : annotation->path);
        fail_advise(error, "its values are of type %s: give a default of that type",
                    recmap_type_name(type));
        return RECMAP_INVALID;
    }
    if (type == RECMAP_TYPE_BYTES && !column->texts && !(column->texts = text_set_create()))
        return fail_memory(error);
    return RECMAP_OK;
}

static recmap_status check_type(recmap_type type, recmap_type min, recmap_error *error) {
    if (type >= min && type <= RECMAP_TYPE_FLOAT64) return RECMAP_OK;
    return fail(error, RECMAP_INVALID, "invalid column type %d: use INT64, FLOAT, FLOAT64 or BYTES",
                (int)type);
}

recmap_status recmap_annotation_add_column(recmap_annotation *annotation, const char *name,
                                           recmap_type type, const char *default_value,
                                           recmap_error *error) {
    struct new_column *column = NULL;
    RETURN_IF_FAILED(check_type(type, RECMAP_TYPE_INT64, error));
    recmap_status status = annotation_add_column(&column, annotation, name, default_value, error);
    if (status == RECMAP_OK) status = annotation_set_type(annotation, column, type, error);
    annotation->is_closed |= status != RECMAP_OK;
    return status;
}

recmap_status recmap_annotation_add_column_like(recmap_annotation *annotation,
                                                const recmap_lifted_column *column,
                                                recmap_error *error) {
    struct new_column *added = NULL;
    if (!are_unused(column->reserved, sizeof column->reserved / sizeof *column->reserved))
        return fail(error, RECMAP_INVALID, "a reserved member of the column is not 0");
    /* A column that has only nulls is of type NONE. */
    RETURN_IF_FAILED(check_type(column->type, RECMAP_TYPE_NONE, error));
    recmap_status status =
        annotation_add_column(&added, annotation, column->name, column->default_value, error);
    if (status == RECMAP_OK) status = annotation_set_type(annotation, added, column->type, error);
    if (status == RECMAP_OK) {
        added->is_lifted = !column->is_annotated;
        added->is_nullable = true;
    }
    annotation->is_closed |= status != RECMAP_OK;
    return status;
}
