/* What is wrong with the examined records. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/core/error.h"
#include "base/core/plural.h"
#include "dataset/doctor/record_exam.h"

/* ---- Kinds of records. */

static enum record_kind find_usual(const struct record_exam *exam) {
    size_t usual = 0;
    for (size_t kind = 1; kind < RECORD_KIND_COUNT; kind++)
        if (exam->kinds[kind].count > exam->kinds[usual].count) usual = kind;
    return (enum record_kind)usual;
}

static uint64_t count_records(const struct record_exam *exam) {
    uint64_t count = 0;
    for (size_t kind = 0; kind < RECORD_KIND_COUNT; kind++) count += exam->kinds[kind].count;
    return count;
}

/* Sets of other messages are as sound as any, but little of them can be examined. */
static recmap_status report_kinds(const struct record_exam *exam, recmap_error *error) {
    static const char *const names[] = {"a tf.Example", "a tf.SequenceExample", "anything else"};
    static const struct finding_kind mixed = {
        CHECK_OTHER_RECORDS, RECMAP_SEVERITY_ERROR,
        "no parser reads records of several kinds: leave these out, or keep them in a set apart"};
    static const struct finding_kind unknown = {
        CHECK_OTHER_RECORDS, RECMAP_SEVERITY_NOTE,
        "features are examined in tf.Example and tf.SequenceExample records only"};
    enum record_kind usual = find_usual(exam);
    uint64_t total = count_records(exam);
    for (size_t kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        const struct occurrence *records = &exam->kinds[kind];
        if (!records->count) continue;
        if (kind != (size_t)usual)
            RETURN_IF_FAILED(
                examination_add(exam->examination, mixed, records->first, error,
                                "%" PRIu64 " of %" PRIu64 " records %s %s, while most are not%s%s",
                                records->count, total, records->count == 1 ? "is" : "are",
                                names[kind], kind == RECORD_OTHER ? "; of the first: " : "",
                                kind == RECORD_OTHER ? exam->other_name : ""));
        else if (kind == RECORD_OTHER)
            RETURN_IF_FAILED(examination_add(exam->examination, unknown, records->first, error,
                                             "%s", exam->other_name));
    }
    return RECMAP_OK;
}

/* ---- Episodes. */

static recmap_status report_lengths(const struct record_exam *exam, recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_EPISODE_LENGTHS, RECMAP_SEVERITY_WARNING,
        "windows need steps: leave these episodes out with a selection"};
    const struct episode_checks *episodes = &exam->episodes;
    const struct occurrence *single = &episodes->single, *maybe = &episodes->maybe_single;
    const struct occurrence *empty = &episodes->empty;
    uint64_t single_count = single->count + (episodes->has_flags ? maybe->count : 0);
    uint64_t first = single->count ? single->first : maybe->first;
    if (episodes->has_flags && maybe->count && maybe->first < first) first = maybe->first;
    if (empty->count)
        RETURN_IF_FAILED(examination_add(exam->examination, kind, empty->first, error,
                                         "%" PRIu64 " episode%s no steps", empty->count,
                                         empty->count == 1 ? " has" : "s have"));
    bool is_usual = !episodes->has_flags && single_count > episodes->episode_count / 2;
    if (!single_count || is_usual) return RECMAP_OK;
    return examination_add(exam->examination, kind, first, error,
                           "%" PRIu64 " episode%s only one step", single_count,
                           single_count == 1 ? " has" : "s have");
}

/* Lists that usually differ do not have the same steps. */
static recmap_status report_lists(const struct record_exam *exam, recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_EPISODE_LISTS, RECMAP_SEVERITY_ERROR,
        "their steps do not belong together: write these episodes again, or leave them out"};
    const struct episode_checks *episodes = &exam->episodes;
    const struct occurrence *unequal = &episodes->unequal;
    bool is_usual = !episodes->has_flags && unequal->count > episodes->episode_count / 2;
    if (!unequal->count || is_usual) return RECMAP_OK;
    return examination_add(exam->examination, kind, unequal->first, error,
                           "%" PRIu64 " episode%s lists that differ in length; in the first, '%s' "
                           "has %" PRIu64 " value%s and '%s' %" PRIu64,
                           unequal->count, unequal->count == 1 ? " has" : "s have",
                           episodes->unequal_names[0], episodes->unequal_lengths[0],
                           plural(episodes->unequal_lengths[0]), episodes->unequal_names[1],
                           episodes->unequal_lengths[1]);
}

static recmap_status report_episodes(const struct record_exam *exam, recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_EPISODE_FLAGS, RECMAP_SEVERITY_WARNING,
        "is_first marks the first step and is_last the last one; is_terminal marks the last one, "
        "unless the episode was cut off"};
    RETURN_IF_FAILED(report_lists(exam, error));
    RETURN_IF_FAILED(report_lengths(exam, error));
    for (size_t flag = 0; flag < FLAG_COUNT; flag++) {
        const struct occurrence *records = &exam->episodes.flags[flag];
        if (!records->count) continue;
        RETURN_IF_FAILED(examination_add(exam->examination, kind, records->first, error,
                                         "%" PRIu64 " episode%s %s out of place", records->count,
                                         records->count == 1 ? " has" : "s have",
                                         episode_flag_name((enum episode_flag)flag)));
    }
    return RECMAP_OK;
}

/* ---- All. */

static bool is_required(const struct feature_table *table, const struct feature_exam *feature) {
    return feature_exam_judge_lacking(feature, table->record_count) > RECMAP_SEVERITY_NOTE;
}

/* Records of the other kinds are errors by themselves. */
static recmap_status report_features(struct record_exam *exam, struct feature_table *table,
                                     recmap_error *error) {
    static const struct finding_kind limit = {
        CHECK_LIMITS, RECMAP_SEVERITY_NOTE, "are names made from data? give features fixed names"};
    feature_table_finish(table);
    for (size_t i = 0; i < table->count; i++) {
        exam->required_count += is_required(table, table->features[i]);
        RETURN_IF_FAILED(
            feature_exam_report(table->features[i], exam->examination, table->record_count, error));
    }
    if (!table->is_full) return RECMAP_OK;
    return diagnosis_add(exam->examination->diagnosis, limit, place_of_none(), error,
                         "there are more than %d features; the others were not examined",
                         FEATURES_MAX);
}

recmap_status record_exam_report(struct record_exam *exam, recmap_error *error) {
    enum record_kind usual = find_usual(exam);
    RETURN_IF_FAILED(report_kinds(exam, error));
    if (usual != RECORD_OTHER) RETURN_IF_FAILED(report_features(exam, &exam->tables[usual], error));
    RETURN_IF_FAILED(report_episodes(exam, error));
    return equal_records_report(&exam->equal, exam->examination, error);
}

/* ---- Single records. */

static bool is_no_picture(const struct record_exam *exam, const struct example_feature *values) {
    const recmap_doctor_options *options = exam->examination->options;
    struct example_values reader = example_values_begin(values);
    recmap_value value;
    while (values->kind == RECMAP_TYPE_BYTES && example_values_next(&value, &reader)) {
        recmap_image_info info;
        if (!value.as.bytes.size ||
            recmap_image_describe_with(&info, value.as.bytes.data, value.as.bytes.size,
                                       options->decoders, options->decoder_count,
                                       NULL) == RECMAP_UNSUPPORTED)
            return true;
    }
    return false;
}

static bool is_odd(const struct record_exam *exam, const struct feature_table *table,
                   const struct feature_exam *feature, const struct example_feature *values) {
    if (!values->count)
        return feature_exam_judge_empty(feature, table->record_count) > RECMAP_SEVERITY_NOTE;
    if (values->kind != feature_exam_usual_kind(feature)) return true;
    if (feature_exam_has_odd_lengths(feature) && !feature->is_of_episode &&
        values->count != feature->lengths[feature_exam_usual_length(feature)].length)
        return true;
    return feature->traits[TRAIT_NO_PICTURE].count && feature_exam_has_pictures(feature) &&
           is_no_picture(exam, values);
}

static bool has_odd_features(const struct record_exam *exam, struct feature_table *table) {
    const struct example_features *features = record_parts_features(&exam->parts);
    size_t required = 0;
    for (size_t i = 0; i < features->count; i++) {
        const struct example_entry *entry = &features->entries[i];
        const struct feature_exam *feature =
            feature_table_look_up(table, entry->name, entry->name_size, false);
        if (!feature) continue;
        if (is_odd(exam, table, feature, &entry->feature)) return true;
        required += is_required(table, feature);
    }
    for (size_t i = 0; i < record_parts_list_count(&exam->parts); i++) {
        const struct sequence_list *list = &exam->parts.sequence.lists[i];
        const struct feature_exam *feature =
            feature_table_look_up(table, list->name, list->name_size, true);
        required += feature && is_required(table, feature);
    }
    return required < exam->required_count;
}

bool record_exam_is_odd(struct record_exam *exam, const recmap_record *record) {
    if (record_parts_read(&exam->parts, record->data, record->size, NULL) != RECMAP_OK)
        return false;
    enum record_kind kind = record_exam_kind(exam);
    if (kind != find_usual(exam)) return true;
    return kind != RECORD_OTHER && has_odd_features(exam, &exam->tables[kind]);
}
