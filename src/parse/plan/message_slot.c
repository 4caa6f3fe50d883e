#include "parse/plan/message_slot.h"

#include <inttypes.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/plural.h"
#include "parse/example/wire.h"
#include "parse/plan/convert.h"
#include "parse/plan/message_value.h"

static bool is_unsigned_64(enum message_form form) {
    return form == FORM_UINT64 || form == FORM_FIXED64;
}

/* Sets the element, and the range of what the element and the form can both hold. UINT64 holds
 * twice as many of the unsigned numbers as of those that a tf.Example has. */
static void set_element(struct message_target *target, recmap_element element) {
    const struct convert_range range = convert_range_of(element);
    target->element = (uint8_t)element;
    target->size = (uint8_t)recmap_element_size(element);
    target->low = range.low;
    target->span = range.span;
    if (!is_unsigned_64((enum message_form)target->form)) return;
    target->low = 0;
    if (element == RECMAP_ELEMENT_UINT64) target->span = UINT64_MAX;
    else target->span = range.span + (uint64_t)range.low; /* the highest value */
}

struct message_target message_target_of(const struct slot *slot, const struct field_def *field) {
    struct message_target target = {.form = (uint8_t)message_form_of(field)};
    set_element(&target, slot->element);
    return target;
}

static bool is_unsigned(recmap_element element) {
    return element == RECMAP_ELEMENT_UINT64 || element == RECMAP_ELEMENT_UINT32 ||
           element == RECMAP_ELEMENT_UINT16 || element == RECMAP_ELEMENT_UINT8;
}

static bool guess_integer(enum message_form *form, const struct slot *slot, unsigned wire_type) {
    bool has_no_sign = is_unsigned(slot->element);
    switch (wire_type) {
    case WIRE_FIXED32: *form = has_no_sign ? FORM_FIXED32 : FORM_SFIXED32; return true;
    case WIRE_FIXED64: *form = has_no_sign ? FORM_FIXED64 : FORM_SFIXED64; return true;
    default: *form = has_no_sign ? FORM_UINT64 : FORM_INT64; return true;
    }
}

static bool guess_float(enum message_form *form, const struct slot *slot, unsigned wire_type) {
    bool is_double = wire_type == WIRE_FIXED64 ||
                     (wire_type == WIRE_BYTES && slot->element == RECMAP_ELEMENT_FLOAT64);
    *form = is_double ? FORM_DOUBLE : FORM_FLOAT;
    return wire_type != WIRE_VARINT;
}

bool message_target_guess(struct message_target *target, const struct slot *slot,
                          unsigned wire_type) {
    enum message_form form = FORM_BYTES;
    bool is_taken;
    if (slot->list == RECMAP_TYPE_INT64) is_taken = guess_integer(&form, slot, wire_type);
    else if (slot->list == RECMAP_TYPE_FLOAT) is_taken = guess_float(&form, slot, wire_type);
    else is_taken = wire_type == WIRE_BYTES;
    *target = (struct message_target){.form = (uint8_t)form};
    set_element(target, slot->element);
    return is_taken;
}

/* ---- Checking that a slot can hold the values of a path. */

static recmap_status fail_kind(const struct slot *slot, const struct field_def *field,
                               recmap_error *error) {
    const char *element = recmap_element_name(field_element(field));
    fail(error, RECMAP_INVALID, "the field '%.200s' is %s, but %s was requested", slot->name,
         field_type_name(field), slot->raw ? "raw bytes" : recmap_element_name(slot->element));
    if (element) fail_advise(error, "request \"%s\"", element);
    return RECMAP_INVALID;
}

static recmap_status check_type(const struct slot *slot, const struct field_def *field,
                                recmap_error *error) {
    if (field_is_message(field)) {
        fail(error, RECMAP_INVALID, "the field '%.200s' is a message", slot->name);
        if (field->message->count)
            fail_advise(error, "name a field of it, such as '%.100s.%.100s'", slot->name,
                        field->message->fields[0].name);
        return RECMAP_INVALID;
    }
    recmap_type list = convert_list_of(field_element(field));
    return slot->list == list ? RECMAP_OK : fail_kind(slot, field, error);
}

static recmap_status fail_levels(const struct slot *slot, size_t levels, const char *advice,
                                 recmap_error *error) {
    if (levels == 0)
        fail(error, RECMAP_INVALID, "the path '%.200s' has no repeated field", slot->name);
    else
        fail(error, RECMAP_INVALID, "the path '%.200s' has %zu repeated field%s", slot->name,
             levels, plural(levels));
    fail_advise(error, "%s", advice);
    return RECMAP_INVALID;
}

/* A fixed number of values, or steps of a fixed shape. */
static recmap_status check_shape(const struct slot *slot, size_t levels, recmap_error *error) {
    bool is_sequence = slot->kind == RECMAP_FEATURE_FIXED_LEN_SEQUENCE;
    size_t shaped = slot->dimension_count + is_sequence;
    if (levels == shaped || (levels == 1 && slot->dimension_count)) return RECMAP_OK;
    if (is_sequence && levels == 0)
        return fail_levels(slot, levels, "request `FixedLen` without a shape", error);
    if (levels == 0 && slot->count == 1) return RECMAP_OK;
    return fail_levels(slot, levels,
                       levels ? "give the shape a dimension for each of them, or request `VarLen`"
                              : "request `FixedLen` without a shape",
                       error);
}

static recmap_status check_levels(const struct slot *slot, size_t levels, recmap_error *error) {
    if (slot->raw || slot->kind == RECMAP_FEATURE_IMAGE) {
        if (levels == 0) return RECMAP_OK;
        return fail_levels(slot, levels,
                           slot->raw ? "raw values need a path without them"
                                     : "request `FixedLen` or `VarLen` with the image as its dtype",
                           error);
    }
    if (slot->kind == RECMAP_FEATURE_FIXED_LEN || slot->kind == RECMAP_FEATURE_FIXED_LEN_SEQUENCE)
        return check_shape(slot, levels, error);
    if (levels < 2 || slot->kind == RECMAP_FEATURE_RAGGED) return RECMAP_OK;
    return fail_levels(slot, levels, "only `VarLen` without pictures can have several", error);
}

static recmap_status check_length(const struct slot *slot, const struct message_path *path,
                                  recmap_error *error) {
    const struct field_def *field = message_path_field(path);
    if (!field)
        return fail(error, RECMAP_INVALID, "lengths such as '%.200s' need a descriptor set",
                    slot->name);
    if (field->is_repeated && path->levels >= 2) return RECMAP_OK;
    return fail(error, RECMAP_INVALID,
                "'%.200s' does not name a repeated field in another repeated field", slot->name);
}

/* ---- Places and defaults. */

static enum message_place place_of(const struct slot *slot, const struct message_path *path,
                                   bool is_length) {
    const struct field_def *field = message_path_field(path);
    if (is_length) return PLACE_SINGLE;
    if (slot->raw) return PLACE_LATER;
    if (!field) return slot->count == 1 && !slot->dimension_count ? PLACE_SINGLE : PLACE_LIST;
    if (field->is_repeated) return PLACE_LIST;
    return path->levels || slot->count ? PLACE_SINGLE : PLACE_OPTIONAL;
}

/* The default of a record's only value may be the feature's own. */
static void fill_from_slot(struct message_slot *target, const struct slot *slot) {
    if (target->is_bytes) memcpy(&target->fill_view, slot->fill, sizeof target->fill_view);
    else message_value_load(&target->fill, slot->fill, target->size);
}

static recmap_status fill_from_field(struct message_slot *target, const struct slot *slot,
                                     const struct field_def *field, recmap_error *error) {
    if (target->is_bytes) {
        if (field->default_size)
            target->fill_view = (recmap_bytes){field->default_bytes, field->default_size};
        return RECMAP_OK;
    }
    struct message_target how = message_target_of(slot, field);
    if (message_value_convert(&target->fill, &how, field->default_bits)) return RECMAP_OK;
    return fail(error, RECMAP_INVALID, "%s cannot hold the default of the field '%.200s'",
                recmap_element_name(slot->element), slot->name);
}

recmap_status message_slot_init(struct message_slot *target, const struct slot *slot,
                                const struct message_path *path, bool is_length,
                                recmap_error *error) {
    static const uint8_t nothing[1];
    const struct field_def *field = message_path_field(path);
    *target = (struct message_slot){.fill_view = {nothing, 0},
                                    .place = place_of(slot, path, is_length),
                                    .size = (uint8_t)recmap_element_size(slot->element),
                                    .is_bytes = slot->element == RECMAP_ELEMENT_BYTES,
                                    .is_fixed = slot->count > 0};
    target->is_scalar = slot->count == 1 && target->place == PLACE_SINGLE && !path->levels;
    if (is_length) return check_length(slot, path, error);
    if (field) {
        RETURN_IF_FAILED(check_type(slot, field, error));
        RETURN_IF_FAILED(check_levels(slot, path->levels, error));
    }
    if (target->place != PLACE_SINGLE) return RECMAP_OK;
    if (slot->fill && !path->levels) fill_from_slot(target, slot);
    else if (field) return fill_from_field(target, slot, field, error);
    return RECMAP_OK;
}
