#include <string.h>

#include "base/core/error.h"
#include "parse/plan/message_lengths.h"
#include "parse/plan/message_plan.h"

/* The size of the first `count` parts of a path. */
static size_t prefix_size(const char *text, size_t count) {
    const char *end = text;
    for (; count > 0; count--) end += strcspn(end, ".") + (count > 1);
    return (size_t)(end - text);
}

const char *message_length_key(struct arena *memory, const char *text,
                               const struct message_path *path, size_t level) {
    size_t part = 0;
    for (size_t found = 0; part < path->count; part++)
        if (path->steps[part].field->is_repeated && found++ == level) break;
    size_t size = prefix_size(text, part + 1);
    char *key = arena_allocate(memory, size + 2);
    if (!key) return NULL;
    memcpy(key, text, size);
    key[size] = LENGTH_MARK;
    key[size + 1] = 0;
    return key;
}

/* The outermost repeated field makes the rows of the column, so it needs no partition. */
static recmap_status expand(recmap_feature *feature, struct arena *memory,
                            const struct message_path *path, const char *text,
                            recmap_error *error) {
    size_t count = path->levels - 1;
    recmap_partition *partitions = arena_allocate(memory, count * sizeof *partitions);
    if (!partitions) return fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        partitions[i] = (recmap_partition){.kind = RECMAP_PARTITION_ROW_LENGTHS};
        partitions[i].key = message_length_key(memory, text, path, i + 1);
        if (!partitions[i].key) return fail_memory(error);
    }
    feature->kind = RECMAP_FEATURE_RAGGED;
    feature->partitions = partitions;
    feature->partition_count = count;
    return RECMAP_OK;
}

static recmap_status expand_one(recmap_feature *feature, struct arena *memory,
                                const recmap_message_type *type, recmap_error *error) {
    const char *text = feature->key ? feature->key : feature->name;
    struct message_path path;
    if (feature->kind == RECMAP_FEATURE_SLICED)
        return fail(error, RECMAP_INVALID,
                    "feature '%.200s': messages cannot be SLICED: read whole records with VAR_LEN",
                    feature->name ? feature->name : "");
    if (feature->as_bits)
        return fail(error, RECMAP_INVALID,
                    "feature '%.200s': messages have unsigned numbers, which need no as_bits",
                    feature->name ? feature->name : "");
    if (feature->kind != RECMAP_FEATURE_VAR_LEN || feature->image || !text || !type->root)
        return RECMAP_OK;
    size_t size = strlen(text);
    if (size && text[size - 1] == LENGTH_MARK) return RECMAP_OK; /* one number for each element */
    RETURN_IF_FAILED(message_path_find(&path, type, text, size, error));
    return path.levels < 2 ? RECMAP_OK : expand(feature, memory, &path, text, error);
}

recmap_status message_features_expand(recmap_feature **expanded, struct arena *memory,
                                      const recmap_message_type *type,
                                      const recmap_feature *features, size_t count,
                                      recmap_error *error) {
    if (count && !features) return fail(error, RECMAP_INVALID, "the features are NULL");
    *expanded = arena_copy(memory, features, count * sizeof *features);
    if (!*expanded) return fail_memory(error);
    for (size_t i = 0; i < count; i++)
        RETURN_IF_FAILED(expand_one(&(*expanded)[i], memory, type, error));
    return RECMAP_OK;
}
