#include "parse/text/text_lookup.h"

#include <recmap/feature.h>

#include "parse/text/text_value.h"

static bool fail_value(const char *key, const struct text_piece *piece, recmap_type type,
                       enum text_verdict verdict, struct read_fault *fault) {
    enum { SHOWN_MAX = 40 };
    int size = (int)(piece->size < SHOWN_MAX ? piece->size : SHOWN_MAX);
    if (verdict == TEXT_NO_MEMORY) return fault_memory(fault);
    return fault_set(fault, RECMAP_FEATURE, SIZE_MAX, "\"%.200s\" is `%.*s`, which is not %s", key,
                     size, piece->data,
                     verdict == TEXT_BAD_STRING     ? "UTF-8, or has half of a surrogate pair"
                     : verdict == TEXT_OUT_OF_RANGE ? "in the range of its type"
                     : type == RECMAP_TYPE_BYTES    ? "a string"
                     : type == RECMAP_TYPE_INT64    ? "an integer"
                                                    : "a number");
}

static bool fail_path(const char *key, struct read_fault *fault) {
    return fault_set(fault, RECMAP_FEATURE, SIZE_MAX,
                     "\"%.200s\" leads through a value that is not an object", key);
}

bool text_lookup(recmap_value *values, const struct text_source *source, const recmap_type *types,
                 const uint8_t *data, size_t size, struct reader_memory *memory,
                 struct read_fault *fault) {
    bool is_json = !source->format.separator;
    struct text_piece *pieces =
        reader_memory_scratch(memory, (source->key_count + 1) * sizeof *pieces);
    if (!pieces) return fault_memory(fault);
    if (!text_source_find(pieces, source, data, size, fault)) return false;
    for (size_t i = 0; i < source->key_count; i++) {
        if (!is_json && !pieces[i].size) pieces[i].data = NULL;
        if (pieces[i].path) return fail_path(source->keys[i], fault);
        enum text_verdict verdict =
            text_value_read(&values[i], types[i], &pieces[i], is_json, memory);
        if (verdict != TEXT_OK)
            return fail_value(source->keys[i], &pieces[i], types[i], verdict, fault);
    }
    return true;
}
