#include "parse/decode/read_message.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/core/error.h"
#include "base/core/plural.h"
#include "parse/decode/list_decode.h"
#include "parse/decode/message_reader.h"
#include "parse/example/foreign.h"
#include "parse/varints/one_varint.h"

/* ---- Scopes. */

static uint64_t used_by(const struct message_reader *reader, uint32_t slot) {
    return reader->plan->slots[slot].is_fixed ? reader->state.taken[slot]
                                              : reader->sinks[slot].value_count;
}

/* Adds a value to the row of a slot. */
static inline bool append_one(uint8_t **place, struct message_reader *reader, uint32_t slot) {
    const struct message_slot *how = &reader->plan->slots[slot];
    struct sink *sink = &reader->sinks[slot];
    uint64_t used = sink->value_count;
    if (how->is_scalar) {
        *place = sink->values.data + reader->row * how->size;
        return true;
    }
    if (how->is_fixed || (used + 1) * how->size > sink->values.capacity)
        return message_append(place, reader, slot, 1);
    *place = sink->values.data + used * how->size;
    sink->value_count = used + 1;
    return true;
}

/* Each field that is not repeated has its default, until it is found. */
static bool begin_scope(struct message_reader *reader, const struct message_node *node) {
    const struct message_slot *slots = reader->plan->slots;
    for (size_t i = 0; i < node->mark_count; i++)
        reader->state.marks[node->marks[i].mark] = used_by(reader, node->marks[i].slot);
    for (size_t i = 0; i < node->single_count; i++) {
        uint32_t slot = node->singles[i];
        uint8_t **place = &reader->state.places[slot];
        if (!append_one(place, reader, slot)) return false;
        message_store_fill(*place, &slots[slot]);
    }
    return true;
}

/* Removes what was read from the other members of a oneof. */
static void clear_others(struct message_reader *reader, const struct message_op *op) {
    for (size_t i = 0; i < op->clear_count; i++) {
        uint32_t slot = op->clears[i].slot, mark = op->clears[i].mark;
        const struct message_slot *how = &reader->plan->slots[slot];
        if (how->place == PLACE_LATER) {
            reader->state.later[slot] = (recmap_bytes){NULL, 0};
            continue;
        }
        if (mark == MESSAGE_NONE) {
            message_store_fill(reader->state.places[slot], how);
            continue;
        }
        if (how->is_fixed) reader->state.taken[slot] = reader->state.marks[mark];
        else reader->sinks[slot].value_count = reader->state.marks[mark];
        if (how->place == PLACE_OPTIONAL) reader->state.places[slot] = NULL;
    }
}

static void count_elements(struct message_reader *reader, const struct message_op *op,
                           uint64_t count) {
    *(uint64_t *)(void *)reader->state.places[op->counter] += count;
}

/* ---- Fields. */

static bool read_node(struct message_reader *reader, uint32_t index, struct wire *wire,
                      uint32_t group);

static bool put_number(struct message_reader *reader, const struct message_op *op, uint64_t bits) {
    if (op->closed && !enum_def_has(op->closed, (int32_t)(uint32_t)bits)) return true;
    if (op->clear_count) clear_others(reader, op);
    for (size_t i = 0; i < op->target_count; i++)
        if (!message_put(reader, &op->targets[i], bits)) return false;
    if (op->counter != MESSAGE_NONE) count_elements(reader, op, 1);
    return true;
}

/* Counts the elements in the contents of a field: packed numbers, or one. */
static bool count_contents(uint64_t *count, struct message_reader *reader,
                           const struct message_op *op, struct wire contents) {
    *count = 1;
    if (op->counter_form == FORM_BYTES) return true;
    if (op->counter_form >= FORM_FIXED64) {
        *count = wire_left(&contents) / (op->counter_form >= FORM_FIXED32 ? 4 : 8);
        return true;
    }
    if (!op->closed) return wire_count_varints(count, &contents, &reader->trace);
    for (*count = 0; !wire_done(&contents);) {
        uint64_t bits;
        if (!wire_read_varint(&bits, &contents, &reader->trace)) return false;
        *count += enum_def_has(op->closed, (int32_t)(uint32_t)bits);
    }
    return true;
}

static bool put_contents(struct message_reader *reader, const struct message_op *op,
                         struct wire contents) {
    for (size_t i = 0; i < op->target_count; i++) {
        const struct message_target *target = &op->targets[i];
        uint64_t count;
        if (target->form == FORM_BYTES
                ? !message_put_view(reader, target, contents)
                : !message_put_run(&count, reader, target, op->closed, contents))
            return false;
    }
    if (op->counter != MESSAGE_NONE) {
        uint64_t count;
        if (!count_contents(&count, reader, op, contents)) return false;
        count_elements(reader, op, count);
    }
    if (!op->node) return true;
    if (op->is_element && !begin_scope(reader, &reader->plan->nodes[op->node])) return false;
    return read_node(reader, op->node, &contents, 0);
}

/* A group ends with a tag of its own, which read_node finds; one that nothing is read from is
 * skipped. */
static bool read_group(struct message_reader *reader, const struct message_op *op,
                       struct wire *wire) {
    if (op->counter != MESSAGE_NONE) count_elements(reader, op, 1);
    if (!op->node) return wire_skip(wire, op->tag, 0, &reader->trace);
    if (op->is_element && !begin_scope(reader, &reader->plan->nodes[op->node])) return false;
    return read_node(reader, op->node, wire, op->tag + WIRE_GROUP_END - WIRE_GROUP);
}

static bool fail_end(struct message_reader *reader, const struct wire *wire) {
    return wire_fail(&reader->trace, wire->at, "number runs past the end");
}

static inline uint64_t fast_integer(const struct message_op *op, uint64_t bits) {
    return op->fast == FAST_WORD ? bits
                                 : message_integer((enum message_form)op->targets->form, bits);
}

/* Reads varints that are usual fields, without a branch for each of their bytes, and with the start
 * of the next field in a register. Returns where another field starts, or one that is left to the
 * careful readers: near the end, too long, or of a value that the column cannot hold. */
static inline const uint8_t *read_varints(struct message_reader *reader,
                                          const struct message_node *node, const uint8_t *at,
                                          const uint8_t *end) {
    while ((size_t)(end - at) > sizeof(uint64_t) && *at < 0x80 && node->quick[*at]) {
        const struct message_op *op = &node->ops[node->quick[*at] - 1];
        const struct message_target *target = op->targets;
        if (op->fast != FAST_WORD && op->fast != FAST_VARINT) break;
        uint64_t word = load64(at + 1), ends = ~word & TOP_BITS;
        if (!ends) break;
        uint64_t value = fast_integer(op, fold8(word & (ends ^ (ends - 1))));
        if (value - (uint64_t)target->low > target->span) break;
        message_store(reader->state.places[target->slot], message_value_align(value, target->size));
        at += (size_t)__builtin_ctzll(ends) / 8 + 2;
    }
    return at;
}

/* The usual fields: see message_fast. */
static inline bool read_fast(struct message_reader *reader, const struct message_op *op,
                             struct wire *wire) {
    const struct message_target *target = op->targets;
    uint8_t *place = reader->state.places[target->slot];
    const uint8_t *start = wire->at;
    struct wire contents;
    uint64_t bits, value;
    switch ((enum message_fast)op->fast) {
    case FAST_WORD:
    case FAST_VARINT:
        if (!wire_read_varint(&bits, wire, &reader->trace)) return false;
        value = fast_integer(op, bits);
        reader->value_at = start;
        if (value - (uint64_t)target->low > target->span)
            return message_fail_range(reader, target, bits);
        message_store(place, message_value_align(value, target->size));
        return true;
    case FAST_FLOAT:
        if (wire_left(wire) < 4) return fail_end(reader, wire);
        message_store(place, message_value_align(load32(wire->at), 4));
        wire->at += 4;
        return true;
    case FAST_DOUBLE:
        if (wire_left(wire) < 8) return fail_end(reader, wire);
        message_store(place, load64(wire->at));
        wire->at += 8;
        return true;
    default:
        if (!wire_read_bytes(&contents, wire, &reader->trace)) return false;
        message_store_view(place, (recmap_bytes){contents.at, wire_left(&contents)});
        return true;
    }
}

static bool read_field(struct message_reader *reader, const struct message_op *op,
                       struct wire *wire) {
    uint64_t bits;
    struct wire contents;
    reader->value_at = wire->at;
    switch (op->tag & 7) {
    case WIRE_VARINT:
        return wire_read_varint(&bits, wire, &reader->trace) && put_number(reader, op, bits);
    case WIRE_FIXED64:
        if (wire_left(wire) < 8) return fail_end(reader, wire);
        bits = load64(wire->at);
        wire->at += 8;
        return put_number(reader, op, bits);
    case WIRE_FIXED32:
        if (wire_left(wire) < 4) return fail_end(reader, wire);
        bits = load32(wire->at);
        wire->at += 4;
        return put_number(reader, op, bits);
    case WIRE_BYTES:
        if (!wire_read_bytes(&contents, wire, &reader->trace)) return false;
        if (op->clear_count) clear_others(reader, op);
        return put_contents(reader, op, contents);
    default:
        if (op->clear_count) clear_others(reader, op);
        return read_group(reader, op, wire);
    }
}

static const struct message_op *find_op(const struct message_node *node, uint32_t tag) {
    size_t low = 0, high = node->op_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (node->ops[middle].tag < tag) low = middle + 1;
        else high = middle;
    }
    return low < node->op_count && node->ops[low].tag == tag ? &node->ops[low] : NULL;
}

/* Recursive, but only along the paths that were requested, which have at most PATH_STEPS_MAX parts:
 * bytes cannot make it deeper. `group` is the tag that ends a group, else 0. */
static bool read_node(struct message_reader *reader, uint32_t index, struct wire *wire,
                      uint32_t group) {
    const struct message_node *node = &reader->plan->nodes[index];
    while (!wire_done(wire)) {
        const struct message_op *op;
        uint32_t tag;
        wire->at = read_varints(reader, node, wire->at, wire->end);
        if (wire_done(wire)) break;
        if (*wire->at < 0x80) {
            tag = *wire->at++;
            op = node->quick[tag] ? &node->ops[node->quick[tag] - 1] : NULL;
        } else {
            if (!wire_read_tag(&tag, wire, &reader->trace)) return false;
            op = find_op(node, tag);
        }
        if (op) {
            if (op->fast ? !read_fast(reader, op, wire) : !read_field(reader, op, wire))
                return false;
            continue;
        }
        if (group && tag == group) return true;
        if (!wire_skip(wire, tag, 0, &reader->trace)) return false;
    }
    if (!group) return true;
    return wire_fail(&reader->trace, wire->at, "group does not end");
}

/* ---- The record. */

static void begin_row(struct message_reader *reader) {
    const struct message_plan *plan = reader->plan;
    struct message_state *state = &reader->state;
    for (size_t i = 0; i < plan->other_count; i++) {
        state->taken[plan->others[i]] = 0;
        state->places[plan->others[i]] = NULL;
    }
    if (plan->has_later) memset(state->later, 0, plan->slot_count * sizeof *state->later);
}

static bool fail_raw_size(struct message_reader *reader, const struct slot *slot, size_t size) {
    size_t element_size = recmap_element_size(slot->element);
    uint64_t wanted = (slot->count ? slot->count : slot->multiple) * element_size;
    reader->has_fault = true;
    return fault_set(reader->fault, RECMAP_FEATURE, SIZE_MAX,
                     "field '%.200s': %zu byte%s where raw %s %s needs %s%" PRIu64 " byte%s",
                     slot->name, size, plural(size), recmap_element_name(slot->element),
                     slot->shape, slot->count ? "" : "a multiple of ", wanted, plural(wanted));
}

/* Decodes the elements that the bytes of a raw slot hold. */
static bool finish_later(struct message_reader *reader, uint32_t index) {
    static const uint8_t nothing[1];
    const struct slot *slot = &reader->slots[index];
    struct sink *sink = &reader->sinks[index];
    recmap_bytes bytes = reader->state.later[index];
    if (!bytes.data && slot->fill) return true;
    if (!bytes.data) bytes = (recmap_bytes){nothing, 0};
    uint64_t begin = slot->count ? reader->row * slot->count : sink->value_count;
    struct list_decoder decoder = list_begin(sink, slot, begin);
    if (!list_bytes(&decoder, bytes.data, bytes.size) || !list_is_whole(&decoder)) {
        reader->has_fault = decoder.trouble == LIST_MEMORY || decoder.trouble == LIST_RANGE;
        if (decoder.trouble == LIST_MEMORY) return fault_memory(reader->fault);
        if (decoder.trouble == LIST_RANGE)
            return fault_set(reader->fault, RECMAP_FEATURE, (size_t)(decoder.bad_at - reader->data),
                             "field '%.200s': raw value %" PRIu64 " is not a %s", slot->name,
                             decoder.bad_index, recmap_element_name(slot->element));
        return fail_raw_size(reader, slot, bytes.size);
    }
    if (slot->count) reader->state.taken[index] = slot->count;
    else sink->value_count += decoder.count;
    return true;
}

/* A row without values takes the default, if there is one. */
static bool finish_fixed(struct message_reader *reader, uint32_t index) {
    const struct slot *slot = &reader->slots[index];
    uint64_t taken = reader->state.taken[index];
    size_t size = (size_t)slot->count * recmap_element_size(slot->element);
    if (taken == slot->count) return true;
    if (taken || !slot->fill) return message_fail_count(reader, index, taken);
    memcpy(reader->sinks[index].values.data + reader->row * size, slot->fill, size);
    return true;
}

static bool finish_rows(struct message_reader *reader, uint32_t index) {
    const struct slot *slot = &reader->slots[index];
    struct sink *sink = &reader->sinks[index];
    int64_t *rows = buffer_int64(&sink->rows) + reader->row;
    uint64_t count = sink->value_count - (uint64_t)rows[0];
    rows[1] = (int64_t)sink->value_count;
    return count % slot->multiple == 0 || message_fail_count(reader, index, count);
}

static bool check_lengths(struct message_reader *reader, const struct message_check *check) {
    const struct sink *sink = &reader->sinks[check->slot];
    const int64_t *rows = buffer_int64(&sink->rows) + reader->row;
    const struct slot *slot = &reader->slots[check->slot];
    for (int64_t i = rows[0]; i < rows[1]; i++) {
        uint64_t length = buffer_uint64(&sink->values)[i];
        if (length == check->length) continue;
        reader->has_fault = true;
        fault_set(reader->fault, RECMAP_FEATURE, SIZE_MAX,
                  "field '%.*s': an element has %" PRIu64 " value%s where the shape needs %" PRIu64,
                  slot->name_size < 200 ? (int)slot->name_size - 1 : 200, slot->name, length,
                  plural(length), check->length);
        fault_advise(reader->fault, "if the number varies, use `VarLen`");
        return false;
    }
    return true;
}

static bool finish_row(struct message_reader *reader) {
    const struct message_plan *plan = reader->plan;
    for (size_t i = 0; i < plan->other_count; i++) {
        uint32_t slot = plan->others[i];
        if (plan->slots[slot].place == PLACE_LATER && !finish_later(reader, slot)) return false;
        if (plan->slots[slot].is_fixed ? !finish_fixed(reader, slot) : !finish_rows(reader, slot))
            return false;
    }
    for (size_t i = 0; i < plan->check_count; i++)
        if (!check_lengths(reader, &plan->checks[i])) return false;
    return true;
}

/* What is wrong with bytes that are not a message. Other streams are named as what they are. */
static bool tell_trace(const struct message_reader *reader, size_t size) {
    const char *name = recmap_message_type_name(reader->plan->type);
    const char *what = *name ? name : "protobuf message";
    struct foreign foreign;
    if (foreign_is_stream(&foreign, reader->data, size)) {
        fault_set(reader->fault, RECMAP_CORRUPT, 0, "not a %.200s, but %s", what, foreign.name);
        fault_advise(reader->fault, "%s", foreign.advice);
        return false;
    }
    fault_set(reader->fault, RECMAP_CORRUPT, (size_t)(reader->trace.fault_at - reader->data),
              "not a %.200s: %s", what, reader->trace.reason);
    fault_advise(reader->fault, "the record is damaged or a message of another type: skip or "
                                "collect bad records");
    return false;
}

bool read_message(struct sink *sinks, struct message_state *state, const recmap_parser *parser,
                  const uint8_t *data, size_t size, size_t row, struct read_fault *fault) {
    static const uint8_t nothing[1];
    if (!size) data = nothing;
    struct message_reader reader = {.plan = (const struct message_plan *)parser->reader,
                                    .slots = parser->features.slots,
                                    .sinks = sinks,
                                    .state = *state,
                                    .row = row,
                                    .data = data,
                                    .value_at = data,
                                    .fault = fault};
    struct wire record = {data, data + size};
    begin_row(&reader);
    if (begin_scope(&reader, &reader.plan->nodes[0]) && read_node(&reader, 0, &record, 0) &&
        finish_row(&reader))
        return true;
    return reader.has_fault ? false : tell_trace(&reader, size);
}

/* Makes room for the state of the plan's slots. Its contents are undefined. */
static bool take_state(struct message_state *state, const struct message_plan *plan,
                       struct reader_memory *memory) {
    size_t count = plan->slot_count + 1;
    size_t size = count * (sizeof *state->later + sizeof *state->places + sizeof *state->taken) +
                  plan->mark_count * sizeof *state->marks;
    state->later = reader_memory_scratch(memory, size);
    if (!state->later) return false;
    state->places = (uint8_t **)(void *)(state->later + count);
    state->taken = (uint64_t *)(void *)(state->places + count);
    state->marks = state->taken + count;
    return true;
}

static bool read(const struct record_reader *base, struct sink *sinks, struct reader_memory *memory,
                 const recmap_parser *parser, const uint8_t *data, size_t size, size_t row,
                 struct read_fault *fault) {
    struct message_state state;
    if (!take_state(&state, (const struct message_plan *)base, memory)) return fault_memory(fault);
    return read_message(sinks, &state, parser, data, size, row, fault);
}

static void destroy(struct record_reader *base) {
    message_plan_destroy((struct message_plan *)base);
}

recmap_status message_reader_create(struct record_reader **reader, recmap_parser *parser,
                                    recmap_message_type *type, recmap_error *error) {
    struct message_plan *plan;
    RETURN_IF_FAILED(message_plan_create(&plan, parser, type, error));
    plan->base = (struct record_reader){.read = read, .destroy = destroy};
    *reader = &plan->base;
    return RECMAP_OK;
}
