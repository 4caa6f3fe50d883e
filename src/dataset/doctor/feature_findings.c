/* What is wrong with one feature. */
#include <inttypes.h>
#include <stdio.h>

#include "base/core/error.h"
#include "base/core/plural.h"
#include "dataset/doctor/record_exam.h"

enum { LABEL_SIZE = 256, NAME_SHOWN_MAX = 200, CONSTANT_RECORDS_MIN = 10 };

/* A feature and how findings call it. */
struct judged_feature {
    const struct feature_exam *feature;
    const struct examination *examination;
    uint64_t record_count;
    char label[LABEL_SIZE];
};

/* A finding about all records of an occurrence: "N of M records <text> feature 'x'<rest>". */
struct share_text {
    struct finding_kind kind;
    const char *singular;
    const char *plural;
    const char *rest;
};

static recmap_status add_share(const struct judged_feature *judged,
                               const struct occurrence *occurrence, const struct share_text *text,
                               recmap_error *error) {
    if (!occurrence->count) return RECMAP_OK;
    return examination_add(judged->examination, text->kind, occurrence->first, error,
                           "%" PRIu64 " of %" PRIu64 " record%s %s %s%s", occurrence->count,
                           judged->record_count, plural(judged->record_count),
                           occurrence->count == 1 ? text->singular : text->plural, judged->label,
                           text->rest);
}

/* ---- Presence. */

static recmap_status judge_presence(const struct judged_feature *judged, recmap_error *error) {
    const struct feature_exam *feature = judged->feature;
    struct share_text lacking = {
        {CHECK_MISSING_FEATURES, feature_exam_judge_lacking(feature, judged->record_count),
         "read it with default=..., or as VarLen, or leave these records out"},
        "lacks",
        "lack",
        ""};
    struct share_text empty = {
        {CHECK_EMPTY_FEATURES, feature_exam_judge_empty(feature, judged->record_count),
         "read it with default=..., or as VarLen, or leave these records out"},
        "has no values of",
        "have no values of",
        ""};
    if (lacking.kind.severity)
        RETURN_IF_FAILED(add_share(judged, &feature->lacking, &lacking, error));
    if (!empty.kind.severity) return RECMAP_OK;
    return add_share(judged, &feature->traits[TRAIT_EMPTY], &empty, error);
}

/* ---- Kinds and lengths. */

static void add_occurrence(struct occurrence *sum, const struct occurrence *part) {
    if (!part->count) return;
    if (!sum->count || part->first < sum->first) sum->first = part->first;
    sum->count += part->count;
}

static recmap_status judge_kinds(const struct judged_feature *judged, recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_FEATURE_KINDS, RECMAP_SEVERITY_ERROR,
        "no parser reads several kinds of one feature: write these records again"};
    const struct feature_exam *feature = judged->feature;
    recmap_type usual = feature_exam_usual_kind(feature), other = RECMAP_TYPE_NONE;
    struct occurrence others = {0, 0};
    for (int type = RECMAP_TYPE_INT64; type <= RECMAP_TYPE_BYTES; type++) {
        if (type == (int)usual || !feature->kinds[type].count) continue;
        if (!others.count || feature->kinds[type].first < others.first) other = (recmap_type)type;
        add_occurrence(&others, &feature->kinds[type]);
    }
    if (!others.count) return RECMAP_OK;
    return examination_add(judged->examination, kind, others.first, error,
                           "%" PRIu64 " of %" PRIu64 " records %s %s of another kind than %s; the "
                           "first has %s",
                           others.count, judged->record_count, others.count == 1 ? "has" : "have",
                           judged->label, recmap_type_name(usual), recmap_type_name(other));
}

/* The records that do not have the usual length. */
static struct occurrence find_other_lengths(const struct feature_exam *feature, size_t usual) {
    struct occurrence others = feature->other_lengths;
    for (size_t i = 0; i < feature->length_count; i++)
        if (i != usual) add_occurrence(&others, &feature->lengths[i].records);
    return others;
}

static recmap_status add_ragged(const struct judged_feature *judged, uint64_t item,
                                recmap_error *error) {
    static const struct finding_kind kind = {CHECK_FEATURE_LENGTHS, RECMAP_SEVERITY_NOTE,
                                             "read it as Ragged or VarLen"};
    const struct feature_exam *feature = judged->feature;
    return examination_add(
        judged->examination, kind, item, error, "%s has %" PRIu64 " to %" PRIu64 " values%s",
        judged->label, feature->min_length, feature->max_length, feature->is_list ? " a step" : "");
}

static recmap_status judge_lengths(const struct judged_feature *judged, recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_FEATURE_LENGTHS, RECMAP_SEVERITY_WARNING,
        "FixedLen refuses these records: write them again, or read the feature as VarLen"};
    const struct feature_exam *feature = judged->feature;
    if (feature->is_list) {
        if (feature->min_length == feature->max_length || !feature->min_length) return RECMAP_OK;
        return add_ragged(judged, feature->records.first, error);
    }
    size_t usual = feature_exam_usual_length(feature);
    if (usual == SIZE_MAX || feature->is_of_episode) return RECMAP_OK;
    struct occurrence others = find_other_lengths(feature, usual);
    if (!others.count) return RECMAP_OK;
    if (!feature_exam_has_odd_lengths(feature)) return add_ragged(judged, others.first, error);
    uint64_t length = feature->lengths[usual].length;
    return examination_add(judged->examination, kind, others.first, error,
                           "%" PRIu64 " of %" PRIu64 " records %s another number of values of %s "
                           "than %" PRIu64,
                           others.count, judged->record_count, others.count == 1 ? "has" : "have",
                           judged->label, length);
}

/* ---- Values. */

static recmap_status judge_numbers(const struct judged_feature *judged, recmap_error *error) {
    static const struct share_text nan = {
        {CHECK_NOT_FINITE, RECMAP_SEVERITY_WARNING,
         "one NaN in a batch makes its loss NaN: leave these records out, or replace the values"},
        "has NaN in",
        "have NaN in",
        ""};
    static const struct share_text infinite = {
        {CHECK_NOT_FINITE, RECMAP_SEVERITY_WARNING,
         "one infinity in a batch makes its loss infinite or NaN: leave these records out, or "
         "replace the values"},
        "has infinity in",
        "have infinity in",
        ""};
    static const struct share_text inexact = {
        {CHECK_FLOAT_INTEGERS, RECMAP_SEVERITY_WARNING,
         "a float is exact up to 16777216 only: write numbers that count or identify as int64"},
        "has values beyond the exact integers of float32 in",
        "have values beyond the exact integers of float32 in",
        ""};
    const struct occurrence *traits = judged->feature->traits;
    RETURN_IF_FAILED(add_share(judged, &traits[TRAIT_NAN], &nan, error));
    RETURN_IF_FAILED(add_share(judged, &traits[TRAIT_INFINITE], &infinite, error));
    return add_share(judged, &traits[TRAIT_INEXACT], &inexact, error);
}

/* Of few records, equal values may be chance. The flags of steps are the same in all episodes of
 * one length. */
static recmap_status judge_constant(const struct judged_feature *judged, recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_CONSTANTS, RECMAP_SEVERITY_WARNING,
        "a constant teaches nothing: leave the feature out, or find out why its values were lost"};
    const struct feature_exam *feature = judged->feature;
    uint64_t valued = feature->records.count - feature->traits[TRAIT_EMPTY].count;
    if (valued < CONSTANT_RECORDS_MIN || !feature_exam_is_constant(feature) || feature->is_flag)
        return RECMAP_OK;
    return examination_add(judged->examination, kind, feature->records.first, error,
                           "%s has the same value in all %" PRIu64 " records that have one",
                           judged->label, valued);
}

/* ---- Pictures. */

static recmap_status judge_damaged(const struct judged_feature *judged, recmap_error *error) {
    const struct feature_exam *feature = judged->feature;
    char rest[PICTURE_FAULT_SIZE + 64];
    struct share_text damaged = {
        {CHECK_IMAGE_DAMAGE, RECMAP_SEVERITY_ERROR,
         "leave these records out with a selection, or with on_bad_record=\"skip\" in the loader"},
        "has a picture that cannot be decoded in",
        "have a picture that cannot be decoded in",
        rest};
    struct share_text other = {
        {CHECK_IMAGE_DAMAGE, RECMAP_SEVERITY_ERROR,
         "convert them to JPEG, PNG or WebP, pass a decoder, or leave these records out"},
        "has something else than a JPEG, PNG or WebP picture in",
        "have something else than a JPEG, PNG or WebP picture in",
        ""};
    snprintf(rest, sizeof rest, "; of the first: %s", feature->picture_fault);
    RETURN_IF_FAILED(add_share(judged, &feature->traits[TRAIT_DAMAGED_PICTURE], &damaged, error));
    return add_share(judged, &feature->traits[TRAIT_NO_PICTURE], &other, error);
}

static recmap_status judge_pictures(const struct judged_feature *judged, recmap_error *error) {
    static const struct share_text cmyk = {
        {CHECK_IMAGE_CMYK, RECMAP_SEVERITY_WARNING,
         "recmap converts them to RGB; other decoders fail or invert them: convert them once"},
        "has a CMYK picture in",
        "have a CMYK picture in",
        ""};
    static const struct share_text oriented = {
        {CHECK_IMAGE_ORIENTATION, RECMAP_SEVERITY_WARNING,
         "recmap turns them upright, many decoders do not: boxes and masks must fit what you use"},
        "has a picture that EXIF turns or mirrors in",
        "have a picture that EXIF turns or mirrors in",
        ""};
    static const struct share_text wide = {{CHECK_IMAGE_DEPTH, RECMAP_SEVERITY_WARNING,
                                            "decode it with recmap.Image(..., dtype=\"uint16\"): 8 "
                                            "bits would lose most of the values"},
                                           "has a picture of 16 bits in",
                                           "have a picture of 16 bits in",
                                           ""};
    const struct occurrence *traits = judged->feature->traits;
    if (!feature_exam_has_pictures(judged->feature)) return RECMAP_OK;
    RETURN_IF_FAILED(judge_damaged(judged, error));
    RETURN_IF_FAILED(add_share(judged, &traits[TRAIT_CMYK_PICTURE], &cmyk, error));
    RETURN_IF_FAILED(add_share(judged, &traits[TRAIT_ORIENTED_PICTURE], &oriented, error));
    return add_share(judged, &traits[TRAIT_WIDE_PICTURE], &wide, error);
}

static recmap_status judge_names(const struct judged_feature *judged, recmap_error *error) {
    static const struct share_text names = {
        {CHECK_IMAGE_NAMES, RECMAP_SEVERITY_WARNING,
         "recmap goes by the contents; programs that go by the name fail: correct the names"},
        "has a picture of another format than",
        "have a picture of another format than",
        " says"};
    return add_share(judged, &judged->feature->traits[TRAIT_MISNAMED], &names, error);
}

/* ---- All. */

recmap_status feature_exam_report(const struct feature_exam *feature,
                                  const struct examination *examination, uint64_t record_count,
                                  recmap_error *error) {
    struct judged_feature judged = {feature, examination, record_count, ""};
    size_t size = feature->name_size < NAME_SHOWN_MAX ? feature->name_size : NAME_SHOWN_MAX;
    snprintf(judged.label, sizeof judged.label, "feature%s '%.*s'", feature->is_list ? " list" : "",
             (int)size, feature->name);
    RETURN_IF_FAILED(judge_presence(&judged, error));
    RETURN_IF_FAILED(judge_kinds(&judged, error));
    RETURN_IF_FAILED(judge_lengths(&judged, error));
    RETURN_IF_FAILED(judge_numbers(&judged, error));
    RETURN_IF_FAILED(judge_constant(&judged, error));
    RETURN_IF_FAILED(judge_pictures(&judged, error));
    return judge_names(&judged, error);
}
