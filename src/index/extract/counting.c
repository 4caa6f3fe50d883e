#include "index/extract/counting.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/words/shell_word.h"
#include "parse/example/step_count.h"

struct counting {
    char *names[COUNTED_FEATURES_MAX];
    recmap_element elements[COUNTED_FEATURES_MAX];
    size_t count;
    struct example_names *compiled;
};

recmap_status counting_create(struct counting **counting, const recmap_index_options *options,
                              recmap_error *error) {
    struct counting *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < options->counted_feature_count; i++) {
        fresh->elements[i] = options->counted_features[i].element;
        fresh->names[i] = strdup(options->counted_features[i].name);
        if (fresh->names[i]) fresh->count++;
        else status = fail_memory(error);
    }
    if (status == RECMAP_OK)
        status = example_names_create(&fresh->compiled, (const char *const *)fresh->names,
                                      fresh->count, error);
    if (status == RECMAP_OK) *counting = fresh;
    else counting_destroy(fresh);
    return status;
}

void counting_destroy(struct counting *counting) {
    if (!counting) return;
    for (size_t i = 0; i < counting->count; i++) free(counting->names[i]);
    example_names_destroy(counting->compiled);
    free(counting);
}

size_t counting_feature_count(const struct counting *counting) {
    return counting->count;
}

const char *counting_name(const struct counting *counting, size_t i) {
    return counting->names[i];
}

static recmap_status fail_kind(const char *name, const char *actual, recmap_element element,
                               recmap_error *error) {
    char word[SHELL_WORD_SIZE];
    fail(error, RECMAP_FEATURE,
         "feature \"%s\" %s, not a value of bytes that consists of %s numbers", name, actual,
         recmap_element_name(element));
    fail_advise(error, "count it without an element type: `--count %s`",
                shell_word_of_name(word, name, ""));
    return RECMAP_FEATURE;
}

/* Returns true if the values have different sizes. */
static bool varies_in_size(const struct example_feature *feature) {
    const uint64_t size = example_feature_first(feature).as.bytes.size;
    struct example_values values = example_values_begin(feature);
    recmap_value value;
    while (example_values_next(&value, &values))
        if (value.as.bytes.size != size) return true;
    return false;
}

/* The count of raw numbers: the size of the values, divided by the size of a number. */
static recmap_status count_raw(uint64_t *count, const struct example_feature *feature,
                               const char *name, recmap_element element, recmap_error *error) {
    char found[64], word[SHELL_WORD_SIZE];
    *count = 0;
    if (!feature->count) return RECMAP_OK;
    if (feature->kind != RECMAP_TYPE_BYTES) {
        snprintf(found, sizeof found, "is a list of %s", recmap_type_name(feature->kind));
        return fail_kind(name, found, element, error);
    }
    if (varies_in_size(feature)) {
        snprintf(found, sizeof found, "has %" PRIu64 " values of bytes of different sizes",
                 feature->count);
        return fail_kind(name, found, element, error);
    }
    size_t bytes = example_feature_first(feature).as.bytes.size,
           size = recmap_element_size(element);
    *count = feature->count * (bytes / size);
    if (bytes % size == 0) return RECMAP_OK;
    fail(error, RECMAP_FEATURE,
         "feature \"%s\" has %zu bytes, which is not a multiple of %zu, the size of %s", name,
         bytes, size, recmap_element_name(element));
    fail_advise(error, "name the element type that its bytes consist of: `--count %s`",
                shell_word_of_name(word, name, ":DTYPE"));
    return RECMAP_FEATURE;
}

/* Counts steps for the features that the record lacks. */
static recmap_status count_steps(uint64_t *counts, const struct counting *counting,
                                 const struct example_feature *features, const uint8_t *data,
                                 size_t size, recmap_error *error) {
    struct step_count steps[COUNTED_FEATURES_MAX];
    struct example_fault fault;
    if (!step_count_read(steps, counting->compiled, data, size, &fault)) {
        fail(error, RECMAP_FEATURE,
             "is not a tf.SequenceExample: %s at byte %" PRIu64 " of its data", fault.reason,
             fault.offset);
        fail_advise(error, "index such records without --count");
        return RECMAP_FEATURE;
    }
    for (size_t i = 0; i < counting->count; i++) {
        if (features[i].present || !steps[i].is_present) continue;
        if (counting->elements[i])
            return fail_kind(counting->names[i], "is a feature list", counting->elements[i], error);
        counts[i] = steps[i].count;
    }
    return RECMAP_OK;
}

recmap_status counting_read(uint64_t *counts, const struct counting *counting,
                            const struct example_feature *features, const uint8_t *data,
                            size_t size, recmap_error *error) {
    bool is_missing = false;
    for (size_t i = 0; i < counting->count; i++) {
        counts[i] = features[i].count;
        is_missing |= !features[i].present;
        if (counting->elements[i])
            RETURN_IF_FAILED(count_raw(&counts[i], &features[i], counting->names[i],
                                       counting->elements[i], error));
    }
    return is_missing ? count_steps(counts, counting, features, data, size, error) : RECMAP_OK;
}
