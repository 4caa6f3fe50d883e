/* Columns of a data set: "@length", the sizes of the records, and then the lifted columns. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/plural.h"
#include "dataset/open/concat.h"

static const char LENGTH_NAME[] = "@length";

static recmap_status check_column(const recmap_dataset *dataset, size_t column_index,
                                  recmap_error *error) {
    if (column_index < dataset->info.lifted_column_count) return RECMAP_OK;
    return fail(error, RECMAP_INVALID, "column %zu is out of range: the data set has %zu column%s",
                column_index, dataset->info.lifted_column_count,
                plural(dataset->info.lifted_column_count));
}

/* The column of the first part, with the nulls of all, and the type of a part that has values:
 * float64 if one has it, and others have floats. */
static recmap_status get_column_of_parts(recmap_lifted_column *info, const recmap_dataset *dataset,
                                         size_t column_index, recmap_error *error) {
    uint64_t null_count = 0;
    recmap_type type = RECMAP_TYPE_NONE;
    for (size_t i = dataset->part_count; i--;) {
        const struct dataset_part *part = &dataset->parts[i];
        RETURN_IF_FAILED(recmap_dataset_get_lifted_column(info, part->dataset,
                                                          part->columns[column_index], error));
        null_count += info->null_count;
        recmap_type part_type = concat_part_type(part, info);
        if (part_type != RECMAP_TYPE_NONE && type != RECMAP_TYPE_FLOAT64) type = part_type;
    }
    info->null_count = null_count;
    if (type != RECMAP_TYPE_NONE) info->type = type;
    return RECMAP_OK;
}

recmap_status recmap_dataset_get_lifted_column(recmap_lifted_column *info,
                                               const recmap_dataset *dataset, size_t column_index,
                                               recmap_error *error) {
    RETURN_IF_FAILED(check_column(dataset, column_index, error));
    if (column_index == 0) {
        *info = (recmap_lifted_column){.name = LENGTH_NAME, .type = RECMAP_TYPE_INT64};
        return RECMAP_OK;
    }
    if (dataset->part_count) return get_column_of_parts(info, dataset, column_index, error);
    const struct manifest_column *column =
        &index_manifest(dataset->index)->columns[column_index - 1];
    *info = (recmap_lifted_column){.name = column->name,
                                   .type = column->type,
                                   .default_value = column->default_value,
                                   .is_annotated = column->is_annotated,
                                   .null_count = column->null_count};
    return RECMAP_OK;
}

recmap_status recmap_dataset_find_lifted_column(size_t *column_index, const recmap_dataset *dataset,
                                                const char *name, recmap_error *error) {
    for (size_t i = 0; i < dataset->info.lifted_column_count; i++) {
        recmap_lifted_column info;
        if (recmap_dataset_get_lifted_column(&info, dataset, i, NULL) != RECMAP_OK) continue;
        if (strcmp(info.name, name)) continue;
        *column_index = i;
        return RECMAP_OK;
    }
    fail(error, RECMAP_NO_COLUMN, "the index has no column \"%s\"", name);
    fail_file(error, dataset_path(dataset));
    dataset_advise_lift(error, dataset, name, "");
    return RECMAP_NO_COLUMN;
}

/* NONE stands for any type. */
static recmap_status check_read(const recmap_dataset *dataset, size_t column_index,
                                recmap_type type, uint64_t first, size_t count,
                                recmap_error *error) {
    recmap_lifted_column info;
    RETURN_IF_FAILED(recmap_dataset_get_lifted_column(&info, dataset, column_index, error));
    bool is_any = type == RECMAP_TYPE_NONE;
    bool is_empty = !dataset->info.record_count || info.type == RECMAP_TYPE_NONE;
    bool is_widened = type == RECMAP_TYPE_FLOAT64 && info.type == RECMAP_TYPE_FLOAT;
    if (info.type != type && !is_any && !is_empty && !is_widened)
        return fail(error, RECMAP_INVALID, "column \"%s\" is of another type", info.name);
    return dataset_check_range(dataset, first, count, error);
}

/* Iterates over the parts of a concatenation that have records of a range. */
struct part_cursor {
    const recmap_dataset *dataset;
    const struct dataset_part *part; /* of the current stretch */
    uint64_t next, end;              /* records that are still to come */
    uint64_t first;                  /* record of the part */
    size_t count;
    size_t done; /* records before the current stretch */
};

static struct part_cursor part_cursor_init(const recmap_dataset *dataset, uint64_t first,
                                           size_t count) {
    return (struct part_cursor){.dataset = dataset, .next = first, .end = first + count};
}

static bool next_part(struct part_cursor *cursor) {
    cursor->done += cursor->count;
    if (cursor->next == cursor->end) return false;
    cursor->part = concat_part_of_record(cursor->dataset, cursor->next);
    assert(cursor->next >= cursor->part->first_record &&
           cursor->next < concat_part_end(cursor->part));
    cursor->first = cursor->next - cursor->part->first_record;
    cursor->count = (size_t)(min_u64(cursor->end, concat_part_end(cursor->part)) - cursor->next);
    cursor->next += cursor->count;
    return true;
}

/* A part of a column within one chunk. */
struct column_stretch {
    struct column_chunk chunk;
    size_t first; /* in the chunk */
    size_t count;
};

/* Opens the chunk that has value `first` of a lifted column, for up to `count` values. */
static recmap_status open_stretch(struct column_stretch *stretch, recmap_dataset *dataset,
                                  size_t column, uint64_t first, size_t count,
                                  recmap_error *error) {
    stretch->first = (size_t)first & (COLUMN_CHUNK_RECORDS - 1);
    stretch->count = (size_t)min_u64(count, COLUMN_CHUNK_RECORDS - stretch->first);
    return index_column_chunk(&stretch->chunk, dataset->index, column,
                              (size_t)(first >> COLUMN_CHUNK_SHIFT), error);
}

/* ---- Values of one chunk. Chunks without values have no type: all of theirs are `missing`. */

static void copy_int64(void *values, const struct column_stretch *stretch,
                       const recmap_value *missing) {
    int64_t *numbers = values;
    if (stretch->chunk.type == RECMAP_TYPE_INT64)
        column_copy_int64(numbers, &stretch->chunk, stretch->first, stretch->count);
    else
        for (size_t i = 0; i < stretch->count; i++) numbers[i] = missing->as.int64;
}

static void copy_float(void *values, const struct column_stretch *stretch,
                       const recmap_value *missing) {
    float *numbers = values;
    if (stretch->chunk.type == RECMAP_TYPE_FLOAT)
        column_copy_float(numbers, &stretch->chunk, stretch->first, stretch->count);
    else
        for (size_t i = 0; i < stretch->count; i++) numbers[i] = missing->as.float32;
}

/* Copies floats as doubles. */
static void widen_floats(double *values, const struct column_stretch *stretch) {
    enum { PIECE = 256 };
    float floats[PIECE];
    for (size_t done = 0; done < stretch->count; done += PIECE) {
        size_t count = (size_t)min_u64(stretch->count - done, PIECE);
        column_copy_float(floats, &stretch->chunk, stretch->first + done, count);
        for (size_t i = 0; i < count; i++) values[done + i] = (double)floats[i];
    }
}

static double double_of(const recmap_value *value) {
    if (value->type == RECMAP_TYPE_FLOAT) return (double)value->as.float32;
    return value->type == RECMAP_TYPE_FLOAT64 ? value->as.float64 : 0;
}

static void copy_float64(void *values, const struct column_stretch *stretch,
                         const recmap_value *missing) {
    double *numbers = values;
    if (stretch->chunk.type == RECMAP_TYPE_FLOAT64)
        column_copy_float64(numbers, &stretch->chunk, stretch->first, stretch->count);
    else if (stretch->chunk.type == RECMAP_TYPE_FLOAT) widen_floats(numbers, stretch);
    else
        for (size_t i = 0; i < stretch->count; i++) numbers[i] = double_of(missing);
}

static void copy_bytes(void *values, const struct column_stretch *stretch,
                       const recmap_value *missing) {
    recmap_value *texts = values;
    for (size_t i = 0; i < stretch->count; i++) {
        texts[i] = stretch->chunk.type == RECMAP_TYPE_NONE
                       ? *missing
                       : column_at(&stretch->chunk, stretch->first + i);
        if (texts[i].type != RECMAP_TYPE_BYTES) texts[i] = column_null();
    }
}

static void copy_nulls(void *values, const struct column_stretch *stretch,
                       const recmap_value *missing) {
    (void)missing;
    column_copy_nulls(values, &stretch->chunk, stretch->first, stretch->count);
}

/* ---- Values of a data set. */

/* What is read of a column. */
struct column_reading {
    recmap_type type; /* of the column; NONE: any */
    size_t size;      /* of a value in the result */
    void (*copy)(void *values, const struct column_stretch *stretch, const recmap_value *missing);
};

static recmap_status copy_column(uint8_t *values, recmap_dataset *dataset, size_t column,
                                 const struct column_reading *reading, uint64_t first, size_t count,
                                 recmap_error *error) {
    recmap_value missing = index_column_default(dataset->index, column);
    for (size_t done = 0; done < count;) {
        struct column_stretch stretch;
        RETURN_IF_FAILED(
            open_stretch(&stretch, dataset, column, first + done, count - done, error));
        reading->copy(values + done * reading->size, &stretch, &missing);
        done += stretch.count;
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), stretch.count * reading->size, error));
    }
    return RECMAP_OK;
}

static recmap_status read_lengths(int64_t *values, recmap_dataset *dataset, uint64_t first,
                                  size_t count, recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        recmap_location location;
        RETURN_IF_FAILED(recmap_dataset_locate(&location, dataset, first + i, 1, error));
        values[i] = (int64_t)location.size;
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), sizeof location, error));
    }
    return RECMAP_OK;
}

/* In a concatenation each part reads its own values: a column may have another number there. */
static recmap_status read_column(void *values, recmap_dataset *dataset, size_t column_index,
                                 const struct column_reading *reading, uint64_t first, size_t count,
                                 recmap_error *error) {
    RETURN_IF_FAILED(check_read(dataset, column_index, reading->type, first, count, error));
    if (column_index == 0) {
        if (reading->type == RECMAP_TYPE_INT64)
            return read_lengths(values, dataset, first, count, error);
        if (count) memset(values, 0, count * reading->size); /* no length is null */
        return RECMAP_OK;
    }
    if (!dataset->part_count)
        return copy_column(values, dataset, column_index - 1, reading, first, count, error);
    struct part_cursor parts = part_cursor_init(dataset, first, count);
    while (next_part(&parts))
        RETURN_IF_FAILED(read_column((uint8_t *)values + parts.done * reading->size,
                                     parts.part->dataset, parts.part->columns[column_index],
                                     reading, parts.first, parts.count, error));
    return RECMAP_OK;
}

recmap_status recmap_dataset_read_int64(int64_t *values, recmap_dataset *dataset,
                                        size_t column_index, uint64_t first, size_t count,
                                        recmap_error *error) {
    static const struct column_reading reading = {RECMAP_TYPE_INT64, sizeof *values, copy_int64};
    return read_column(values, dataset, column_index, &reading, first, count, error);
}

recmap_status recmap_dataset_read_float(float *values, recmap_dataset *dataset, size_t column_index,
                                        uint64_t first, size_t count, recmap_error *error) {
    static const struct column_reading reading = {RECMAP_TYPE_FLOAT, sizeof *values, copy_float};
    return read_column(values, dataset, column_index, &reading, first, count, error);
}

recmap_status recmap_dataset_read_float64(double *values, recmap_dataset *dataset,
                                          size_t column_index, uint64_t first, size_t count,
                                          recmap_error *error) {
    static const struct column_reading reading = {RECMAP_TYPE_FLOAT64, sizeof *values,
                                                  copy_float64};
    return read_column(values, dataset, column_index, &reading, first, count, error);
}

recmap_status recmap_dataset_read_bytes(recmap_value *values, recmap_dataset *dataset,
                                        size_t column_index, uint64_t first, size_t count,
                                        recmap_error *error) {
    static const struct column_reading reading = {RECMAP_TYPE_BYTES, sizeof *values, copy_bytes};
    return read_column(values, dataset, column_index, &reading, first, count, error);
}

recmap_status recmap_dataset_read_nulls(uint8_t *nulls, recmap_dataset *dataset,
                                        size_t column_index, uint64_t first, size_t count,
                                        recmap_error *error) {
    static const struct column_reading reading = {RECMAP_TYPE_NONE, sizeof *nulls, copy_nulls};
    return read_column(nulls, dataset, column_index, &reading, first, count, error);
}
