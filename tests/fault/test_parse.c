/* Parsing when memory is out: every allocation fails in turn, once or from then on, in every call
 * of parsers, columns and their exports. And batches of one kind allocate nothing any more. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/arrow.h>
#include <recmap/dlpack.h>

#include "fault/cases.h"
#include "fault/interpose.h"
#include "unit/parse/columns/parse_specs.h"
#include "unit/parse/columns/parse_text.h"

#define KINDS                                                                                      \
    {.name = "a", .kind = FIXED, .element = I64, SHAPE(2, 1), DEFAULTS(INT64(-1))},                \
        {.name = "d", .kind = FIXED, .element = STR, DEFAULTS(TEXT("a_default_of_many_bytes"))},   \
        {.name = "v", .kind = VAR, .element = RECMAP_ELEMENT_INT16},                               \
        {.name = "t", .kind = VAR, .element = STR, .bytes_mode = RECMAP_BYTES_COPY},               \
        {.name = "s",                                                                              \
         .key = "t",                                                                               \
         .kind = SEQUENCE,                                                                         \
         .element = STR,                                                                           \
         .bytes_mode = RECMAP_BYTES_COPY,                                                          \
         DEFAULTS(TEXT("pad"))},                                                                   \
        {.name = "q", .key = "v", .kind = SEQUENCE, .element = I64, SHAPE(2), .unpadded = 1},      \
        {.name = "r",                                                                              \
         .key = "v",                                                                               \
         .kind = RAGGED,                                                                           \
         .element = I64,                                                                           \
         PARTITIONS({RECMAP_PARTITION_UNIFORM, NULL, 1}, {RECMAP_PARTITION_ROW_LENGTHS, "n", 0},   \
                    {RECMAP_PARTITION_UNIFORM, NULL, 2})},                                         \
        {.name = "p", .key = "v", .kind = SPARSE, .element = I64, INDICES("x", "x"), SIZES(9, 9)}, \
        {.name = "f",                                                                              \
         .kind = FIXED,                                                                            \
         .element = RECMAP_ELEMENT_BOOL,                                                           \
         SHAPE(2),                                                                                 \
         DEFAULTS(INT64(1))},                                                                      \
    {                                                                                              \
        .name = "h", .key = "g", .kind = VAR, .element = RECMAP_ELEMENT_BFLOAT16                   \
    }

static struct text_batch batch;

/* All kinds of a SequenceExample, both ways to export them, and what is found in the end. */
struct run {
    recmap_parser *parser;
    recmap_columns *columns;
    struct ArrowArray array;
    struct ArrowSchema schema, stream;
    DLManagedTensor *tensor;
    DLManagedTensorVersioned *versioned;
};

static recmap_status create(struct run *run, recmap_error *error) {
    const recmap_feature features[] = {KINDS};
    const recmap_feature lists[] = {
        {.name = "l", .kind = VAR, .element = STR},
        {.name = "m", .kind = SEQUENCE, .element = I64, SHAPE(2), DEFAULTS(INT64(9))}};
    return recmap_parser_create_sequence(&run->parser, features, COUNT(features), lists,
                                         COUNT(lists), error);
}

static recmap_status make_columns(struct run *run, recmap_error *error) {
    return recmap_columns_create(&run->columns, error);
}

static recmap_status parse(struct run *run, recmap_error *error) {
    return recmap_parser_parse(run->columns, run->parser, batch.records, batch.count,
                               RECMAP_PARSE_COLLECT, error);
}

static recmap_status export_arrow(struct run *run, recmap_error *error) {
    return recmap_columns_export_arrow(&run->array, &run->schema, run->columns, error);
}

/* While what was exported lives the next batch needs other memory. */
static recmap_status parse_again(struct run *run, recmap_error *error) {
    return parse(run, error);
}

static recmap_status export_schema(struct run *run, recmap_error *error) {
    return recmap_parser_export_arrow_schema(&run->stream, run->parser, error);
}

static recmap_status export_tensor(struct run *run, recmap_error *error) {
    return recmap_columns_export_dlpack(&run->tensor, run->columns, 0, RECMAP_TENSOR_VALUES, 0,
                                        error);
}

static recmap_status export_versioned(struct run *run, recmap_error *error) {
    return recmap_columns_export_dlpack_versioned(&run->versioned, run->columns, 7,
                                                  RECMAP_TENSOR_INDICES, 0, error);
}

static int records_released;

static void release_records(void *owner) {
    (void)owner;
    records_released++;
}

static recmap_status export_records(struct run *run, recmap_error *error) {
    struct ArrowArray array;
    struct ArrowSchema schema;
    int before = records_released;
    (void)run;
    recmap_status status = recmap_records_export_arrow(&array, &schema, batch.records, batch.count,
                                                       NULL, release_records, error);
    if (status == RECMAP_OK) {
        array.release(&array);
        schema.release(&schema);
    }
    if (records_released != before + 1) return RECMAP_MISMATCH;
    return status;
}

static const struct step {
    const char *name;
    recmap_status (*run)(struct run *run, recmap_error *error);
} steps[] = {
    {"parser", create},        {"columns", make_columns},       {"parse", parse},
    {"arrow", export_arrow},   {"parse again", parse_again},    {"schema", export_schema},
    {"dlpack", export_tensor}, {"versioned", export_versioned}, {"records", export_records}};

static void end_run(struct run *run) {
    recmap_columns_destroy(run->columns);
    recmap_parser_release(run->parser);
    if (run->array.release) run->array.release(&run->array);
    if (run->schema.release) run->schema.release(&run->schema);
    if (run->stream.release) run->stream.release(&run->stream);
    if (run->tensor) run->tensor->deleter(run->tensor);
    if (run->versioned) run->versioned->deleter(run->versioned);
}

/* A step that may run out of memory. If only one allocation failed, the step is repeated. */
static const char *take_step(const struct step *step, struct run *run, bool is_sticky) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = step->run(run, &error);
    if (status == RECMAP_OK) return NULL;
    if (status != RECMAP_NO_MEMORY || error.status != RECMAP_NO_MEMORY)
        return case_says("%s says %s: %s", step->name, recmap_status_name(status), error.message);
    if (interpose_hits() == 0) return case_says("%s had all memory", step->name);
    if (is_sticky) return "";
    status = step->run(run, &error);
    if (status == RECMAP_OK) return NULL;
    return case_says("%s fails again: %s", step->name, error.message);
}

static const char *check_values(const struct run *run) {
    const recmap_column *q = recmap_columns_find(run->columns, "q");
    const recmap_column *m = recmap_columns_find(run->columns, "m");
    if (recmap_columns_failure_count(run->columns) != 1) return "failures are missing";
    if (!q || !m || q->value_count != 4 || m->value_count != 3 * 2 * 2) return "values are missing";
    return strcmp(describe_column(q), "[[[1, 2], [3, 4]], ~[], ~[]]") ? "q is wrong" : NULL;
}

static const char *run_case(void *context, size_t number) {
    struct run run = {0};
    bool is_sticky = number % 2;
    (void)context;
    struct holdings before = holdings_now();
    struct call_plan plan = {.kinds = CALL_BIT(CALL_ALLOCATE),
                             .at = number / 2 + 1,
                             .is_sticky = is_sticky,
                             .fault = FAULT_ERRNO,
                             .code = ENOMEM};
    const char *wrong = NULL;
    interpose_start(&plan);
    for (size_t i = 0; !wrong && i < COUNT(steps); i++)
        wrong = take_step(&steps[i], &run, is_sticky);
    interpose_stop();
    if (!wrong) wrong = check_values(&run);
    if (wrong && !*wrong) wrong = NULL;
    end_run(&run);
    return wrong ? wrong : holdings_check(&before);
}

static void test_parsing_reports_failed_allocations(void **state) {
    (void)state;
    struct run run = {0};
    struct call_plan plan = {.kinds = CALL_BIT(CALL_ALLOCATE)};
    interpose_start(&plan);
    for (size_t i = 0; i < COUNT(steps); i++) assert_int_equal(steps[i].run(&run, NULL), RECMAP_OK);
    uint64_t count = interpose_stop();
    assert_null(check_values(&run));
    end_run(&run);
    assert_true(count > 100);
    assert_int_equal(cases_run("parsing without memory", 2 * count, 1, run_case, NULL), 0);
}

/* The first two batches make room; after that only exports allocate. */
static void test_later_batches_allocate_only_exports(void **state) {
    (void)state;
    struct run run = {0};
    struct call_plan plan = {.kinds = CALL_BIT(CALL_ALLOCATE)};
    assert_int_equal(create(&run, NULL), RECMAP_OK);
    assert_int_equal(make_columns(&run, NULL), RECMAP_OK);
    assert_int_equal(parse(&run, NULL), RECMAP_OK);
    interpose_start(&plan);
    for (int i = 0; i < 20; i++) parse(&run, NULL);
    assert_int_equal(interpose_stop(), 0);
    assert_null(check_values(&run));

    /* With one export always alive the memory of two batches goes round. */
    for (int i = 0; i < 4; i++) {
        DLManagedTensor *last = run.tensor;
        assert_int_equal(export_tensor(&run, NULL), RECMAP_OK);
        if (last) last->deleter(last);
        interpose_start(&plan);
        parse(&run, NULL);
        assert_int_equal(interpose_stop() > 0, i == 0);
    }
    end_run(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parsing_reports_failed_allocations),
        cmocka_unit_test(test_later_batches_allocate_only_exports),
    };
    batch_add(&batch,
              "a=i:1,2 d=b:a_text_of_many_bytes v=i:1,2,3,4 t=b:one,two,a_third_of_many_bytes "
              "n=i:2 x=i:3,1,2,0 f=i:0,1 g=f:1,2 | l=[b:a_step_of_many_bytes][?] m=[i:1,2][i:3,4]",
              1);
    batch_add(&batch, "a=f:1", 1);
    batch_add(&batch, "| m=[i:1,2]", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
