#include "decode/list_advice.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "plan/convert.h"

enum { SPEC_SIZE = 300, NAME_SIZE = 32 };

/* The constant of an element type without RECMAP_ELEMENT_. */
struct element_constant {
    char text[NAME_SIZE];
};

static struct element_constant constant_of(recmap_element element) {
    struct element_constant constant = {""};
    const char *name = recmap_element_name(element);
    for (size_t i = 0; name && name[i] && i + 1 < NAME_SIZE; i++)
        constant.text[i] = (char)toupper((unsigned char)name[i]);
    return constant;
}

/* The element type that holds every value of a list. */
static recmap_element element_of_list(recmap_type list) {
    return list == RECMAP_TYPE_INT64   ? RECMAP_ELEMENT_INT64
           : list == RECMAP_TYPE_FLOAT ? RECMAP_ELEMENT_FLOAT32
                                       : RECMAP_ELEMENT_BYTES;
}

static bool can_be_raw(const struct slot *slot) {
    return slot->element != RECMAP_ELEMENT_BYTES &&
           (slot->kind == RECMAP_FEATURE_FIXED_LEN || slot->kind == RECMAP_FEATURE_VAR_LEN ||
            slot->kind == RECMAP_FEATURE_FIXED_LEN_SEQUENCE || slot->kind == RECMAP_FEATURE_SLICED);
}

/* The element type that the bytes may hold raw values of: the one requested if their size fits, or
 * else uint8. NONE if neither fits. */
static recmap_element find_raw_element(const struct slot *slot,
                                       const struct example_feature *feature) {
    if (feature->count != 1 || !can_be_raw(slot)) return RECMAP_ELEMENT_NONE;
    size_t size = example_feature_first(feature).as.bytes.size;
    const recmap_element elements[] = {slot->element, RECMAP_ELEMENT_UINT8};
    for (size_t i = 0; i < 2; i++) {
        size_t element_size = recmap_element_size(elements[i]);
        uint64_t count = size / element_size;
        bool fits = slot->count ? count == slot->count : count % slot->multiple == 0;
        if (fits && size % element_size == 0) return elements[i];
    }
    return RECMAP_ELEMENT_NONE;
}

/* Writes the slot's shape, such as "[2, 3]", as members of recmap_feature; nothing for "[]". */
static void write_shape(char *text, size_t capacity, const char *shape) {
    size_t size = strlen(shape), count = 1;
    text[0] = 0;
    if (size <= 2) return;
    for (const char *c = shape; *c; c++) count += *c == ',';
    snprintf(text, capacity, ", .shape = (const uint64_t[]){%.*s}, .dimension_count = %zu",
             (int)(size - 2), shape + 1, count);
}

static void advise_raw(struct read_fault *fault, const struct slot *slot, recmap_element element) {
    static const char *const kinds[] = {
        [RECMAP_FEATURE_FIXED_LEN] = "FIXED_LEN",
        [RECMAP_FEATURE_VAR_LEN] = "VAR_LEN",
        [RECMAP_FEATURE_FIXED_LEN_SEQUENCE] = "FIXED_LEN_SEQUENCE",
        [RECMAP_FEATURE_SLICED] = "SLICED",
    };
    char shape[SPEC_SIZE];
    write_shape(shape, sizeof shape, slot->shape);
    fault_advise(
        fault,
        "the feature is bytes: use `{.kind = RECMAP_FEATURE_%s, .element = "
        "RECMAP_ELEMENT_%s%s, .raw = RECMAP_RAW_LITTLE_ENDIAN}` if it holds raw %s values, "
        "or `.element = RECMAP_ELEMENT_BYTES`",
        kinds[slot->kind], constant_of(element).text, shape, recmap_element_name(element));
}

static void advise_without_raw(struct read_fault *fault, const struct slot *slot,
                               recmap_type found) {
    const char *name = recmap_type_name(found);
    if (convert_list_of(slot->element) == found)
        fault_advise(fault, "the feature is %s: omit `.raw`", name);
    else
        fault_advise(fault,
                     "the feature is %s: omit `.raw`, and use `.element = RECMAP_ELEMENT_%s`", name,
                     constant_of(element_of_list(found)).text);
}

static void advise_element(struct read_fault *fault, recmap_type found) {
    const char *more =
        found == RECMAP_TYPE_BYTES ? "" : ", and convert the column if you need another type";
    fault_advise(fault, "the feature is %s: use `.element = RECMAP_ELEMENT_%s`%s",
                 recmap_type_name(found), constant_of(element_of_list(found)).text, more);
}

/* Slots of partitions and indices have no feature kind. */
void list_advise(struct read_fault *fault, const struct slot *slot,
                 const struct example_feature *feature) {
    recmap_element raw = RECMAP_ELEMENT_NONE;
    if (feature->kind == RECMAP_TYPE_BYTES) raw = find_raw_element(slot, feature);
    if (!slot->kind)
        fault_advise(fault, "the feature is %s: partitions and indices must be int64",
                     recmap_type_name(feature->kind));
    else if (slot->raw) advise_without_raw(fault, slot, feature->kind);
    else if (raw != RECMAP_ELEMENT_NONE) advise_raw(fault, slot, raw);
    else advise_element(fault, feature->kind);
}
