#include "dataset/doctor/episode_checks.h"

#include <stdio.h>
#include <string.h>

static const char *const flag_names[FLAG_COUNT] = {"is_first", "is_last", "is_terminal"};

const char *episode_flag_name(enum episode_flag flag) {
    return flag_names[flag];
}

/* Returns the flag that the last part of the name is, or FLAG_COUNT; sets the size of what precedes
 * it, with its slash. */
static enum episode_flag find_flag(size_t *prefix_size, const uint8_t *name, size_t name_size) {
    for (size_t flag = 0; flag < FLAG_COUNT; flag++) {
        size_t size = strlen(flag_names[flag]);
        if (name_size < size || memcmp(name + name_size - size, flag_names[flag], size) != 0)
            continue;
        *prefix_size = name_size - size;
        if (!*prefix_size || name[*prefix_size - 1] == '/') return (enum episode_flag)flag;
    }
    return FLAG_COUNT;
}

bool episode_flag_is_named(const char *name, size_t name_size) {
    size_t prefix_size;
    return find_flag(&prefix_size, (const uint8_t *)name, name_size) != FLAG_COUNT;
}

static void count(struct occurrence *occurrence, uint64_t item) {
    if (!occurrence->count++) occurrence->first = item;
}

/* ---- Flags. */

/* Where a flag has other values than 0. */
struct flag_steps {
    uint64_t count;       /* of steps */
    uint64_t set_count;   /* of steps with the flag */
    bool is_set_at_first; /* the first step has it, */
    bool is_set_at_last;  /* and the last */
};

static void add_step(struct flag_steps *steps, int64_t value) {
    if (!steps->count) steps->is_set_at_first = value != 0;
    steps->is_set_at_last = value != 0;
    steps->set_count += value != 0;
    steps->count++;
}

/* The first and last steps are marked as such, and no others. An episode that was cut off has no
 * terminal step; else it is the last one. */
static bool is_in_place(enum episode_flag flag, const struct flag_steps *steps) {
    if (!steps->count) return true;
    if (flag == FLAG_FIRST) return steps->is_set_at_first && steps->set_count == 1;
    if (flag == FLAG_LAST) return steps->is_set_at_last && steps->set_count == 1;
    return !steps->set_count || (steps->is_set_at_last && steps->set_count == 1);
}

static bool check_flag(struct episode_checks *checks, enum episode_flag flag,
                       const struct flag_steps *steps, uint64_t item) {
    if (is_in_place(flag, steps)) return false;
    count(&checks->flags[flag], item);
    return true;
}

static bool check_list_flag(struct episode_checks *checks, enum episode_flag flag,
                            const struct example_feature *feature, uint64_t item) {
    struct flag_steps steps = {0};
    struct example_values values = example_values_begin(feature);
    recmap_value value;
    if (feature->kind != RECMAP_TYPE_INT64) return false;
    while (example_values_next(&value, &values)) add_step(&steps, value.as.int64);
    return check_flag(checks, flag, &steps, item);
}

static bool check_step_flags(struct episode_checks *checks, enum episode_flag flag,
                             const struct example_feature *features, size_t step_count,
                             uint64_t item) {
    struct flag_steps steps = {0};
    for (size_t i = 0; i < step_count; i++) {
        struct example_values values = sequence_values_begin(&features[i]);
        recmap_value value;
        if (features[i].kind != RECMAP_TYPE_INT64 || !example_values_next(&value, &values))
            return false;
        add_step(&steps, value.as.int64);
    }
    return check_flag(checks, flag, &steps, item);
}

/* ---- Lengths. */

static void write_name(char name[EPISODE_NAME_SIZE], const uint8_t *bytes, size_t size) {
    snprintf(name, EPISODE_NAME_SIZE, "%.*s", (int)(size < 120 ? size : 120), (const char *)bytes);
}

/* A list, by its name and length. */
struct named_list {
    const uint8_t *name;
    size_t name_size;
    uint64_t length;
};

static void note_unequal(struct episode_checks *checks, struct named_list one,
                         struct named_list other, uint64_t item) {
    if (checks->unequal.count && checks->unequal.first == item) return;
    if (!checks->unequal.count) {
        write_name(checks->unequal_names[0], one.name, one.name_size);
        write_name(checks->unequal_names[1], other.name, other.name_size);
        checks->unequal_lengths[0] = one.length;
        checks->unequal_lengths[1] = other.length;
    }
    count(&checks->unequal, item);
}

/* Returns true for an episode without steps or with one. */
static bool check_length(struct episode_checks *checks, uint64_t length, uint64_t item) {
    checks->episode_count++;
    if (length == 0) count(&checks->empty, item);
    if (length == 1) count(&checks->single, item);
    return length < 2;
}

/* ---- RLDS. */

static bool begins_with(const struct example_entry *entry, const uint8_t *prefix, size_t size) {
    return entry->name_size >= size && !memcmp(entry->name, prefix, size);
}

static bool contains(const struct example_entry *entry, const char *word) {
    return memmem(entry->name, entry->name_size, word, strlen(word)) != NULL;
}

/* Returns true if the feature has a value, or some, for each step. Beside flags without a prefix
 * may be features of the episode, so only those are that RLDS names so. Ragged values of steps have
 * any number. */
static bool is_step_list(const struct example_entry *entry, const struct example_entry *flag,
                         size_t prefix_size) {
    size_t ignored;
    if (!begins_with(entry, flag->name, prefix_size) || contains(entry, "/ragged_")) return false;
    if (prefix_size || find_flag(&ignored, entry->name, entry->name_size) != FLAG_COUNT)
        return true;
    const uint8_t *action = (const uint8_t *)"action",
                  *observation = (const uint8_t *)"observation";
    return begins_with(entry, action, strlen("action")) ||
           begins_with(entry, observation, strlen("observation"));
}

/* Compares all lists with the flag: their lengths are multiples of the number of steps. */
static bool compare_lists(struct episode_checks *checks, const struct example_features *features,
                          const struct example_entry *flag, size_t prefix_size,
                          struct feature_exam *const *seen, uint64_t item) {
    uint64_t length = flag->feature.count;
    bool is_wrong = false;
    for (size_t i = 0; i < features->count; i++) {
        const struct example_entry *entry = &features->entries[i];
        if (!is_step_list(entry, flag, prefix_size)) continue;
        if (seen[i]) seen[i]->is_of_episode = true;
        uint64_t own = entry->feature.count;
        bool fits = length ? own && own % length == 0 : !own;
        if (fits || is_wrong) continue;
        note_unequal(checks, (struct named_list){flag->name, flag->name_size, length},
                     (struct named_list){entry->name, entry->name_size, own}, item);
        is_wrong = true;
    }
    return is_wrong;
}

static bool check_flags(struct episode_checks *checks, const struct example_features *features,
                        uint64_t item) {
    bool is_wrong = false;
    for (size_t i = 0; i < features->count; i++) {
        const struct example_entry *entry = &features->entries[i];
        size_t prefix_size;
        enum episode_flag flag = find_flag(&prefix_size, entry->name, entry->name_size);
        if (flag != FLAG_COUNT) is_wrong |= check_list_flag(checks, flag, &entry->feature, item);
    }
    return is_wrong;
}

/* A record with one value of a flag that has no prefix is probably a step, and not an episode. */
static bool check_example(struct episode_checks *checks, const struct example_features *features,
                          struct feature_exam *const *seen, uint64_t item) {
    const struct example_entry *flag = NULL;
    size_t prefix_size = 0;
    for (size_t i = 0; !flag && i < features->count; i++) {
        const struct example_entry *entry = &features->entries[i];
        if (find_flag(&prefix_size, entry->name, entry->name_size) != FLAG_COUNT) flag = entry;
    }
    if (!flag) return false;
    if (!prefix_size && flag->feature.count == 1) {
        count(&checks->maybe_single, item);
        return false;
    }
    checks->has_flags = true;
    bool is_wrong = check_length(checks, flag->feature.count, item);
    is_wrong |= compare_lists(checks, features, flag, prefix_size, seen, item);
    return check_flags(checks, features, item) || is_wrong;
}

/* ---- SequenceExamples. */

static bool check_sequence(struct episode_checks *checks, const struct sequence_features *sequence,
                           uint64_t item) {
    bool is_wrong = false;
    uint64_t longest = 0;
    for (size_t i = 0; i < sequence->list_count; i++) {
        const struct sequence_list *list = &sequence->lists[i], *first = &sequence->lists[0];
        size_t prefix_size;
        enum episode_flag flag = find_flag(&prefix_size, list->name, list->name_size);
        if (list->step_count > longest) longest = list->step_count;
        if (list->step_count != first->step_count && !is_wrong) {
            note_unequal(checks,
                         (struct named_list){first->name, first->name_size, first->step_count},
                         (struct named_list){list->name, list->name_size, list->step_count}, item);
            is_wrong = true;
        }
        if (flag == FLAG_COUNT) continue;
        checks->has_flags = true;
        is_wrong |=
            check_step_flags(checks, flag, sequence_steps(sequence, list), list->step_count, item);
    }
    if (!sequence->list_count) return false;
    return check_length(checks, longest, item) || is_wrong;
}

bool episode_checks_add(struct episode_checks *checks, const struct record_parts *parts,
                        struct feature_exam *const *seen, uint64_t item) {
    if (parts->is_sequence) return check_sequence(checks, &parts->sequence, item);
    return check_example(checks, &parts->features, seen, item);
}

void episode_checks_merge(struct episode_checks *checks, const struct episode_checks *later) {
    if (!checks->unequal.count) {
        memcpy(checks->unequal_names, later->unequal_names, sizeof checks->unequal_names);
        memcpy(checks->unequal_lengths, later->unequal_lengths, sizeof checks->unequal_lengths);
    }
    checks->episode_count += later->episode_count;
    occurrence_merge(&checks->empty, &later->empty);
    occurrence_merge(&checks->single, &later->single);
    occurrence_merge(&checks->maybe_single, &later->maybe_single);
    occurrence_merge(&checks->unequal, &later->unequal);
    for (size_t flag = 0; flag < FLAG_COUNT; flag++)
        occurrence_merge(&checks->flags[flag], &later->flags[flag]);
    checks->has_flags |= later->has_flags;
}
