#include "parse/decode/list_advice.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "parse/example/tensor_proto.h"
#include "parse/plan/convert.h"

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

/* Records may have integers and fractions in one feature. The advice for one record would then be
 * wrong for another one, in turn. */
static void advise_element(struct read_fault *fault, const struct slot *slot, recmap_type found) {
    bool are_numbers = found != RECMAP_TYPE_BYTES &&
                       convert_list_of(slot->element) != RECMAP_TYPE_BYTES;
    const char *more =
        found == RECMAP_TYPE_BYTES ? "" : ", and convert the column if you need another type";
    const char *mixed = are_numbers ? "; if `recmap schema --json --sample 0` says mixed, other "
                                      "records have another kind: write all in one kind"
                                    : "";
    fault_advise(fault, "the feature is %s: use `.element = RECMAP_ELEMENT_%s`%s%s",
                 recmap_type_name(found), constant_of(element_of_list(found)).text, more, mixed);
}

/* Returns true, with advice, if the only value is a tensor that tf.io.serialize_tensor wrote. */
static bool advise_tensor(struct read_fault *fault, const struct slot *slot,
                          const struct example_feature *feature) {
    char text[TENSOR_PROTO_TEXT_SIZE];
    if (feature->kind != RECMAP_TYPE_BYTES || feature->count != 1) return false;
    recmap_value value = example_feature_first(feature);
    if (!tensor_proto_describe(text, value.as.bytes.data, value.as.bytes.size)) return false;
    fault_advise(fault,
                 "the bytes are a tensor that tf.io.serialize_tensor wrote, of %s: %suse "
                 "`.element = RECMAP_ELEMENT_BYTES` and decode it with tf.io.parse_tensor, or "
                 "write only the bytes of its values",
                 text, slot->raw ? "omit `.raw`, " : "");
    return true;
}

/* The element types of a size: the one of the requested class first. */
static size_t list_elements(recmap_element elements[2], size_t size, bool is_float) {
    static const recmap_element of_size[][2] = {
        [1] = {RECMAP_ELEMENT_UINT8, RECMAP_ELEMENT_INT8},
        [2] = {RECMAP_ELEMENT_FLOAT16, RECMAP_ELEMENT_INT16},
        [4] = {RECMAP_ELEMENT_FLOAT32, RECMAP_ELEMENT_INT32},
        [8] = {RECMAP_ELEMENT_FLOAT64, RECMAP_ELEMENT_INT64},
    };
    if (size >= sizeof of_size / sizeof *of_size || !of_size[size][0]) return 0;
    bool is_swapped = size > 1 && !is_float;
    elements[0] = of_size[size][is_swapped];
    elements[1] = of_size[size][!is_swapped];
    return 2;
}

/* Returns the size of an element with which the slot could hold `size` bytes: the only one for a
 * fixed count, else the largest below the size of the slot's element. 0 if there is none. */
static size_t fitting_size(const struct slot *slot, size_t size) {
    if (slot->count) return size % slot->count ? 0 : size / slot->count;
    for (size_t i = recmap_element_size(slot->element) / 2; i > 0; i /= 2)
        if (size % (i * slot->multiple) == 0) return i;
    return 0;
}

void list_advise_size(struct read_fault *fault, const struct slot *slot,
                      const struct example_feature *feature) {
    recmap_element elements[2];
    bool is_float = convert_list_of(slot->element) == RECMAP_TYPE_FLOAT;
    size_t size = fitting_size(slot, example_feature_first(feature).as.bytes.size);
    if (advise_tensor(fault, slot, feature)) return;
    if (list_elements(elements, size, is_float))
        fault_advise(fault,
                     "the size fits %s and %s: use `.element = RECMAP_ELEMENT_%s` or `.element = "
                     "RECMAP_ELEMENT_%s`",
                     recmap_element_name(elements[0]), recmap_element_name(elements[1]),
                     constant_of(elements[0]).text, constant_of(elements[1]).text);
    else
        fault_advise(fault, "`recmap schema --sample 0` shows the sizes in all records; if the "
                            "bytes are encoded, as pictures are, omit `.raw`, and use `.element = "
                            "RECMAP_ELEMENT_BYTES`");
}

/* Slots of partitions and indices have no feature kind. */
void list_advise(struct read_fault *fault, const struct slot *slot,
                 const struct example_feature *feature) {
    recmap_element raw = RECMAP_ELEMENT_NONE;
    if (slot->kind && advise_tensor(fault, slot, feature)) return;
    if (feature->kind == RECMAP_TYPE_BYTES) raw = find_raw_element(slot, feature);
    if (!slot->kind)
        fault_advise(fault, "the feature is %s: partitions and indices must be int64",
                     recmap_type_name(feature->kind));
    else if (slot->raw) advise_without_raw(fault, slot, feature->kind);
    else if (raw != RECMAP_ELEMENT_NONE) advise_raw(fault, slot, raw);
    else advise_element(fault, slot, feature->kind);
}
