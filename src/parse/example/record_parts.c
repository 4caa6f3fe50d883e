#include "parse/example/record_parts.h"

#include "base/core/error.h"
#include "parse/example/foreign.h"

/* Returns true if the features do not come from an Example: all of them are unset, and the bytes
 * are known to be another message. */
static bool are_foreign(const struct example_features *features, const void *data, size_t size) {
    struct foreign foreign;
    for (size_t i = 0; i < features->count; i++)
        if (features->entries[i].feature.kind != RECMAP_TYPE_NONE) return false;
    return features->count && foreign_find(&foreign, data, size);
}

/* A record with feature lists parses as an Example too, with the lists as an unknown field. So
 * unknown fields in an Example are the reason to try a SequenceExample. */
recmap_status record_parts_read_stored(struct record_parts *parts, const void *data, size_t size,
                                       recmap_error *error) {
    parts->is_sequence = false;
    recmap_status read = example_features_read_stored(&parts->features, data, size, NULL);
    if (read == RECMAP_NO_MEMORY) return fail_memory(error);
    bool is_foreign = read == RECMAP_OK && are_foreign(&parts->features, data, size);
    if (is_foreign) parts->features.count = 0;
    parts->is_other = read != RECMAP_OK || parts->features.saw_unknown || is_foreign;
    if (read != RECMAP_OK || !parts->is_other || is_foreign) return RECMAP_OK;
    read = sequence_features_read(&parts->sequence, data, size, NULL);
    if (read == RECMAP_NO_MEMORY) return fail_memory(error);
    parts->is_sequence = read == RECMAP_OK && parts->sequence.has_lists;
    if (parts->is_sequence) parts->is_other = parts->sequence.saw_unknown;
    return RECMAP_OK;
}

void record_parts_settle(struct record_parts *parts) {
    if (!parts->is_sequence) example_features_settle(&parts->features);
}

recmap_status record_parts_read(struct record_parts *parts, const void *data, size_t size,
                                recmap_error *error) {
    RETURN_IF_FAILED(record_parts_read_stored(parts, data, size, error));
    record_parts_settle(parts);
    return RECMAP_OK;
}

void record_parts_deinit(struct record_parts *parts) {
    example_features_deinit(&parts->features);
    sequence_features_deinit(&parts->sequence);
}
