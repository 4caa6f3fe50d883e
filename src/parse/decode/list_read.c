/* Reads whole features into sinks and explains what is wrong with them. */
#include "base/core/plural.h"
#include "parse/decode/list_advice.h"
#include "parse/decode/list_decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PLACE_SIZE = 300 };

/* A feature's name in messages: "feature 'a'", or "feature list 'a', step 3". */
struct place {
    char text[PLACE_SIZE];
};

static struct place place_of(const struct slot *slot, size_t step) {
    struct place place;
    const char *what = slot->is_list ? "feature list" : "feature";
    if (step == SIZE_MAX) snprintf(place.text, sizeof place.text, "%s '%.200s'", what, slot->name);
    else snprintf(place.text, sizeof place.text, "%s '%.200s', step %zu", what, slot->name, step);
    return place;
}

/* Checks the number of elements; `count` comes from a well-formed feature. */
static bool check_count(uint64_t count, const struct slot *slot, size_t offset, size_t step,
                        struct read_fault *fault) {
    uint64_t found = count, fixed = slot->count, multiple = slot->multiple;
    if (fixed ? found == fixed : found % multiple == 0) return true;
    struct place at = place_of(slot, step);
    if (fixed) {
        fault_set(fault, RECMAP_FEATURE, offset, "%s: %" PRIu64 " value%s where %s needs %" PRIu64,
                  at.text, found, plural(found), slot->shape, fixed);
        if (step == SIZE_MAX)
            fault_advise(fault, "`recmap schema` looks at 1,000 records, `recmap schema --sample "
                                "0` at all; if the number varies, use `VarLen`");
        return false;
    }
    return fault_set(fault, RECMAP_FEATURE, offset,
                     "%s: %" PRIu64 " value%s where steps of %s need a multiple of %" PRIu64,
                     at.text, found, plural(found), slot->shape, multiple);
}

/* Explains a bytes value whose size does not fit the elements. Sizes are in bytes, because the
 * element type may be what is wrong. */
static bool tell_raw_size(const struct slot *slot, const struct example_feature *feature,
                          size_t offset, size_t step, struct read_fault *fault) {
    size_t size = example_feature_first(feature).as.bytes.size,
           element_size = recmap_element_size(slot->element);
    struct place at = place_of(slot, step);
    const char *element = recmap_element_name(slot->element),
               *shape = strcmp(slot->shape, "[]") ? slot->shape : "";
    if (slot->count)
        fault_set(fault, RECMAP_FEATURE, offset,
                  "%s: %zu byte%s where raw %s%s%s needs %" PRIu64 " byte%s", at.text, size,
                  plural(size), element, *shape ? " " : "", shape, slot->count * element_size,
                  plural(slot->count * element_size));
    else
        fault_set(fault, RECMAP_FEATURE, offset,
                  "%s: %zu byte%s where raw %s%s%s needs a multiple of %" PRIu64 " bytes", at.text,
                  size, plural(size), element, *shape ? " in steps of " : "", shape,
                  slot->multiple * element_size);
    list_advise_size(fault, slot, feature);
    return false;
}

/* Checks a single bytes value that contains the elements, as many as the slot needs. Several
 * values, and those that must be inflated, are checked while they are decoded. */
static bool check_raw(const struct slot *slot, const struct example_feature *feature, size_t offset,
                      size_t step, struct read_fault *fault) {
    if (feature->count != 1 && (slot->raw_resized || (slot->count && !feature->count))) {
        struct place at = place_of(slot, step);
        return fault_set(fault, RECMAP_FEATURE, offset,
                         "%s: %" PRIu64 " bytes values where one is needed that holds raw %s",
                         at.text, feature->count, recmap_element_name(slot->element));
    }
    if (feature->count != 1 || slot->raw_zlib || slot->raw_resized) return true;
    size_t size = example_feature_first(feature).as.bytes.size,
           element_size = recmap_element_size(slot->element);
    uint64_t count = size / element_size;
    bool is_fitting = slot->count ? count == slot->count : count % slot->multiple == 0;
    if (is_fitting && size % element_size == 0) return true;
    return tell_raw_size(slot, feature, offset, step, fault);
}

/* Decodes all lists of the feature's kind, wherever they are in the entry. Lists before `lists_at`
 * were replaced by a later list of another kind (protobuf's oneof) and do not count. */
static bool decode_feature(struct list_decoder *decoder, const struct example_feature *feature,
                           bool is_step) {
    struct wire entry = feature->entry, body = {0}, list;
    struct wire_trace trace = {0};
    uint32_t tag;
    if (is_step) {
        /* A step of a list is a feature alone, without an entry around it. */
        body = entry;
        entry.at = entry.end;
    }
    while (!wire_done(&entry) || !wire_done(&body)) {
        bool in_body = !wire_done(&body), good;
        struct wire *source = in_body ? &body : &entry;
        if (!wire_read_tag(&tag, source, &trace)) return false;
        if (!in_body && tag == EXAMPLE_VALUE_TAG) {
            good = wire_read_bytes(&body, source, &trace);
        } else if (in_body && feature_kind_of_tag(tag) != RECMAP_TYPE_NONE) {
            good = wire_read_bytes(&list, source, &trace) &&
                   (list.at < feature->lists_at || list_fields(decoder, list));
        } else {
            good = wire_skip(source, tag, in_body ? EXAMPLE_FEATURE_DEPTH : EXAMPLE_ENTRY_DEPTH,
                             &trace);
        }
        if (!good) return false;
    }
    return true;
}

/* An integer that its element type cannot hold. Unsigned numbers of 64 bits are often stored as the
 * int64 with the same bits. */
static bool tell_integer(const struct list_decoder *decoder, size_t offset, const char *place,
                         struct read_fault *fault) {
    const struct slot *slot = decoder->slot;
    fault_set(fault, RECMAP_FEATURE, offset,
              "%s: value %" PRIu64 " is %" PRId64 ", which %s cannot hold", place,
              decoder->bad_index, decoder->bad.as.int64, recmap_element_name(slot->element));
    if (slot->element == RECMAP_ELEMENT_UINT64)
        fault_advise(fault, "if they are unsigned numbers of 64 bits, use `.as_bits = 1`");
    return false;
}

/* One of several raw values that does not fit, or is not a ZLIB stream. */
static bool tell_raw_value(const struct list_decoder *decoder, const uint8_t *data,
                           const char *place, struct read_fault *fault) {
    const struct slot *slot = decoder->slot;
    size_t offset = (size_t)(decoder->bad_at - data);
    if (decoder->trouble == LIST_ZLIB) {
        fault_set(fault, RECMAP_FEATURE, offset,
                  "%s: bytes value %" PRIu64 " is not a ZLIB stream: %s", place, decoder->bad_index,
                  decoder->bad_reason);
        fault_advise(fault, "if the values are not compressed, use `.raw = "
                            "RECMAP_RAW_LITTLE_ENDIAN`");
        return false;
    }
    return fault_set(fault, RECMAP_FEATURE, offset,
                     "%s: bytes value %" PRIu64 " has %zu byte%s%s, which does not fit raw %s %s",
                     place, decoder->bad_index, decoder->bad_size, plural(decoder->bad_size),
                     slot->raw_zlib ? " when it is inflated" : "",
                     recmap_element_name(slot->element), slot->shape);
}

/* Raw values that have too few elements together. */
static bool tell_raw_count(const struct list_decoder *decoder, size_t offset, size_t step,
                           struct read_fault *fault) {
    const struct slot *slot = decoder->slot;
    struct place at = place_of(slot, step);
    char given[PLACE_SIZE];
    snprintf(given, sizeof given, "%" PRIu64 " bytes value%s with %" PRIu64 " %s value%s each",
             decoder->pieces, plural(decoder->pieces), decoder->piece,
             recmap_element_name(slot->element), plural(decoder->piece));
    if (slot->count)
        return fault_set(fault, RECMAP_FEATURE, offset, "%s: %s where %s needs %" PRIu64, at.text,
                         given, slot->shape, slot->count);
    return fault_set(fault, RECMAP_FEATURE, offset,
                     "%s: %s where steps of %s need a multiple of %" PRIu64, at.text, given,
                     slot->shape, slot->multiple);
}

/* Converts the decoder's failure to a message. Only some errors know the value and its byte;
 * everything else is reported at the start of the feature. */
static bool tell_trouble(const struct list_decoder *decoder, size_t offset, const uint8_t *data,
                         size_t step, struct read_fault *fault) {
    struct place at = place_of(decoder->slot, step);
    const char *element = recmap_element_name(decoder->slot->element);
    if (decoder->trouble == LIST_MEMORY) return fault_memory(fault);
    if (decoder->trouble == LIST_SIZE || decoder->trouble == LIST_ZLIB)
        return tell_raw_value(decoder, data, at.text, fault);
    if (decoder->trouble != LIST_RANGE)
        return fault_set(fault, RECMAP_CORRUPT, offset, "%s: its values are malformed", at.text);
    offset = (size_t)(decoder->bad_at - data);
    uint64_t index = decoder->bad_index;
    if (decoder->bad.type == RECMAP_TYPE_INT64)
        return tell_integer(decoder, offset, at.text, fault);
    if (decoder->bad.type == RECMAP_TYPE_FLOAT)
        return fault_set(fault, RECMAP_FEATURE, offset,
                         "%s: value %" PRIu64 " is %g, which %s cannot hold", at.text, index,
                         (double)decoder->bad.as.float32, element);
    return fault_set(fault, RECMAP_FEATURE, offset, "%s: raw value %" PRIu64 " is not a %s",
                     at.text, index, element);
}

/* All that the feature's header tells is checked before the first value is decoded, so that a fault
 * names the cause and not a value. A list without values is empty, whatever its kind: writers that
 * find no values often cannot know the kind that others would have had. */
bool list_read(uint64_t *count, struct sink *sink, const struct slot *slot, uint64_t at,
               const struct example_feature *feature, const uint8_t *data, size_t step,
               struct read_fault *fault) {
    size_t offset = (size_t)(feature->entry.at - data);
    if (feature->kind != slot->list && feature->count) {
        struct place here = place_of(slot, step);
        fault_set(fault, RECMAP_FEATURE, offset, "%s holds %s, but %s was requested", here.text,
                  recmap_type_name(feature->kind), recmap_type_name(slot->list));
        list_advise(fault, slot, feature);
        return false;
    }
    if (slot->raw ? !check_raw(slot, feature, offset, step, fault)
                  : !check_count(feature->count, slot, offset, step, fault))
        return false;
    *count = 0;
    if (feature->kind != slot->list) return true;
    struct list_decoder decoder = list_begin(sink, slot, at);
    if (!decode_feature(&decoder, feature, step != SIZE_MAX))
        return tell_trouble(&decoder, offset, data, step, fault);
    if (slot->raw && !list_is_whole(&decoder)) return tell_raw_count(&decoder, offset, step, fault);
    *count = decoder.count;
    return true;
}
