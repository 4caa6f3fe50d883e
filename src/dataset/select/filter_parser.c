/* Parses expressions over lifted columns, by recursive descent:
 *
 *     condition   = conjunction { "or" conjunction }
 *     conjunction = negation { "and" negation }
 *     negation    = "not" negation | "(" condition ")" | comparison
 *     comparison  = operand relation { relation } [ ending ] | operand ending
 *     relation    = ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) operand
 *     ending      = ["not"] "in" list | "is" ["not"] "null"
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/words/near_name.h"
#include "dataset/open/dataset.h"
#include "dataset/select/filter.h"
#include "dataset/select/filter_lexer.h"

enum { EXPRESSION_SIZE_MAX = 100000, DEPTH_MAX = 300 };

struct operand {
    bool is_column;
    size_t column; /* of the filter */
    struct filter_value value;
    size_t start, size; /* in the expression */
};

struct parser {
    recmap_filter *filter;
    struct filter_lexer lexer;
    size_t depth;
    recmap_error *error;
};

static recmap_status fail_token(struct parser *parser, const char *what) {
    const struct filter_token *token = &parser->lexer.token;
    return filter_fail(&parser->lexer, token->start, token->size, parser->error, what);
}

static recmap_status fail_operand(struct parser *parser, const struct operand *operand,
                                  const char *what) {
    return filter_fail(&parser->lexer, operand->start, operand->size, parser->error, what);
}

static recmap_status next(struct parser *parser) {
    return filter_lexer_next(&parser->lexer, parser->error);
}

/* ---- The tree. */

static recmap_status add_node(size_t *node, struct parser *parser, struct filter_node value) {
    recmap_filter *filter = parser->filter;
    if (!array_reserve(&filter->nodes, &filter->node_capacity, filter->node_count + 1,
                       sizeof *filter->nodes))
        return fail_memory(parser->error);
    *node = filter->node_count++;
    filter->nodes[*node] = value;
    return RECMAP_OK;
}

/* Adds a parent of `first` and, if that is not FILTER_NO_NODE, of `second`. */
static recmap_status add_parent(size_t *node, struct parser *parser, enum filter_kind kind,
                                size_t first, size_t second) {
    RETURN_IF_FAILED(add_node(
        node, parser,
        (struct filter_node){.kind = kind, .first_child = first, .next_sibling = FILTER_NO_NODE}));
    parser->filter->nodes[first].next_sibling = second;
    return RECMAP_OK;
}

/* Appends a condition to a list of conditions that a node of `kind` combines. */
static recmap_status append(size_t *node, size_t *last, struct parser *parser,
                            enum filter_kind kind, size_t condition) {
    if (*node == FILTER_NO_NODE) *node = condition;
    else if (*last == FILTER_NO_NODE)
        RETURN_IF_FAILED(add_parent(node, parser, kind, *node, condition));
    else parser->filter->nodes[*last].next_sibling = condition;
    if (*node != condition) *last = condition;
    return RECMAP_OK;
}

/* ---- Columns. */

/* Suggests a column with a similar name, or how to add one, and lists those that the advice has
 * room for. */
static void advise_columns(struct parser *parser, const char *name, size_t size) {
    const recmap_dataset *dataset = parser->filter->dataset;
    char list[256] = "", wanted[NEAR_NAME_MAX + 1] = "FEATURE", prefix[300];
    struct near_name near = NEAR_NAME_INIT;
    size_t used = 0;
    for (size_t i = 0; i < recmap_dataset_get_info(dataset)->lifted_column_count; i++) {
        recmap_lifted_column column;
        if (recmap_dataset_get_lifted_column(&column, dataset, i, NULL) != RECMAP_OK) continue;
        size_t other = strlen(column.name);
        near_name_offer(&near, name, size, column.name, other);
        if (used + other + 8 > sizeof list) continue;
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", column.name);
    }
    if (near.name) {
        fail_advise(parser->error, "did you mean '%s'? the columns are %s", near.name, list);
        return;
    }
    if (size < sizeof wanted) snprintf(wanted, sizeof wanted, "%.*s", (int)size, name);
    if (name[0] == '@') {
        fail_advise(parser->error, "the columns are %s", list);
        return;
    }
    snprintf(prefix, sizeof prefix, "the columns are %s; ", list);
    dataset_advise_lift(parser->error, dataset, wanted, prefix);
}

static recmap_status fail_column(struct parser *parser, size_t start, const char *name,
                                 size_t size) {
    char place[FILTER_PLACE_SIZE];
    fail(parser->error, RECMAP_NO_COLUMN, "%sthe index has no column '%.*s'",
         filter_place(place, &parser->lexer, start, 0), (int)(size < 200 ? size : 200), name);
    fail_file(parser->error, dataset_path(parser->filter->dataset));
    const char *advice = filter_word_advice(name, size);
    if (advice) fail_advise(parser->error, "%s", advice);
    else advise_columns(parser, name, size);
    return RECMAP_NO_COLUMN;
}

/* Finds a column of the data set whose name has these bytes. */
static bool find_index(struct filter_column *found, const recmap_dataset *dataset, const char *name,
                       size_t size) {
    for (size_t i = 0; i < recmap_dataset_get_info(dataset)->lifted_column_count; i++) {
        recmap_lifted_column column;
        if (recmap_dataset_get_lifted_column(&column, dataset, i, NULL) != RECMAP_OK) continue;
        if (strlen(column.name) != size || memcmp(column.name, name, size) != 0) continue;
        *found = (struct filter_column){
            .index = i, .type = column.type, .has_nulls = column.null_count != 0};
        return true;
    }
    return false;
}

/* `length` is the column "@length", unless a column has that name. */
static recmap_status find_column(size_t *column, struct parser *parser, size_t start,
                                 const char *name, size_t size) {
    recmap_filter *filter = parser->filter;
    struct filter_column found;
    if (!find_index(&found, filter->dataset, name, size) &&
        (size != 6 || memcmp(name, "length", 6) != 0 ||
         !find_index(&found, filter->dataset, "@length", 7)))
        return fail_column(parser, start, name, size);
    for (*column = 0; *column < filter->column_count; ++*column)
        if (filter->columns[*column].index == found.index) return RECMAP_OK;
    if (!array_reserve(&filter->columns, &filter->column_capacity, filter->column_count + 1,
                       sizeof *filter->columns))
        return fail_memory(parser->error);
    filter->columns[filter->column_count++] = found;
    return RECMAP_OK;
}

/* ---- Operands. */

static bool is_reserved(const struct filter_lexer *lexer) {
    static const char *const words[] = {"and",  "or",   "not",   "in",   "is",  "if",
                                        "else", "True", "False", "None", "for", "lambda"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (filter_lexer_is(lexer, words[i])) return true;
    return false;
}

/* Parses `["NAME"]` after `columns`. */
static recmap_status parse_subscript(struct operand *operand, struct parser *parser) {
    RETURN_IF_FAILED(next(parser));
    struct filter_token name = parser->lexer.token;
    if (name.kind != FILTER_TOKEN_TEXT)
        return fail_token(parser, "this must be the name of a column, in quotes");
    RETURN_IF_FAILED(next(parser));
    if (!filter_lexer_is(&parser->lexer, "]")) return fail_token(parser, "`]` is missing");
    operand->size = parser->lexer.position - operand->start;
    RETURN_IF_FAILED(
        find_column(&operand->column, parser, operand->start, name.text, name.text_size));
    return next(parser);
}

static recmap_status parse_column(struct operand *operand, struct parser *parser) {
    struct filter_token name = parser->lexer.token;
    bool is_columns = filter_lexer_is(&parser->lexer, "columns");
    if (is_reserved(&parser->lexer)) return fail_token(parser, "this is not a column or a value");
    RETURN_IF_FAILED(next(parser));
    operand->is_column = true;
    if (is_columns && filter_lexer_is(&parser->lexer, "[")) return parse_subscript(operand, parser);
    if (filter_lexer_is(&parser->lexer, "(") || filter_lexer_is(&parser->lexer, "["))
        return fail_operand(parser, operand, "an expression cannot call or index anything");
    if (parser->lexer.token.kind == FILTER_TOKEN_TEXT)
        return fail_operand(parser, operand, "only b'...' can be before a text");
    return find_column(&operand->column, parser, name.start, parser->lexer.expression + name.start,
                       name.size);
}

/* An integer as a value of int64, if it is not beyond that type. */
static void set_integer(struct filter_value *value, uint64_t integer, bool is_negative) {
    value->is_beyond = integer > (uint64_t)INT64_MAX + is_negative;
    value->is_double = value->is_beyond;
    if (!value->is_beyond) value->value.as.int64 = (int64_t)(is_negative ? -integer : integer);
}

/* A float as a value of int64 if it is an integer, which is then compared exactly. */
static void set_float(struct filter_value *value) {
    double number = value->number;
    value->is_beyond = !(number >= -0x1p63 && number < 0x1p63);
    value->is_double = value->is_beyond || (double)(int64_t)number != number;
    if (!value->is_double) value->value.as.int64 = (int64_t)number;
}

/* The value of the current number. An int64 column can be compared with doubles only if they are
 * fractions: these are so small that rounding an int64 to a double changes no comparison. Numbers
 * beyond int64 are marked, because as doubles they can equal an int64: 9223372036854775808 is
 * (double)INT64_MAX. */
static struct filter_value number_value(const struct filter_token *token, bool is_negative) {
    struct filter_value value = {.number = is_negative ? -token->number : token->number};
    value.value.type = RECMAP_TYPE_INT64;
    if (token->kind == FILTER_TOKEN_INTEGER) set_integer(&value, token->integer, is_negative);
    else set_float(&value);
    return value;
}

static recmap_status parse_value(struct operand *operand, struct parser *parser) {
    const struct filter_token *token = &parser->lexer.token;
    bool is_negative = filter_lexer_is(&parser->lexer, "-");
    bool has_sign = is_negative || filter_lexer_is(&parser->lexer, "+");
    if (has_sign) RETURN_IF_FAILED(next(parser));
    if (token->kind == FILTER_TOKEN_INTEGER || token->kind == FILTER_TOKEN_FLOAT) {
        operand->value = number_value(token, is_negative);
    } else if (token->kind == FILTER_TOKEN_TEXT && !has_sign) {
        operand->value.value.type = RECMAP_TYPE_BYTES;
        operand->value.value.as.bytes.data = (const uint8_t *)token->text;
        operand->value.value.as.bytes.size = token->text_size;
    } else {
        return fail_token(parser, "this is not a column or a value");
    }
    operand->size = parser->lexer.position - operand->start;
    return next(parser);
}

static recmap_status parse_operand(struct operand *operand, struct parser *parser) {
    const struct filter_token *token = &parser->lexer.token;
    *operand = (struct operand){.start = token->start, .size = token->size};
    if (token->kind == FILTER_TOKEN_END)
        return fail_token(parser, "the expression ends where a column or a value is missing");
    if (token->kind == FILTER_TOKEN_NAME) return parse_column(operand, parser);
    return parse_value(operand, parser);
}

/* ---- Comparisons. */

static bool is_text(const struct parser *parser, const struct operand *operand) {
    recmap_type type = operand->is_column ? parser->filter->columns[operand->column].type
                                          : operand->value.value.type;
    return type == RECMAP_TYPE_BYTES;
}

/* Such a comparison would select nothing. A column of an empty data set may have no type. */
static recmap_status check_kinds(struct parser *parser, const struct operand *left,
                                 const struct operand *right) {
    const struct operand *operands[] = {left, right};
    for (size_t i = 0; i < 2; i++)
        if (operands[i]->is_column &&
            parser->filter->columns[operands[i]->column].type == RECMAP_TYPE_NONE)
            return RECMAP_OK;
    if (is_text(parser, left) == is_text(parser, right)) return RECMAP_OK;
    return fail_operand(parser, left, "text and numbers cannot be compared");
}

/* The same relation with exchanged sides. */
static enum filter_operator mirrored(enum filter_operator relation) {
    switch (relation) {
    case FILTER_LESS: return FILTER_GREATER;
    case FILTER_LESS_EQUAL: return FILTER_GREATER_EQUAL;
    case FILTER_GREATER: return FILTER_LESS;
    case FILTER_GREATER_EQUAL: return FILTER_LESS_EQUAL;
    case FILTER_EQUAL:
    case FILTER_NOT_EQUAL: break;
    }
    return relation;
}

static recmap_status add_comparison(size_t *node, struct parser *parser,
                                    enum filter_operator relation, const struct operand *left,
                                    const struct operand *right) {
    if (!left->is_column && !right->is_column)
        return fail_operand(parser, left, "neither side of this comparison is a column");
    RETURN_IF_FAILED(check_kinds(parser, left, right));
    struct filter_node comparison = {
        .kind = left->is_column && right->is_column ? FILTER_COMPARE_COLUMNS : FILTER_COMPARE_VALUE,
        .relation = left->is_column ? relation : mirrored(relation),
        .first_child = FILTER_NO_NODE,
        .next_sibling = FILTER_NO_NODE,
        .column = left->is_column ? left->column : right->column,
        .other = right->column,
        .value = left->is_column ? right->value : left->value,
    };
    return add_node(node, parser, comparison);
}

int filter_value_compare(const recmap_value *a, const recmap_value *b) {
    if (a->type == RECMAP_TYPE_INT64)
        return (a->as.int64 > b->as.int64) - (a->as.int64 < b->as.int64);
    if (a->type == RECMAP_TYPE_FLOAT)
        return (a->as.float32 > b->as.float32) - (a->as.float32 < b->as.float32);
    if (a->type == RECMAP_TYPE_FLOAT64)
        return (a->as.float64 > b->as.float64) - (a->as.float64 < b->as.float64);
    size_t a_size = a->as.bytes.size, b_size = b->as.bytes.size;
    size_t common = a_size < b_size ? a_size : b_size;
    int difference = common ? memcmp(a->as.bytes.data, b->as.bytes.data, common) : 0;
    return difference ? difference : (a_size > b_size) - (a_size < b_size);
}

static int compare_items(const void *a, const void *b) {
    return filter_value_compare(a, b);
}

/* Converts an item of a list to the type of the column. Returns false if no value of the column can
 * be equal. A column without a type has no values. */
static bool convert_item(struct filter_value *value, recmap_type type) {
    if (type == RECMAP_TYPE_FLOAT) {
        value->value.type = RECMAP_TYPE_FLOAT;
        value->value.as.float32 = (float)value->number;
        return value->number == value->number;
    }
    if (type == RECMAP_TYPE_FLOAT64) {
        value->value.type = RECMAP_TYPE_FLOAT64;
        value->value.as.float64 = value->number;
        return value->number == value->number;
    }
    if (type == RECMAP_TYPE_NONE) return false;
    return type != RECMAP_TYPE_INT64 || !value->is_double;
}

static recmap_status add_item(struct parser *parser, const struct operand *left,
                              struct operand *item) {
    recmap_filter *filter = parser->filter;
    if (item->is_column) return fail_operand(parser, item, "a list can only contain values");
    RETURN_IF_FAILED(check_kinds(parser, left, item));
    if (!convert_item(&item->value, filter->columns[left->column].type)) return RECMAP_OK;
    if (!array_reserve(&filter->values, &filter->value_capacity, filter->value_count + 1,
                       sizeof *filter->values))
        return fail_memory(parser->error);
    filter->values[filter->value_count++] = item->value.value;
    return RECMAP_OK;
}

static recmap_status parse_items(struct parser *parser, const struct operand *left,
                                 const char *end) {
    while (!filter_lexer_is(&parser->lexer, end)) {
        struct operand item;
        RETURN_IF_FAILED(parse_operand(&item, parser));
        RETURN_IF_FAILED(add_item(parser, left, &item));
        if (filter_lexer_is(&parser->lexer, end)) break;
        if (!filter_lexer_is(&parser->lexer, ",")) return fail_token(parser, "`,` is missing");
        RETURN_IF_FAILED(next(parser));
    }
    return next(parser);
}

/* Parses the list after `in`. Its values are sorted, to be searched. */
static recmap_status parse_list(size_t *node, struct parser *parser, enum filter_kind kind,
                                const struct operand *left) {
    static const char opening[] = "([{", *const closing[] = {")", "]", "}"};
    const struct filter_lexer *lexer = &parser->lexer;
    const char *bracket = lexer->token.kind == FILTER_TOKEN_SYMBOL
                              ? strchr(opening, lexer->expression[lexer->token.start])
                              : NULL;
    if (!left->is_column) return fail_operand(parser, left, "this is not a column");
    if (!bracket) return fail_token(parser, "this is not a list of values");
    struct filter_node found = {.kind = kind,
                                .first_child = FILTER_NO_NODE,
                                .next_sibling = FILTER_NO_NODE,
                                .column = left->column,
                                .first_value = parser->filter->value_count};
    RETURN_IF_FAILED(next(parser));
    RETURN_IF_FAILED(parse_items(parser, left, closing[bracket - opening]));
    found.value_count = parser->filter->value_count - found.first_value;
    if (found.value_count)
        qsort(parser->filter->values + found.first_value, found.value_count, sizeof(recmap_value),
              compare_items);
    return add_node(node, parser, found);
}

static bool parse_relation(enum filter_operator *relation, const struct filter_lexer *lexer) {
    static const char *const symbols[] = {"==", "!=", "<", "<=", ">", ">="};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        if (!filter_lexer_is(lexer, symbols[i])) continue;
        *relation = (enum filter_operator)i;
        return true;
    }
    return false;
}

static bool continues_chain(const struct filter_lexer *lexer) {
    enum filter_operator relation;
    return parse_relation(&relation, lexer) || filter_lexer_is(lexer, "in") ||
           filter_lexer_is(lexer, "not") || filter_lexer_is(lexer, "is");
}

/* Nothing may follow a list or `null` in a chain: Python would compare it with what follows. */
static recmap_status check_end(struct parser *parser, const char *what) {
    return continues_chain(&parser->lexer) ? fail_token(parser, what) : RECMAP_OK;
}

/* Parses `in LIST` or `not in LIST`. */
static recmap_status parse_membership(size_t *node, struct parser *parser,
                                      const struct operand *left) {
    bool is_negated = filter_lexer_is(&parser->lexer, "not");
    if (is_negated) RETURN_IF_FAILED(next(parser));
    if (!filter_lexer_is(&parser->lexer, "in")) return fail_token(parser, "`in` is missing");
    RETURN_IF_FAILED(next(parser));
    RETURN_IF_FAILED(parse_list(node, parser, is_negated ? FILTER_NOT_IN : FILTER_IN, left));
    return check_end(parser, "a list cannot be compared: join conditions with `and`");
}

/* Parses `is null` or `is not null`. */
static recmap_status parse_null(size_t *node, struct parser *parser, const struct operand *left) {
    if (!left->is_column) return fail_operand(parser, left, "this is not a column");
    RETURN_IF_FAILED(next(parser));
    bool is_negated = filter_lexer_is(&parser->lexer, "not");
    if (is_negated) RETURN_IF_FAILED(next(parser));
    if (!filter_lexer_is(&parser->lexer, "null"))
        return fail_token(parser, "only `null` can be after `is`: use `==` to compare");
    RETURN_IF_FAILED(next(parser));
    struct filter_node test = {.kind = is_negated ? FILTER_IS_NOT_NULL : FILTER_IS_NULL,
                               .first_child = FILTER_NO_NODE,
                               .next_sibling = FILTER_NO_NODE,
                               .column = left->column};
    RETURN_IF_FAILED(add_node(node, parser, test));
    return check_end(parser, "null cannot be compared: join conditions with `and`");
}

/* Parses one link of a chain; `left` becomes its right operand. */
static recmap_status parse_link(size_t *node, struct parser *parser, struct operand *left) {
    enum filter_operator relation;
    const struct filter_lexer *lexer = &parser->lexer;
    if (filter_lexer_is(lexer, "is")) return parse_null(node, parser, left);
    if (!parse_relation(&relation, lexer)) return parse_membership(node, parser, left);
    struct operand right;
    RETURN_IF_FAILED(next(parser));
    RETURN_IF_FAILED(parse_operand(&right, parser));
    RETURN_IF_FAILED(add_comparison(node, parser, relation, left, &right));
    *left = right;
    return RECMAP_OK;
}

/* `a < b < c` is `a < b and b < c`. */
static recmap_status parse_comparison(size_t *node, struct parser *parser) {
    struct operand left;
    RETURN_IF_FAILED(parse_operand(&left, parser));
    if (!continues_chain(&parser->lexer)) {
        if (parser->lexer.token.kind == FILTER_TOKEN_END)
            return fail_operand(parser, &left, "this is not a condition");
        return fail_token(parser, "a comparison is missing before this");
    }
    size_t last = FILTER_NO_NODE;
    *node = FILTER_NO_NODE;
    while (continues_chain(&parser->lexer)) {
        size_t link = FILTER_NO_NODE;
        RETURN_IF_FAILED(parse_link(&link, parser, &left));
        RETURN_IF_FAILED(append(node, &last, parser, FILTER_AND, link));
    }
    return RECMAP_OK;
}

/* ---- Conditions. */

static recmap_status parse_condition(size_t *node, struct parser *parser);

static recmap_status parse_negation(size_t *node, struct parser *parser) {
    bool is_not = filter_lexer_is(&parser->lexer, "not");
    if (!is_not && !filter_lexer_is(&parser->lexer, "(")) return parse_comparison(node, parser);
    if (++parser->depth > DEPTH_MAX)
        return fail_token(parser, "the expression is nested too deeply");
    RETURN_IF_FAILED(next(parser));
    size_t child = FILTER_NO_NODE;
    if (is_not) {
        RETURN_IF_FAILED(parse_negation(&child, parser));
        parser->depth--;
        return add_parent(node, parser, FILTER_NOT, child, FILTER_NO_NODE);
    }
    RETURN_IF_FAILED(parse_condition(node, parser));
    if (!filter_lexer_is(&parser->lexer, ")")) return fail_token(parser, "`)` is missing");
    parser->depth--;
    return next(parser);
}

/* Parses conditions separated by `and` or `or`. */
static recmap_status parse_list_of(size_t *node, struct parser *parser, const char *word,
                                   enum filter_kind kind) {
    size_t last = FILTER_NO_NODE;
    *node = FILTER_NO_NODE;
    parser->depth++;
    for (;;) {
        size_t condition = FILTER_NO_NODE;
        RETURN_IF_FAILED(kind == FILTER_OR ? parse_list_of(&condition, parser, "and", FILTER_AND)
                                           : parse_negation(&condition, parser));
        RETURN_IF_FAILED(append(node, &last, parser, kind, condition));
        if (!filter_lexer_is(&parser->lexer, word)) break;
        RETURN_IF_FAILED(next(parser));
    }
    parser->depth--;
    return RECMAP_OK;
}

static recmap_status parse_condition(size_t *node, struct parser *parser) {
    return parse_list_of(node, parser, "or", FILTER_OR);
}

recmap_status filter_parse(recmap_filter *filter, const char *expression, size_t size,
                           recmap_error *error) {
    struct parser parser = {.filter = filter, .error = error};
    if (size > EXPRESSION_SIZE_MAX) {
        fail(error, RECMAP_INVALID, "the expression has more than %d bytes", EXPRESSION_SIZE_MAX);
        fail_advise(error, "add a column that marks the records, with `recmap annotate`, and "
                           "compare that column");
        return RECMAP_INVALID;
    }
    filter->texts = malloc(size + 1);
    if (!filter->texts) return fail_memory(error);
    parser.lexer = filter_lexer_init(expression, size, filter->texts);
    RETURN_IF_FAILED(next(&parser));
    RETURN_IF_FAILED(parse_condition(&filter->root, &parser));
    if (parser.lexer.token.kind == FILTER_TOKEN_END) return RECMAP_OK;
    return fail_token(&parser, "this is not part of a condition");
}
