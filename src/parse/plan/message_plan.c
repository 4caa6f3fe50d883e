#include "parse/plan/message_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "parse/example/wire.h"
#include "parse/plan/message_lengths.h"
#include "parse/plan/message_slot.h"
#include "parse/plan/plan_image.h"

enum { OPS_MAX = 16384, QUICK_TAGS = 128 };

/* ---- The tree. */

static recmap_status add_node(uint32_t *index, struct message_plan *plan,
                              const struct message_def *def, uint32_t scope, recmap_error *error) {
    if (!array_reserve(&plan->nodes, &plan->node_capacity, plan->node_count + 1,
                       sizeof *plan->nodes))
        return fail_memory(error);
    *index = (uint32_t)plan->node_count++;
    plan->nodes[*index] = (struct message_node){.def = def, .scope = scope};
    if (scope == MESSAGE_NONE) plan->nodes[*index].scope = *index;
    return RECMAP_OK;
}

/* Returns the number of operations with lower tags. */
static size_t find_place(const struct message_node *node, uint32_t tag) {
    size_t low = 0, high = node->op_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (node->ops[middle].tag < tag) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Finds or adds the operation of a tag. Operations stay sorted. */
static recmap_status find_op(struct message_op **op, struct message_node *node, uint32_t tag,
                             recmap_error *error) {
    size_t place = find_place(node, tag);
    if (place < node->op_count && node->ops[place].tag == tag) {
        *op = &node->ops[place];
        return RECMAP_OK;
    }
    if (node->op_count == OPS_MAX)
        return fail(error, RECMAP_INVALID, "a message has more than %d fields in its oneofs",
                    (int)OPS_MAX);
    if (!array_reserve(&node->ops, &node->op_capacity, node->op_count + 1, sizeof *node->ops))
        return fail_memory(error);
    *op = &node->ops[place];
    memmove(*op + 1, *op, (node->op_count++ - place) * sizeof **op);
    **op = (struct message_op){.tag = tag, .counter = MESSAGE_NONE};
    return RECMAP_OK;
}

static recmap_status find_field_op(struct message_op **op, struct message_node *node,
                                   const struct field_def *field, unsigned wire_type,
                                   recmap_error *error) {
    RETURN_IF_FAILED(find_op(op, node, field->number << 3 | wire_type, error));
    if (field->enumeration && field->enumeration->is_closed) (*op)->closed = field->enumeration;
    return RECMAP_OK;
}

/* Enters the submessage of a step, and adds its node if needed. */
static recmap_status enter(uint32_t *index, struct message_plan *plan, const struct path_step *step,
                           recmap_error *error) {
    const struct field_def *field = step->field;
    const uint32_t outer = *index;
    unsigned wire_type = field ? field_wire_type(field) : WIRE_BYTES;
    struct message_op *op;
    RETURN_IF_FAILED(find_op(&op, &plan->nodes[outer], step->number << 3 | wire_type, error));
    if (op->node) {
        *index = op->node;
        return RECMAP_OK;
    }
    bool is_element = field && field->is_repeated;
    op->is_element = is_element;
    RETURN_IF_FAILED(add_node(index, plan, field ? field->message : NULL,
                              is_element ? MESSAGE_NONE : plan->nodes[outer].scope, error));
    /* The nodes have moved, but not their operations. */
    op->node = *index;
    return RECMAP_OK;
}

/* ---- Slots. */

static recmap_status add_target(struct message_op *op, const struct message_target *target,
                                recmap_error *error) {
    if (!array_reserve(&op->targets, &op->target_capacity, op->target_count + 1,
                       sizeof *op->targets))
        return fail_memory(error);
    op->targets[op->target_count++] = *target;
    return RECMAP_OK;
}

static recmap_status add_single(struct message_node *scope, uint32_t slot, recmap_error *error) {
    if (!array_reserve(&scope->singles, &scope->single_capacity, scope->single_count + 1,
                       sizeof *scope->singles))
        return fail_memory(error);
    scope->singles[scope->single_count++] = slot;
    return RECMAP_OK;
}

/* Adds the operations of the last field of a path: for numbers single and packed values, or for
 * lengths the counter of its elements. */
static recmap_status add_last(struct message_node *node, const struct field_def *field,
                              uint32_t slot, const recmap_parser *parser, bool is_length,
                              recmap_error *error) {
    unsigned types[] = {field_wire_type(field), WIRE_BYTES};
    size_t count = field->is_repeated && field_is_packable(field) ? 2 : 1;
    struct message_target target = message_target_of(&parser->features.slots[slot], field);
    target.slot = slot;
    for (size_t i = 0; i < count; i++) {
        struct message_op *op;
        RETURN_IF_FAILED(find_field_op(&op, node, field, types[i], error));
        if (!is_length) {
            RETURN_IF_FAILED(add_target(op, &target, error));
            continue;
        }
        op->counter = slot;
        op->counter_form = count == 2 && i == 1 ? target.form : FORM_BYTES;
    }
    return RECMAP_OK;
}

/* The same without a known type: the element tells what the wire types mean. */
static recmap_status add_unknown(struct message_node *node, uint32_t number, uint32_t slot,
                                 const recmap_parser *parser, recmap_error *error) {
    static const unsigned types[] = {WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES, WIRE_FIXED32};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct message_target target;
        struct message_op *op;
        if (!message_target_guess(&target, &parser->features.slots[slot], types[i])) continue;
        target.slot = slot;
        RETURN_IF_FAILED(find_op(&op, node, number << 3 | types[i], error));
        RETURN_IF_FAILED(add_target(op, &target, error));
    }
    return RECMAP_OK;
}

/* ---- Members of a oneof. */

/* Returns the mark of a slot in a scope, or MESSAGE_NONE if memory runs out. */
static uint32_t find_mark(struct message_plan *plan, struct message_node *scope, uint32_t slot) {
    for (size_t i = 0; i < scope->mark_count; i++)
        if (scope->marks[i].slot == slot) return scope->marks[i].mark;
    if (!array_reserve(&scope->marks, &scope->mark_capacity, scope->mark_count + 1,
                       sizeof *scope->marks))
        return MESSAGE_NONE;
    scope->marks[scope->mark_count++] = (struct message_mark){slot, plan->mark_count};
    return plan->mark_count++;
}

static recmap_status add_clear(struct message_op *op, const struct message_clear *clear,
                               recmap_error *error) {
    if (!array_reserve(&op->clears, &op->clear_capacity, op->clear_count + 1, sizeof *op->clears))
        return fail_memory(error);
    op->clears[op->clear_count++] = *clear;
    return RECMAP_OK;
}

/* Every other member of the oneof of `field`, requested or not, clears what the slot read from it.
 */
static recmap_status add_clears(struct message_plan *plan, uint32_t index,
                                const struct field_def *field, uint32_t slot, uint32_t slot_scope,
                                recmap_error *error) {
    if (!field || field->oneof == SIZE_MAX) return RECMAP_OK;
    struct message_node *node = &plan->nodes[index];
    struct message_clear clear = {slot, MESSAGE_NONE};
    enum message_place place = plan->slots[slot].place;
    bool is_reset = (place == PLACE_SINGLE && slot_scope == node->scope) || place == PLACE_LATER;
    if (!is_reset) {
        clear.mark = find_mark(plan, &plan->nodes[node->scope], slot);
        if (clear.mark == MESSAGE_NONE) return fail_memory(error);
    }
    for (size_t i = 0; i < node->def->count; i++) {
        const struct field_def *member = &node->def->fields[i];
        struct message_op *op;
        if (member->oneof != field->oneof || member == field) continue;
        RETURN_IF_FAILED(find_field_op(&op, node, member, field_wire_type(member), error));
        RETURN_IF_FAILED(add_clear(op, &clear, error));
    }
    return RECMAP_OK;
}

/* ---- Paths. */

static recmap_status add_path(struct message_plan *plan, const recmap_parser *parser,
                              const struct message_path *path, uint32_t slot, bool is_length,
                              recmap_error *error) {
    uint32_t nodes[PATH_STEPS_MAX] = {0}, index = 0;
    for (size_t i = 0; i + 1 < path->count; i++) {
        RETURN_IF_FAILED(enter(&index, plan, &path->steps[i], error));
        nodes[i + 1] = index;
    }
    const struct path_step *last = &path->steps[path->count - 1];
    uint32_t scope = plan->nodes[index].scope;
    if (last->field)
        RETURN_IF_FAILED(
            add_last(&plan->nodes[index], last->field, slot, parser, is_length, error));
    else RETURN_IF_FAILED(add_unknown(&plan->nodes[index], last->number, slot, parser, error));
    if (plan->slots[slot].place == PLACE_SINGLE)
        RETURN_IF_FAILED(add_single(&plan->nodes[scope], slot, error));
    for (size_t i = 0; i < path->count; i++)
        RETURN_IF_FAILED(add_clears(plan, nodes[i], path->steps[i].field, slot, scope, error));
    return RECMAP_OK;
}

/* Adds the slots of lengths of a shape whose dimensions are repeated fields. */
static recmap_status add_checks(struct message_plan *plan, recmap_parser *parser,
                                const struct slot *slot, const struct message_path *path,
                                recmap_error *error) {
    const struct slot checked = *slot; /* the set may grow */
    size_t shift = checked.count ? 0 : 1;
    for (size_t level = 1; level < path->levels; level++) {
        const char *key = message_length_key(&parser->memory, checked.name, path, level);
        if (!key || !array_reserve(&plan->checks, &plan->check_capacity, plan->check_count + 1,
                                   sizeof *plan->checks))
            return fail_memory(error);
        plan->checks[plan->check_count++] = (struct message_check){
            (uint32_t)slot_set_add_key(parser, key), checked.sizes[level - shift]};
    }
    return RECMAP_OK;
}

static recmap_status add_slot(struct message_plan *plan, recmap_parser *parser, size_t index,
                              recmap_error *error) {
    const struct slot *slot = &parser->features.slots[index];
    struct message_path path;
    size_t size = slot->name_size;
    bool is_length = size && slot->name[size - 1] == LENGTH_MARK;
    RETURN_IF_FAILED(message_path_find(&path, plan->type, slot->name, size - is_length, error));
    RETURN_IF_FAILED(message_slot_init(&plan->slots[index], slot, &path, is_length, error));
    RETURN_IF_FAILED(add_path(plan, parser, &path, (uint32_t)index, is_length, error));
    if (path.levels < 2 || !slot->dimension_count) return RECMAP_OK;
    return add_checks(plan, parser, slot, &path, error);
}

static enum message_fast fast_of(const struct message_plan *plan, const struct message_op *op) {
    if (op->target_count != 1 || op->node || op->counter != MESSAGE_NONE || op->closed ||
        op->clear_count || plan->slots[op->targets[0].slot].place != PLACE_SINGLE)
        return FAST_NONE;
    const struct message_target *target = &op->targets[0];
    unsigned wire_type = op->tag & 7;
    if (wire_type == WIRE_BYTES) return target->form == FORM_BYTES ? FAST_VIEW : FAST_NONE;
    if (target->form == FORM_FLOAT)
        return target->element == RECMAP_ELEMENT_FLOAT32 ? FAST_FLOAT : FAST_NONE;
    if (target->form == FORM_DOUBLE)
        return target->element == RECMAP_ELEMENT_FLOAT64 ? FAST_DOUBLE : FAST_NONE;
    if (wire_type != WIRE_VARINT) return FAST_NONE;
    return target->form == FORM_INT64 || target->form == FORM_UINT64 ? FAST_WORD : FAST_VARINT;
}

static void finish_node(struct message_plan *plan, struct message_node *node) {
    for (size_t i = 0; i < node->op_count; i++) {
        if (node->ops[i].tag < QUICK_TAGS) node->quick[node->ops[i].tag] = (uint16_t)(i + 1);
        node->ops[i].fast = (uint8_t)fast_of(plan, &node->ops[i]);
    }
}

static recmap_status finish_plan(struct message_plan *plan, recmap_error *error) {
    plan->others = calloc(plan->slot_count + 1, sizeof *plan->others);
    if (!plan->others) return fail_memory(error);
    for (size_t i = 0; i < plan->slot_count; i++) {
        plan->has_later |= plan->slots[i].place == PLACE_LATER;
        if (!plan->slots[i].is_scalar) plan->others[plan->other_count++] = (uint32_t)i;
    }
    for (size_t i = 0; i < plan->node_count; i++) finish_node(plan, &plan->nodes[i]);
    return RECMAP_OK;
}

/* Slots of lengths are added to the set while it is read. */
static recmap_status fill_plan(struct message_plan *plan, recmap_parser *parser,
                               recmap_error *error) {
    uint32_t root;
    plan->slots = calloc(parser->features.capacity + 1, sizeof *plan->slots);
    if (!plan->slots) return fail_memory(error);
    RETURN_IF_FAILED(add_node(&root, plan, plan->type->root, MESSAGE_NONE, error));
    for (size_t i = 0; i < parser->features.count; i++)
        RETURN_IF_FAILED(add_slot(plan, parser, i, error));
    plan->slot_count = parser->features.count;
    return finish_plan(plan, error);
}

recmap_status message_plan_create(struct message_plan **plan, recmap_parser *parser,
                                  recmap_message_type *type, recmap_error *error) {
    struct message_plan *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->type = recmap_message_type_retain(type);
    recmap_status status = fill_plan(fresh, parser, error);
    if (status == RECMAP_OK) *plan = fresh;
    else message_plan_destroy(fresh);
    return status;
}

static void deinit_node(struct message_node *node) {
    for (size_t i = 0; i < node->op_count; i++) {
        free(node->ops[i].targets);
        free(node->ops[i].clears);
    }
    free(node->ops);
    free(node->singles);
    free(node->marks);
}

void message_plan_destroy(struct message_plan *plan) {
    if (!plan) return;
    for (size_t i = 0; i < plan->node_count; i++) deinit_node(&plan->nodes[i]);
    free(plan->nodes);
    free(plan->slots);
    free(plan->checks);
    free(plan->others);
    recmap_message_type_release(plan->type);
    free(plan);
}
