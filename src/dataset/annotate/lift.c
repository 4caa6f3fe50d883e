/* Adds a column whose values are read from the records, as when an index is built. */
#include <recmap/batch.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/words/shell_word.h"
#include "dataset/annotate/column_rows.h"
#include "dataset/annotate/row_key.h"
#include "dataset/open/dataset.h"
#include "index/extract/extract.h"

enum { GROUP_RECORDS = 1 << 12 };

struct lift {
    recmap_annotation *annotation;
    struct new_column *column;
    bool is_nullable;
    struct extractor *extractor;
    recmap_batch *batch;
    struct record_run run; /* the values of a batch */
    uint64_t bytes_done;
};

/* Adds the place of a record to an error. */
static recmap_status fail_record(const struct lift *lift, uint64_t number, recmap_status status,
                                 recmap_error *error) {
    recmap_dataset *dataset = lift->annotation->dataset;
    struct index_place place;
    if (dataset_find_place(&place, dataset, number, NULL) != RECMAP_OK) return status;
    dataset_fail_at(error, dataset, place.shard_index, number, place.offset);
    return status;
}

/* A value must have the type of the column. If a record has none, the column needs a default or
 * must accept nulls. */
static recmap_status check_value(const struct lift *lift, size_t i, const recmap_value *value,
                                 recmap_error *error) {
    const struct new_column *column = lift->column;
    const char *advice = run_advice_at(&lift->run, i);
    if (value->type != RECMAP_TYPE_NONE && value->type == column->type) return RECMAP_OK;
    if (value->type != RECMAP_TYPE_NONE) {
        fail(error, RECMAP_FEATURE,
             "feature \"%s\" is of type %s here and of type %s in earlier records", column->name,
             recmap_type_name(value->type), recmap_type_name(column->type));
        fail_advise(error, "a lifted feature must have one type in all records");
        return RECMAP_FEATURE;
    }
    if (column->default_value || lift->is_nullable) return RECMAP_OK;
    char word[SHELL_WORD_SIZE];
    fail(error, RECMAP_FEATURE, "has no value of lifted feature \"%s\"", column->name);
    if (advice[0]) fail_advise(error, "%s", advice);
    else
        fail_advise(error,
                    "give a default for such records: `--lift %s`, or use "
                    "`--missing-values null`",
                    shell_word_of_name(word, column->name, "=DEFAULT"));
    return RECMAP_FEATURE;
}

/* The first value decides the type of the column. */
static recmap_status add_value(struct lift *lift, size_t i, uint64_t number, recmap_error *error) {
    struct new_column *column = lift->column;
    recmap_value value = run_column_at(&lift->run, 0, i), key = {.type = RECMAP_TYPE_INT64};
    size_t count;
    key.as.int64 = (int64_t)number;
    if (column->type == RECMAP_TYPE_NONE && value.type != RECMAP_TYPE_NONE)
        RETURN_IF_FAILED(annotation_set_type(lift->annotation, column, value.type, error));
    RETURN_IF_FAILED(check_value(lift, i, &value, error));
    RETURN_IF_FAILED(row_key_find(&count, lift->annotation, RECMAP_KEY_NUMBER, &key, error));
    return column_rows_add(lift->annotation, column, count, &value, error);
}

static recmap_status lift_batch(struct lift *lift, recmap_error *error) {
    const recmap_record *records = recmap_batch_records(lift->batch);
    recmap_status status = RECMAP_OK;
    run_clear(&lift->run);
    for (size_t i = 0; i < recmap_batch_count(lift->batch); i++) {
        const recmap_record *record = &records[i];
        lift->bytes_done += record->size;
        if (!run_add(&lift->run, 0, record->size, 0)) return fail_memory(error);
        status = extractor_lift(lift->extractor, &lift->run, record->data, record->size, error);
        if (status == RECMAP_OK) status = add_value(lift, i, record->number, error);
        if (status != RECMAP_OK) return fail_record(lift, record->number, status, error);
    }
    return RECMAP_OK;
}

/* Values of text have the type that all of the first batch read like. */
static void sample_type(struct lift *lift) {
    const recmap_record *records = recmap_batch_records(lift->batch);
    recmap_type type = RECMAP_TYPE_NONE;
    for (size_t i = 0; i < recmap_batch_count(lift->batch); i++)
        extractor_widen_types(&type, lift->extractor, records[i].data, records[i].size);
    extractor_set_type(lift->extractor, 0, type);
}

static recmap_status lift_records(struct lift *lift, recmap_error *error) {
    recmap_dataset *dataset = lift->annotation->dataset;
    uint64_t count = dataset->info.record_count;
    recmap_batch_set_threads(lift->batch, 0);
    for (uint64_t first = 0; first < count; first += GROUP_RECORDS) {
        size_t here = (size_t)min_u64(count - first, GROUP_RECORDS);
        RETURN_IF_FAILED(annotation_report(lift->annotation, lift->bytes_done,
                                           dataset->info.byte_count, first, error));
        RETURN_IF_FAILED(recmap_dataset_read(lift->batch, dataset, first, here, error));
        if (!first && extractor_reads_text(lift->extractor)) sample_type(lift);
        RETURN_IF_FAILED(lift_batch(lift, error));
    }
    return RECMAP_OK;
}

static recmap_status use_text(struct lift *lift, recmap_error *error) {
    const recmap_dataset *dataset = lift->annotation->dataset;
    const struct manifest *manifest = index_manifest(lift->annotation->index);
    if (!manifest->shard_count) return RECMAP_OK;
    recmap_status status = extractor_use_text(lift->extractor, dataset->shard_table[0].framing,
                                              manifest->header, manifest->header_size, error);
    if (status == RECMAP_FEATURE || status == RECMAP_INVALID)
        dataset_fail_at(error, dataset, 0, RECMAP_NO_RECORD, RECMAP_NO_OFFSET);
    return status;
}

static recmap_status fail_caller(recmap_error *error) {
    fail(error, RECMAP_INVALID,
         "the ids and columns of this index were read by a callback, or from messages");
    fail_advise(error, "build the index again with the columns: with the same callback, in C, or "
                       "with fields of the same messages");
    return RECMAP_INVALID;
}

static recmap_status prepare(struct lift *lift, const recmap_lift *lifted, recmap_error *error) {
    if (index_manifest(lift->annotation->index)->extracted_by_caller) return fail_caller(error);
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.lifts = lifted;
    lift->is_nullable = lifted->is_nullable;
    options.lift_count = 1;
    RETURN_IF_FAILED(annotation_add_column(&lift->column, lift->annotation, lifted->name,
                                           lifted->default_value, error));
    lift->column->is_lifted = lift->column->is_nullable = true; /* see check_value */
    RETURN_IF_FAILED(extractor_create(&lift->extractor, &options, error));
    RETURN_IF_FAILED(use_text(lift, error));
    if (!run_init(&lift->run, false, 1, 0)) return fail_memory(error);
    return recmap_batch_create(&lift->batch, error);
}

recmap_status recmap_annotation_lift(recmap_annotation *annotation, const recmap_lift *lifted,
                                     recmap_error *error) {
    struct lift lift = {.annotation = annotation};
    recmap_status status = prepare(&lift, lifted, error);
    if (status == RECMAP_OK) status = lift_records(&lift, error);
    recmap_batch_destroy(lift.batch);
    run_deinit(&lift.run);
    extractor_destroy(lift.extractor);
    annotation->is_closed |= status != RECMAP_OK;
    return status;
}
