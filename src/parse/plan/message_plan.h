/* Where the slots of a parser are in messages: a tree of the messages that lead to them.
 *
 * A node of the tree is a message that is read, and an *operation* of it is what to do with a field
 * of a certain tag: values go to slots, a submessage is another node. A field whose tag has no
 * operation is skipped, also if its number is known but not its wire type, as protobuf does.
 *
 * A *scope* is the root, or one element of a repeated submessage. A field that is not repeated has
 * one value in each scope, which is the default when the scope begins and is overwritten whenever
 * the field occurs. Submessages that are not repeated belong to the scope around them, so reading
 * one twice merges them. */
#ifndef RECMAP_PARSE_PLAN_MESSAGE_PLAN_H
#define RECMAP_PARSE_PLAN_MESSAGE_PLAN_H

#include <recmap/message.h>

#include "parse/message/message_form.h"
#include "parse/plan/plan.h"

/* Where the values of a slot go. */
enum message_place {
    PLACE_SINGLE,   /* one in each scope */
    PLACE_OPTIONAL, /* none or one in the record */
    PLACE_LIST,     /* appended */
    PLACE_LATER,    /* bytes, whose elements are decoded when the record was read */
};

struct message_slot {
    uint64_t fill;          /* PLACE_SINGLE: the bits of the element at the start of a scope; */
    recmap_bytes fill_view; /* the same for BYTES */
    enum message_place place;
    uint8_t size; /* of an element */
    bool is_bytes;
    bool is_fixed;  /* its rows have a fixed number of values */
    bool is_scalar; /* one value, which is single in the root */
};

/* How the usual values of a field are stored at once: one target, with one value in each scope, and
 * nothing else to do. */
enum message_fast {
    FAST_NONE,
    FAST_WORD,   /* varints whose bits are the integer */
    FAST_VARINT, /* other varints */
    FAST_FLOAT,  /* the same bytes in the record and in the column */
    FAST_DOUBLE,
    FAST_VIEW,
};

/* One slot that takes the values of a field. */
struct message_target {
    uint32_t slot;
    uint8_t form, element, size; /* size: of the element */
    int64_t low;   /* of integers: the lowest value of the element that the form may have, */
    uint64_t span; /* and the highest value minus it */
};

/* What a member of a oneof does to the slots of the others. */
struct message_clear {
    uint32_t slot;
    uint32_t
        mark; /* values after the mark are removed; MESSAGE_NONE: the value becomes the default */
};

#define MESSAGE_NONE UINT32_MAX

struct message_op {
    uint32_t tag;
    uint8_t fast;         /* a message_fast */
    uint32_t node;        /* of a submessage, or 0 */
    bool is_element;      /* the submessage is one of a repeated field: a scope begins */
    uint32_t counter;     /* the slot that counts the elements of the field, or MESSAGE_NONE */
    uint8_t counter_form; /* of the elements, if the tag is that of packed ones; else FORM_BYTES */
    const struct enum_def *closed; /* other numbers are unknown fields */
    struct message_target *targets;
    size_t target_count, target_capacity;
    struct message_clear *clears;
    size_t clear_count, clear_capacity;
};

/* A slot whose number of values is remembered when a scope begins. */
struct message_mark {
    uint32_t slot;
    uint32_t mark;
};

struct message_node {
    const struct message_def *def; /* NULL if it is not known */
    uint32_t scope;                /* the node of its scope */
    uint16_t quick[128];           /* the operation of a tag of one byte, plus 1; else 0 */
    struct message_op *ops;        /* by tag */
    size_t op_count, op_capacity;
    uint32_t *singles; /* of a scope: slots with one value */
    size_t single_count, single_capacity;
    struct message_mark *marks; /* of a scope */
    size_t mark_count, mark_capacity;
};

/* A slot of lengths whose values must all be the same. */
struct message_check {
    uint32_t slot;
    uint64_t length;
};

struct message_plan {
    struct record_reader base; /* which parse/decode fills in */
    recmap_message_type *type;
    struct message_slot *slots; /* one for each slot of the parser's features */
    size_t slot_count;
    struct message_node *nodes; /* the first is the root */
    size_t node_count, node_capacity;
    uint32_t *others; /* slots that are not scalars */
    size_t other_count;
    struct message_check *checks;
    size_t check_count, check_capacity;
    uint32_t mark_count;
    bool has_later; /* a slot of PLACE_LATER */
};

/* Finds the slots of a compiled parser in messages of the type, and adds slots of lengths to them
 * for shapes with several dimensions. Errors: INVALID, naming the path; NO_MEMORY. */
recmap_status message_plan_create(struct message_plan **plan, recmap_parser *parser,
                                  recmap_message_type *type, recmap_error *error);
void message_plan_destroy(struct message_plan *plan);

/* Copies features of messages into `memory`: a VAR_LEN of a path with several repeated fields
 * becomes a RAGGED that is partitioned by the lengths of these fields. Errors: INVALID for SLICED
 * and for a path that the type does not have; NO_MEMORY. */
recmap_status message_features_expand(recmap_feature **expanded, struct arena *memory,
                                      const recmap_message_type *type,
                                      const recmap_feature *features, size_t count,
                                      recmap_error *error);

#endif
