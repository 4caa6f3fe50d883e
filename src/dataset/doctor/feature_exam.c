#include "dataset/doctor/feature_exam.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/hash.h"
#include "dataset/doctor/episode_checks.h"

struct feature_exam *feature_exam_create(const uint8_t *name, size_t name_size, bool is_list) {
    struct feature_exam *feature = malloc(sizeof *feature + name_size + 1);
    if (!feature) return NULL;
    char *copy = (char *)(feature + 1);
    if (name_size) memcpy(copy, name, name_size);
    copy[name_size] = 0;
    *feature = (struct feature_exam){.name = copy,
                                     .name_size = name_size,
                                     .is_list = is_list,
                                     .is_flag = episode_flag_is_named(copy, name_size)};
    return feature;
}

int feature_exam_compare(const struct feature_exam *a, const struct feature_exam *b) {
    if (a->is_list != b->is_list) return a->is_list ? 1 : -1;
    size_t size = a->name_size < b->name_size ? a->name_size : b->name_size;
    int order = memcmp(a->name, b->name, size);
    if (order) return order;
    return (a->name_size > b->name_size) - (a->name_size < b->name_size);
}

static unsigned note(struct feature_exam *feature, enum feature_trait trait, uint64_t item) {
    feature_exam_note(feature, trait, item);
    return 1u << trait;
}

static unsigned note_numbers(struct feature_exam *feature, unsigned numbers, uint64_t item) {
    unsigned traits = 0;
    if (numbers & NUMBER_NAN) traits |= note(feature, TRAIT_NAN, item);
    if (numbers & NUMBER_INFINITE) traits |= note(feature, TRAIT_INFINITE, item);
    if (numbers & NUMBER_INEXACT) traits |= note(feature, TRAIT_INEXACT, item);
    return traits;
}

/* Adds the values of a record or a step, if they have a kind. */
static unsigned add_values(struct feature_exam *feature, const struct example_feature *values,
                           bool is_step) {
    if (values->kind == RECMAP_TYPE_NONE) return 0;
    bool is_first = !feature->has_length;
    if (is_first || values->count < feature->min_length) feature->min_length = values->count;
    if (is_first || values->count > feature->max_length) feature->max_length = values->count;
    feature->has_length = true;
    return value_exam_add(&feature->values, values, is_step);
}

static void count_occurrence(struct occurrence *occurrence, uint64_t item) {
    if (!occurrence->count++) occurrence->first = item;
}

static void add_length(struct feature_exam *feature, uint64_t length, uint64_t item) {
    for (size_t i = 0; i < feature->length_count; i++)
        if (feature->lengths[i].length == length) {
            count_occurrence(&feature->lengths[i].records, item);
            return;
        }
    if (feature->length_count == LENGTHS_MAX) {
        count_occurrence(&feature->other_lengths, item);
        return;
    }
    feature->lengths[feature->length_count++] = (struct length_count){length, {1, item}};
}

/* Writers encode equal values in equal bytes, so the bytes tell whether a feature is constant. They
 * are no longer hashed once two records differ. */
static void compare_bytes(struct feature_exam *feature, struct wire entry) {
    if (feature->has_other_bytes) return;
    uint64_t hash = XXH3_64bits(entry.at, wire_left(&entry));
    if (!feature->records.count) feature->hash = hash;
    else feature->has_other_bytes = hash != feature->hash;
}

unsigned feature_exam_add(struct feature_exam *feature, const struct example_feature *values,
                          uint64_t item) {
    compare_bytes(feature, values->entry);
    unsigned numbers = add_values(feature, values, false);
    count_occurrence(&feature->records, item);
    if (!values->count) return note(feature, TRAIT_EMPTY, item);
    count_occurrence(&feature->kinds[values->kind], item);
    add_length(feature, values->count, item);
    return note_numbers(feature, numbers, item);
}

/* A list without steps is not an empty feature: see episode_checks.h. */
unsigned feature_exam_add_list(struct feature_exam *feature, const struct example_feature *steps,
                               size_t count, uint64_t item) {
    unsigned kinds = 0, numbers = 0;
    count_occurrence(&feature->records, item);
    feature->has_other_bytes = true;
    for (size_t i = 0; i < count; i++) {
        if (steps[i].count) kinds |= 1u << steps[i].kind;
        numbers |= add_values(feature, &steps[i], true);
    }
    for (size_t kind = RECMAP_TYPE_INT64; kind <= RECMAP_TYPE_BYTES; kind++)
        if (kinds >> kind & 1) count_occurrence(&feature->kinds[kind], item);
    return note_numbers(feature, numbers, item);
}

/* ---- Later records. */

void feature_exam_continue(struct feature_exam *feature, const struct feature_exam *earlier) {
    if (!earlier || earlier->length_count < LENGTHS_MAX) return;
    for (size_t i = 0; i < LENGTHS_MAX; i++)
        feature->lengths[i] = (struct length_count){earlier->lengths[i].length, {0, 0}};
    feature->length_count = LENGTHS_MAX;
    feature->knows_lengths = true;
}

/* The same for occurrences of which either may be the first. */
static void occurrence_merge_any(struct occurrence *occurrence, const struct occurrence *other) {
    bool is_first = !occurrence->count || other->first < occurrence->first;
    if (is_first) occurrence->first = other->first;
    occurrence->count += other->count;
}

static void merge_length(struct feature_exam *feature, const struct length_count *later) {
    for (size_t i = 0; i < feature->length_count; i++)
        if (feature->lengths[i].length == later->length) {
            occurrence_merge(&feature->lengths[i].records, &later->records);
            return;
        }
    if (feature->length_count < LENGTHS_MAX) feature->lengths[feature->length_count++] = *later;
    else occurrence_merge_any(&feature->other_lengths, &later->records);
}

/* Lengths that the earlier records know come in any order, so only other ones can be new. */
static void merge_lengths(struct feature_exam *feature, const struct feature_exam *later) {
    for (size_t i = 0; i < later->length_count; i++)
        if (later->lengths[i].records.count) merge_length(feature, &later->lengths[i]);
    if (later->other_lengths.count)
        occurrence_merge_any(&feature->other_lengths, &later->other_lengths);
    if (!later->has_length) return;
    bool is_first = !feature->has_length;
    if (is_first || later->min_length < feature->min_length)
        feature->min_length = later->min_length;
    if (is_first || later->max_length > feature->max_length)
        feature->max_length = later->max_length;
    feature->has_length = true;
}

static void merge_traits(struct feature_exam *feature, const struct feature_exam *later) {
    if (!feature->traits[TRAIT_DAMAGED_PICTURE].count)
        memcpy(feature->picture_fault, later->picture_fault, sizeof feature->picture_fault);
    for (size_t i = 0; i < TRAIT_COUNT; i++) {
        if (later->traits[i].count) feature->last[i] = later->last[i];
        occurrence_merge(&feature->traits[i], &later->traits[i]);
    }
    for (size_t kind = RECMAP_TYPE_INT64; kind <= RECMAP_TYPE_BYTES; kind++)
        occurrence_merge(&feature->kinds[kind], &later->kinds[kind]);
}

void feature_exam_merge(struct feature_exam *feature, const struct feature_exam *later) {
    if (!feature->records.count) feature->hash = later->hash;
    feature->has_other_bytes |= later->has_other_bytes || feature->hash != later->hash;
    feature->is_of_episode |= later->is_of_episode;
    merge_traits(feature, later);
    merge_lengths(feature, later);
    value_exam_merge(&feature->values, &later->values);
    occurrence_merge(&feature->records, &later->records);
}

/* ---- Judging. */

size_t feature_exam_usual_length(const struct feature_exam *feature) {
    size_t usual = SIZE_MAX;
    for (size_t i = 0; i < feature->length_count; i++)
        if (usual == SIZE_MAX ||
            feature->lengths[i].records.count > feature->lengths[usual].records.count)
            usual = i;
    return usual;
}

recmap_type feature_exam_usual_kind(const struct feature_exam *feature) {
    size_t usual = RECMAP_TYPE_NONE;
    for (size_t kind = RECMAP_TYPE_INT64; kind <= RECMAP_TYPE_BYTES; kind++)
        if (feature->kinds[kind].count > feature->kinds[usual].count) usual = kind;
    return (recmap_type)usual;
}

bool feature_exam_has_odd_lengths(const struct feature_exam *feature) {
    enum { USUAL_PARTS = 20 };
    size_t usual = feature_exam_usual_length(feature);
    if (usual == SIZE_MAX) return false;
    uint64_t valued = feature->records.count - feature->traits[TRAIT_EMPTY].count;
    uint64_t odd = valued - feature->lengths[usual].records.count;
    return odd && odd <= valued / USUAL_PARTS;
}

static recmap_severity judge_share(uint64_t count, uint64_t record_count) {
    enum { FEW_PARTS = 10 };
    if (!count) return RECMAP_SEVERITY_NONE;
    return count * FEW_PARTS < record_count ? RECMAP_SEVERITY_NOTE : RECMAP_SEVERITY_WARNING;
}

recmap_severity feature_exam_judge_lacking(const struct feature_exam *feature,
                                           uint64_t record_count) {
    return judge_share(feature->lacking.count, record_count);
}

/* A feature of any length may have none. */
recmap_severity feature_exam_judge_empty(const struct feature_exam *feature,
                                         uint64_t record_count) {
    bool is_ragged = feature->length_count > 1 && !feature_exam_has_odd_lengths(feature);
    if (is_ragged || feature->is_of_episode) return RECMAP_SEVERITY_NONE;
    return judge_share(feature->traits[TRAIT_EMPTY].count, record_count);
}

bool feature_exam_has_pictures(const struct feature_exam *feature) {
    const struct occurrence *traits = feature->traits;
    uint64_t pictures = traits[TRAIT_PICTURE].count;
    if (traits[TRAIT_DAMAGED_PICTURE].count > pictures)
        pictures = traits[TRAIT_DAMAGED_PICTURE].count;
    return feature->is_picture || (pictures && pictures >= traits[TRAIT_NO_PICTURE].count);
}

bool feature_exam_is_constant(const struct feature_exam *feature) {
    const struct value_exam *values = &feature->values;
    if (!values->has_int64 && !values->has_float && !values->has_bytes) return false;
    return !feature->has_other_bytes || value_exam_is_constant(values);
}
