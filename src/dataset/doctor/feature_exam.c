#include "dataset/doctor/feature_exam.h"

#include <xxhash.h>

#include "base/core/bytes.h"

/* What of the statistics tells that a record has a value of some sort. */
struct value_counts {
    uint64_t nans, infinite, inexact;
};

static struct value_counts counts_of(const struct feature_stats *stats) {
    return (struct value_counts){stats->nan_count, stats->infinite_count, stats->inexact_count};
}

static unsigned note(struct feature_exam *feature, enum feature_trait trait, uint64_t item) {
    feature_exam_note(feature, trait, item);
    return 1u << trait;
}

static unsigned note_values(struct feature_exam *feature, struct value_counts before,
                            uint64_t item) {
    unsigned traits = 0;
    struct value_counts after = counts_of(feature->stats);
    if (after.nans > before.nans) traits |= note(feature, TRAIT_NAN, item);
    if (after.infinite > before.infinite) traits |= note(feature, TRAIT_INFINITE, item);
    if (after.inexact > before.inexact) traits |= note(feature, TRAIT_INEXACT, item);
    return traits;
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
    struct value_counts before = counts_of(feature->stats);
    compare_bytes(feature, values->entry);
    feature_stats_add(feature->stats, values);
    count_occurrence(&feature->records, item);
    if (!values->count) return note(feature, TRAIT_EMPTY, item);
    count_occurrence(&feature->kinds[values->kind], item);
    add_length(feature, values->count, item);
    return note_values(feature, before, item);
}

/* A list without steps is not an empty feature: see episode_checks.h. */
unsigned feature_exam_add_list(struct feature_exam *feature, const struct example_feature *steps,
                               size_t count, uint64_t item) {
    struct value_counts before = counts_of(feature->stats);
    unsigned kinds = 0;
    feature_stats_add_list(feature->stats, steps, count);
    count_occurrence(&feature->records, item);
    feature->has_other_bytes = true;
    for (size_t i = 0; i < count; i++)
        if (steps[i].count) kinds |= 1u << steps[i].kind;
    for (size_t kind = RECMAP_TYPE_INT64; kind <= RECMAP_TYPE_BYTES; kind++)
        if (kinds >> kind & 1) count_occurrence(&feature->kinds[kind], item);
    return note_values(feature, before, item);
}

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
    return pictures && pictures >= traits[TRAIT_NO_PICTURE].count;
}

bool feature_exam_is_constant(const struct feature_exam *feature) {
    const struct feature_stats *stats = feature->stats;
    if (!stats->int64_count && !stats->float_count && !stats->bytes_count) return false;
    if (!feature->has_other_bytes) return true;
    if (stats->nan_count || stats->bytes_count) return false;
    if (stats->int64_count && stats->float_count) return false;
    return stats->int64_count ? stats->min_int64 == stats->max_int64
                              : stats->min_float == stats->max_float;
}
