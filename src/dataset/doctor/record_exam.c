#include "dataset/doctor/record_exam.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/example.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "dataset/doctor/picture_names.h"

void record_exam_init(struct record_exam *exam, const struct examination *examination) {
    *exam =
        (struct record_exam){.examination = examination, .pictures = {.examination = examination}};
}

void record_exam_deinit(struct record_exam *exam) {
    record_parts_deinit(&exam->parts);
    for (size_t kind = 0; kind < RECORD_OTHER; kind++) feature_table_deinit(&exam->tables[kind]);
    free(exam->entries);
    picture_check_deinit(&exam->pictures);
    equal_records_deinit(&exam->equal);
}

/* ---- Values. */

/* Traits of numbers that make a record bad. */
enum { BAD_TRAITS = 1u << TRAIT_NAN | 1u << TRAIT_INFINITE | 1u << TRAIT_INEXACT };

/* The current record. */
struct current {
    struct record_exam *exam;
    struct feature_table *table;
    uint64_t item;
    struct picture_names names;
    bool may_be_episode; /* it has lists, or flags of steps */
    bool is_bad;
};

/* Examines a value of bytes: it may be a picture, or, alone, the name of one. */
static recmap_status add_one(struct current *current, struct feature_exam *feature,
                             const recmap_value *value, bool is_alone, recmap_error *error) {
    int format;
    const uint8_t *data = value->as.bytes.data;
    size_t size = value->as.bytes.size;
    RETURN_IF_FAILED(picture_check_add(&format, &current->exam->pictures, feature, current->item,
                                       data, size, error));
    if (format >= 0) picture_names_add_picture(&current->names, format);
    else if (is_alone) picture_names_add_value(&current->names, feature, data, size);
    return RECMAP_OK;
}

static recmap_status add_bytes(struct current *current, struct feature_exam *feature,
                               struct example_values values, recmap_error *error) {
    recmap_value value;
    while (example_values_next(&value, &values))
        RETURN_IF_FAILED(add_one(current, feature, &value, false, error));
    return RECMAP_OK;
}

/* `feature` may be NULL. */
static recmap_status add_feature(struct current *current, struct feature_exam *feature,
                                 const struct example_entry *entry, recmap_error *error) {
    if (!feature) return RECMAP_OK;
    if (feature_exam_add(feature, &entry->feature, current->item) & BAD_TRAITS)
        current->is_bad = true;
    if (entry->feature.kind != RECMAP_TYPE_BYTES) return RECMAP_OK;
    if (entry->feature.count != 1)
        return add_bytes(current, feature, example_values_begin(&entry->feature), error);
    recmap_value value = example_feature_first(&entry->feature);
    return add_one(current, feature, &value, true, error);
}

static recmap_status add_list(struct current *current, const struct sequence_list *list,
                              recmap_error *error) {
    struct record_exam *exam = current->exam;
    const struct example_feature *steps = sequence_steps(&exam->parts.sequence, list);
    struct feature_exam *feature;
    RETURN_IF_FAILED(
        feature_table_find(&feature, current->table, list->name, list->name_size, true, error));
    if (!feature) return RECMAP_OK;
    if (feature_exam_add_list(feature, steps, list->step_count, current->item) & BAD_TRAITS)
        current->is_bad = true;
    for (size_t i = 0; i < list->step_count; i++)
        if (steps[i].kind == RECMAP_TYPE_BYTES)
            RETURN_IF_FAILED(add_bytes(current, feature, sequence_values_begin(&steps[i]), error));
    return RECMAP_OK;
}

/* ---- Records. */

static void count_kind(struct record_exam *exam, const recmap_record *record, uint64_t item) {
    enum record_kind kind = record_exam_kind(exam);
    struct occurrence *records = &exam->kinds[kind];
    if (!records->count++) records->first = item;
    if (kind != RECORD_OTHER || exam->other_name[0]) return;
    recmap_error reason = RECMAP_ERROR_INIT;
    const char *name = "the record is neither a tf.Example nor a tf.SequenceExample";
    if (recmap_example_check(record->data, record->size, &reason) != RECMAP_OK)
        name = reason.message;
    snprintf(exam->other_name, sizeof exam->other_name, "%.*s", OTHER_NAME_SIZE - 1, name);
}

/* Finds the features of the record. Only those of episodes have to be sorted, for the names in
 * findings, and names that repeat: of these, only the last feature counts. */
static recmap_status find_features(struct current *current, recmap_error *error) {
    struct record_exam *exam = current->exam;
    const struct example_features *features = record_parts_features(&exam->parts);
    struct feature_table *table = current->table;
    bool must_settle = false;
    for (size_t i = 0; i < features->count; i++) {
        const struct example_entry *entry = &features->entries[i];
        RETURN_IF_FAILED(feature_table_find(&exam->entries[i], table, entry->name, entry->name_size,
                                            false, error));
        must_settle |= !exam->entries[i] || exam->entries[i]->is_flag;
    }
    current->may_be_episode = must_settle || exam->parts.is_sequence;
    if (!must_settle && !table->has_repeats) return RECMAP_OK;
    record_parts_settle(&exam->parts);
    for (size_t i = 0; i < features->count; i++) {
        const struct example_entry *entry = &features->entries[i];
        exam->entries[i] = feature_table_look_up(table, entry->name, entry->name_size, false);
    }
    return RECMAP_OK;
}

static recmap_status add_parts(struct current *current, recmap_error *error) {
    struct record_exam *exam = current->exam;
    const struct record_parts *parts = &exam->parts;
    const struct example_features *features = record_parts_features(parts);
    if (!array_reserve(&exam->entries, &exam->entry_capacity, features->count + 1,
                       sizeof *exam->entries))
        return fail_memory(error);
    current->table = &exam->tables[record_exam_kind(exam)];
    feature_table_begin(current->table, current->item);
    RETURN_IF_FAILED(find_features(current, error));
    for (size_t i = 0; i < features->count; i++)
        RETURN_IF_FAILED(add_feature(current, exam->entries[i], &features->entries[i], error));
    for (size_t i = 0; i < record_parts_list_count(parts); i++)
        RETURN_IF_FAILED(add_list(current, &parts->sequence.lists[i], error));
    feature_table_end(current->table, current->item);
    current->is_bad |= picture_names_check(&current->names, current->item);
    if (current->may_be_episode)
        current->is_bad |= episode_checks_add(&exam->episodes, parts, exam->entries, current->item);
    return RECMAP_OK;
}

recmap_status record_exam_add(struct record_exam *exam, uint64_t item, const recmap_record *record,
                              recmap_error *error) {
    struct current current = {.exam = exam, .item = item};
    RETURN_IF_FAILED(equal_records_add(&exam->equal, item, record->data, record->size, error));
    RETURN_IF_FAILED(record_parts_read_stored(&exam->parts, record->data, record->size, error));
    count_kind(exam, record, item);
    if (!exam->parts.is_other) RETURN_IF_FAILED(add_parts(&current, error));
    if (!current.is_bad) return RECMAP_OK;
    return diagnosis_list_record(exam->examination->diagnosis, item, error);
}

recmap_status record_exam_flush(struct record_exam *exam, recmap_error *error) {
    return picture_check_run(&exam->pictures, error);
}

/* ---- Later records. */

void record_exam_limit(struct record_exam *exam, const struct record_exam *earlier,
                       size_t feature_limit) {
    for (size_t kind = 0; kind < RECORD_OTHER; kind++) {
        exam->tables[kind].earlier = &earlier->tables[kind];
        exam->tables[kind].limit = feature_limit;
    }
}

bool record_exam_is_complete(const struct record_exam *exam) {
    for (size_t kind = 0; kind < RECORD_OTHER; kind++)
        if (!feature_table_is_complete(&exam->tables[kind])) return false;
    return true;
}

recmap_status record_exam_merge(struct record_exam *exam, const struct record_exam *later,
                                recmap_error *error) {
    if (!exam->other_name[0]) memcpy(exam->other_name, later->other_name, sizeof exam->other_name);
    for (size_t kind = 0; kind < RECORD_KIND_COUNT; kind++)
        occurrence_merge(&exam->kinds[kind], &later->kinds[kind]);
    for (size_t kind = 0; kind < RECORD_OTHER; kind++)
        RETURN_IF_FAILED(feature_table_merge(&exam->tables[kind], &later->tables[kind], error));
    episode_checks_merge(&exam->episodes, &later->episodes);
    return equal_records_merge(&exam->equal, &later->equal, error);
}

size_t record_exam_feature_count(const struct record_exam *exam) {
    size_t examples = exam->tables[RECORD_EXAMPLE].count;
    size_t sequences = exam->tables[RECORD_SEQUENCE].count;
    return examples > sequences ? examples : sequences;
}
