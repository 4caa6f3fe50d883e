#include "parse/decode/message_reader.h"

#include <inttypes.h>

#include "base/core/plural.h"
#include "parse/varints/varints.h"

enum {
    CHUNK = 512,            /* varints converted at a time */
    SURELY_SMALL = 1 << 16, /* bytes of varints for which room is made without counting them */
};

static size_t offset_of(const struct message_reader *reader) {
    return (size_t)(reader->value_at - reader->data);
}

bool message_fail_range(struct message_reader *reader, const struct message_target *target,
                        uint64_t bits) {
    const struct slot *slot = &reader->slots[target->slot];
    const char *element = recmap_element_name(slot->element);
    enum message_form form = (enum message_form)target->form;
    uint64_t value = message_integer(form, bits);
    double number;
    reader->has_fault = true;
    if (form == FORM_FLOAT || form == FORM_DOUBLE) {
        message_value_float(&bits, form, RECMAP_ELEMENT_FLOAT64, bits);
        memcpy(&number, &bits, sizeof number);
        return fault_set(reader->fault, RECMAP_FEATURE, offset_of(reader),
                         "field '%.200s': a value is %g, which %s cannot hold", slot->name, number,
                         element);
    }
    if (form == FORM_UINT64 || form == FORM_FIXED64)
        return fault_set(reader->fault, RECMAP_FEATURE, offset_of(reader),
                         "field '%.200s': a value is %" PRIu64 ", which %s cannot hold", slot->name,
                         value, element);
    return fault_set(reader->fault, RECMAP_FEATURE, offset_of(reader),
                     "field '%.200s': a value is %" PRId64 ", which %s cannot hold", slot->name,
                     (int64_t)value, element);
}

/* A count that is not fixed is found wrong at the end of the record, a fixed one at the first value
 * too many. */
bool message_fail_count(struct message_reader *reader, uint32_t slot, uint64_t count) {
    const struct slot *wanted = &reader->slots[slot];
    reader->has_fault = true;
    if (!wanted->count)
        return fault_set(reader->fault, RECMAP_FEATURE, SIZE_MAX,
                         "field '%.200s': %" PRIu64 " value%s where steps of %s need a multiple of "
                         "%" PRIu64,
                         wanted->name, count, plural(count), wanted->shape, wanted->multiple);
    bool is_over = count > wanted->count;
    fault_set(reader->fault, RECMAP_FEATURE, is_over ? offset_of(reader) : SIZE_MAX,
              "field '%.200s': %s%" PRIu64 " value%s where %s needs %" PRIu64, wanted->name,
              is_over ? "more than " : "", is_over ? wanted->count : count,
              plural(is_over ? wanted->count : count), wanted->shape, wanted->count);
    fault_advise(reader->fault, "if the number varies, use `VarLen`");
    return false;
}

bool message_append(uint8_t **place, struct message_reader *reader, uint32_t slot, uint64_t count) {
    const struct slot *wanted = &reader->slots[slot];
    struct sink *sink = &reader->sinks[slot];
    size_t size = reader->plan->slots[slot].size, end;
    uint64_t used = sink->value_count;
    if (wanted->count) {
        uint64_t *taken = &reader->state.taken[slot];
        if (count > wanted->count - *taken)
            return message_fail_count(reader, slot, wanted->count + 1);
        *place = sink->values.data + (reader->row * wanted->count + *taken) * size;
        *taken += count;
        return true;
    }
    if (__builtin_add_overflow(used, count, &end) || __builtin_mul_overflow(end, size, &end) ||
        !buffer_reserve(&sink->values, (size_t)used * size, end)) {
        reader->has_fault = true;
        return fault_memory(reader->fault);
    }
    *place = sink->values.data + used * size;
    sink->value_count += count;
    return true;
}

/* Finds where a value goes: the place of a single value, or a new one. */
static bool find_place(uint8_t **place, struct message_reader *reader, uint32_t slot) {
    *place = reader->state.places[slot];
    switch (reader->plan->slots[slot].place) {
    case PLACE_SINGLE: return true;
    case PLACE_OPTIONAL:
        if (*place) return true;
        if (!message_append(place, reader, slot, 1)) return false;
        reader->state.places[slot] = *place;
        return true;
    default: return message_append(place, reader, slot, 1);
    }
}

bool message_put(struct message_reader *reader, const struct message_target *target,
                 uint64_t bits) {
    uint64_t word;
    uint8_t *place;
    if (!message_value_convert(&word, target, bits))
        return message_fail_range(reader, target, bits);
    if (!find_place(&place, reader, target->slot)) return false;
    message_store(place, word);
    return true;
}

bool message_put_view(struct message_reader *reader, const struct message_target *target,
                      struct wire contents) {
    const recmap_bytes view = {contents.at, wire_left(&contents)};
    uint8_t *place;
    if (reader->plan->slots[target->slot].place == PLACE_LATER) {
        reader->state.later[target->slot] = view;
        return true;
    }
    if (!find_place(&place, reader, target->slot)) return false;
    message_store_view(place, view);
    return true;
}

/* ---- Packed numbers. */

/* Numbers of the same bytes in the record and in the column. */
static bool is_copied(const struct message_target *target, recmap_element element) {
    switch ((enum message_form)target->form) {
    case FORM_DOUBLE: return element == RECMAP_ELEMENT_FLOAT64;
    case FORM_FLOAT: return element == RECMAP_ELEMENT_FLOAT32;
    case FORM_FIXED64: return element == RECMAP_ELEMENT_UINT64;
    case FORM_SFIXED64: return element == RECMAP_ELEMENT_INT64;
    case FORM_FIXED32: return element == RECMAP_ELEMENT_UINT32;
    case FORM_SFIXED32: return element == RECMAP_ELEMENT_INT32;
    default: return false;
    }
}

static bool put_copies(struct message_reader *reader, const struct message_target *target,
                       const uint8_t *data, uint64_t count, size_t size) {
    uint8_t *out;
    if (!message_append(&out, reader, target->slot, count)) return false;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (count) memcpy(out, data, count * size);
#else
    for (size_t i = 0; i < count * size; i++) out[i] = data[i ^ (size - 1)];
#endif
    return true;
}

/* Fixed numbers one by one. A single value of a field that is not repeated may also be packed, if
 * its type is not known: then the last number counts. */
static bool put_fixed(uint64_t *count, struct message_reader *reader,
                      const struct message_target *target, struct wire packed) {
    size_t size = target->form >= FORM_FIXED32 ? 4 : 8;
    recmap_element element = reader->slots[target->slot].element;
    *count = wire_left(&packed) / size;
    if (wire_left(&packed) % size)
        return wire_fail(&reader->trace, packed.at, "packed numbers end within a number");
    if (reader->plan->slots[target->slot].place == PLACE_LIST && is_copied(target, element))
        return put_copies(reader, target, packed.at, *count, size);
    for (; !wire_done(&packed); packed.at += size) {
        reader->value_at = packed.at;
        if (!message_put(reader, target, size == 4 ? load32(packed.at) : load64(packed.at)))
            return false;
    }
    return true;
}

static bool fail_varints(struct message_reader *reader, const struct wire *packed) {
    uint64_t count;
    wire_count_varints(&count, packed, &reader->trace);
    return false;
}

/* Varints that become elements of eight bytes without a change. Room is made for as many as there
 * may be: one for each byte of a short run, which is faster than counting them first, or as many as
 * a fixed row still takes. */
static bool put_words(uint64_t *count, struct message_reader *reader,
                      const struct message_target *target, struct wire packed) {
    const struct slot *wanted = &reader->slots[target->slot];
    uint64_t *taken = &reader->state.taken[target->slot], max = wire_left(&packed);
    uint8_t *out;
    if (wanted->count) max = wanted->count - *taken;
    else if (max > SURELY_SMALL && !wire_count_varints(&max, &packed, &reader->trace)) return false;
    if (!message_append(&out, reader, target->slot, max)) return false;
    *count = varints_best()((int64_t *)(void *)out, max, packed.at, wire_left(&packed));
    if (*count == VARINTS_BAD) {
        if (!wire_count_varints(count, &packed, &reader->trace)) return false;
        return message_fail_count(reader, target->slot, wanted->count + 1);
    }
    if (wanted->count) *taken -= max - *count;
    else reader->sinks[target->slot].value_count -= max - *count;
    return true;
}

/* The size of the first varints, at most CHUNK bytes. */
static size_t cut_varints(const struct wire *packed) {
    size_t size = wire_left(packed);
    if (size <= CHUNK) return size;
    for (size = CHUNK; size > 0 && packed->at[size - 1] >= 0x80;) size--;
    return size;
}

static bool put_chunk(uint64_t *kept, struct message_reader *reader,
                      const struct message_target *target, const struct enum_def *closed,
                      const int64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = (uint64_t)values[i];
        if (closed && !enum_def_has(closed, (int32_t)(uint32_t)bits)) continue;
        ++*kept;
        if (!message_put(reader, target, bits)) return false;
    }
    return true;
}

/* All values of a chunk at once, if they go to a list and none is left out. */
static bool put_list_chunk(struct message_reader *reader, const struct message_target *target,
                           const int64_t *values, size_t count) {
    const enum message_form form = (enum message_form)target->form;
    const size_t size = target->size;
    uint8_t *out;
    bool is_outside = false;
    if (!message_append(&out, reader, target->slot, count)) return false;
    for (size_t i = 0; i < count; i++, out += size) {
        uint64_t value = message_integer(form, (uint64_t)values[i]);
        uint64_t word = message_value_align(value, (unsigned)size);
        is_outside |= value - (uint64_t)target->low > target->span;
        memcpy(out, &word, sizeof word);
    }
    if (!is_outside) return true;
    for (size_t i = 0; i < count; i++) {
        uint64_t word, bits = (uint64_t)values[i];
        if (!message_value_convert(&word, target, bits))
            return message_fail_range(reader, target, bits);
    }
    return true;
}

static bool put_varints(uint64_t *count, struct message_reader *reader,
                        const struct message_target *target, const struct enum_def *closed,
                        struct wire packed) {
    int64_t values[CHUNK + VARINTS_SLACK / sizeof(int64_t)];
    bool is_list = reader->plan->slots[target->slot].place == PLACE_LIST && !closed;
    recmap_element element = reader->slots[target->slot].element;
    bool is_word = element == RECMAP_ELEMENT_INT64
                       ? target->form == FORM_INT64
                       : element == RECMAP_ELEMENT_UINT64 && target->form == FORM_UINT64;
    *count = 0;
    if (is_list && is_word) return put_words(count, reader, target, packed);
    while (!wire_done(&packed)) {
        size_t cut = cut_varints(&packed);
        size_t some = varints_best()(values, CHUNK, packed.at, cut);
        if (!cut || some == VARINTS_BAD) return fail_varints(reader, &packed);
        reader->value_at = packed.at;
        if (is_list ? !put_list_chunk(reader, target, values, some)
                    : !put_chunk(count, reader, target, closed, values, some))
            return false;
        if (is_list) *count += some;
        packed.at += cut;
    }
    return true;
}

bool message_put_run(uint64_t *count, struct message_reader *reader,
                     const struct message_target *target, const struct enum_def *closed,
                     struct wire packed) {
    return target->form <= FORM_BOOL ? put_varints(count, reader, target, closed, packed)
                                     : put_fixed(count, reader, target, packed);
}
