/* Allocations that fail while records are built, read from JSON, written as JSON and added to a
 * schema: NO_MEMORY, nothing leaked, the object as it was, so that the same call then succeeds. And
 * none at all once a builder has made a record as large. */
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

#include <recmap/example.h>
#include <recmap/example_builder.h>

#include "fault/cases.h"
#include "fault/interpose.h"

enum { LABELS = 300, STEPS = 40 };

/* What the steps work on. Each step may be called again after it failed. */
struct session {
    recmap_example_builder *builder;
    recmap_schema *schema;
    recmap_text text;
    const uint8_t *data;
    size_t size;
    int64_t labels[LABELS];
};

static recmap_status create(struct session *session, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    if (!session->builder) status = recmap_example_builder_create(&session->builder, error);
    if (status == RECMAP_OK) status = recmap_schema_create(&session->schema, error);
    return status;
}

static recmap_status add_lists(struct session *session, recmap_error *error) {
    static const char *const names[] = {"words", "frames", "words"};
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < 3; i++) {
        status = recmap_example_builder_begin_list(session->builder, names[i], error);
        for (size_t step = 0; status == RECMAP_OK && step < STEPS; step++)
            status = recmap_example_builder_add_int64(session->builder, NULL, session->labels, step,
                                                      error);
        recmap_example_builder_end_list(session->builder);
    }
    return status;
}

/* Many features in no order, each replaced once; and feature lists. */
static recmap_status build(struct session *session, recmap_error *error) {
    static const float weights[] = {1, 2, 3};
    recmap_bytes image = {(const uint8_t *)session->labels, sizeof session->labels};
    recmap_status status = RECMAP_OK;
    recmap_example_builder_begin(session->builder, RECMAP_MESSAGE_SEQUENCE_EXAMPLE);
    for (unsigned i = 0; status == RECMAP_OK && i < 80; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", i * 7 % 40);
        status = recmap_example_builder_add_int64(session->builder, name, session->labels, LABELS,
                                                  error);
    }
    if (status == RECMAP_OK)
        status = recmap_example_builder_add_float(session->builder, "weights", weights, 3, error);
    if (status == RECMAP_OK)
        status = recmap_example_builder_add_bytes(session->builder, "image", &image, 1, error);
    if (status == RECMAP_OK)
        status = recmap_example_builder_add_unset(session->builder, "unset", error);
    if (status == RECMAP_OK) status = add_lists(session, error);
    return status == RECMAP_OK ? recmap_example_builder_finish(&session->data, &session->size,
                                                               session->builder, error)
                               : status;
}

static recmap_status write_json(struct session *session, recmap_error *error) {
    recmap_record record = {session->data, session->size, 1, NULL};
    session->text.size = 0;
    return recmap_record_to_json(&session->text, &record, error);
}

static recmap_status add_to_schema(struct session *session, recmap_error *error) {
    return recmap_schema_add(session->schema, session->data, session->size, error);
}

static recmap_status read_json(struct session *session, recmap_error *error) {
    return recmap_example_builder_read_json(&session->data, &session->size, session->builder,
                                            session->text.data, session->text.size, error);
}

/* What needs every kind of memory that reading has. */
static recmap_status read_escapes(struct session *session, recmap_error *error) {
    static const char text[] =
        "{\"features\":{\"feature\":{\"a\\u0062\":{\"bytesList\":{\"value\":[\"eA\\u003d=\"]}},"
        "\"a\\n\":{\"floatList\":{\"value\":[\"N\\u0061N\"]}}}}}";
    return recmap_example_builder_read_json(&session->data, &session->size, session->builder, text,
                                            sizeof text - 1, error);
}

static recmap_status read_base64(struct session *session, recmap_error *error) {
    static const char text[] = "{\"number\":1,\"base64\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}";
    return recmap_example_builder_read_json(&session->data, &session->size, session->builder, text,
                                            sizeof text - 1, error);
}

static recmap_status describe(struct session *session, recmap_error *error) {
    session->text.size = 0;
    return recmap_schema_to_json(&session->text, session->schema, error);
}

typedef recmap_status (*step_fn)(struct session *session, recmap_error *error);

/* read_escapes and read_base64 come first: the builder has no memory yet then. */
static const step_fn steps[] = {create,        read_escapes, read_base64, build,
                                add_to_schema, write_json,   read_json,   describe};

enum { STEP_COUNT = sizeof steps / sizeof *steps };

/* What the run gave in the end: the record, and the schema. */
struct outcome {
    char *schema;
    size_t size;
    uint64_t sum;
};

static struct outcome expected;

static struct outcome outcome_of(const struct session *session) {
    struct outcome found = {.schema = session->text.data, .size = session->size};
    for (size_t i = 0; i < session->size; i++) found.sum = found.sum * 31 + session->data[i];
    return found;
}

static const char *check_step(size_t step, struct session *session, bool is_sticky) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = steps[step](session, &error);
    if (status == RECMAP_OK) return NULL;
    if (status != RECMAP_NO_MEMORY || error.status != status || error.system_errno != ENOMEM)
        return case_says("step %zu: %s: %s", step, recmap_status_name(status), error.message);
    if (is_sticky) return "";
    if (steps[step](session, &error) != RECMAP_OK)
        return case_says("step %zu fails a second time: %s", step, error.message);
    return NULL;
}

static void begin(struct session *session) {
    memset(session, 0, sizeof *session);
    for (size_t i = 0; i < LABELS; i++) session->labels[i] = (int64_t)(i * i);
}

static void end(struct session *session) {
    recmap_example_builder_destroy(session->builder);
    recmap_schema_destroy(session->schema);
    recmap_text_deinit(&session->text);
}

/* "" where the run had to stop for good. */
static const char *run_steps(struct session *session, bool is_sticky) {
    const char *wrong = NULL;
    for (size_t i = 0; !wrong && i < STEP_COUNT; i++) wrong = check_step(i, session, is_sticky);
    return wrong;
}

/* Lets one allocation fail, or that one and all later ones, in turn. The result must be the
 * expected record and schema or a reported error, and nothing may leak. */
static const char *run_case(void *context, size_t number) {
    bool is_sticky = number % 2;
    struct call_plan plan = {.kinds = CALL_BIT(CALL_ALLOCATE),
                             .at = number / 2 + 1,
                             .is_sticky = is_sticky,
                             .fault = FAULT_ERRNO,
                             .code = ENOMEM};
    (void)context;
    struct session session;
    begin(&session);
    struct holdings before = holdings_now();
    interpose_start(&plan);
    const char *wrong = run_steps(&session, is_sticky);
    interpose_stop();
    if (!wrong) {
        struct outcome found = outcome_of(&session);
        if (found.size != expected.size || found.sum != expected.sum) wrong = "another record";
        else if (strcmp(found.schema, expected.schema) != 0) wrong = "another schema";
    } else if (!*wrong) {
        wrong = NULL;
    }
    end(&session);
    if (!wrong) wrong = holdings_check(&before);
    if (!wrong) return NULL;
    char text[1024];
    snprintf(text, sizeof text, "%s", wrong);
    return case_says("allocation %zu%s: %s", number / 2 + 1, is_sticky ? " and all after" : "",
                     text);
}

static void test_failed_allocations_are_reported(void **state) {
    (void)state;
    struct call_plan plan = {.kinds = CALL_BIT(CALL_ALLOCATE)};
    struct session session;
    begin(&session);
    interpose_start(&plan);
    const char *wrong = run_steps(&session, true);
    uint64_t count = interpose_stop();
    assert_null(wrong);
    assert_true(count > 30);
    expected = outcome_of(&session);
    assert_int_equal(cases_run("memory, example", 2 * count, 1, run_case, NULL), 0);
    end(&session);
}

/* Records of all sizes and orders, when the largest has been made before. */
static void test_steady_state_allocates_nothing(void **state) {
    (void)state;
    struct call_plan plan = {.kinds = CALL_BIT(CALL_ALLOCATE)};
    struct session session;
    begin(&session);
    assert_int_equal(create(&session, NULL), RECMAP_OK);
    assert_int_equal(build(&session, NULL), RECMAP_OK);
    assert_int_equal(write_json(&session, NULL), RECMAP_OK);
    assert_int_equal(read_json(&session, NULL), RECMAP_OK);
    assert_int_equal(read_escapes(&session, NULL), RECMAP_OK);
    interpose_start(&plan);
    recmap_status status = RECMAP_OK;
    for (unsigned round = 0; status == RECMAP_OK && round < 20; round++) {
        for (size_t i = 0; i < LABELS; i++) session.labels[i] /= 2;
        status = build(&session, NULL);
        if (status == RECMAP_OK) status = read_json(&session, NULL);
        if (status == RECMAP_OK) status = read_escapes(&session, NULL);
    }
    uint64_t count = interpose_stop();
    assert_int_equal(status, RECMAP_OK);
    assert_int_equal(count, 0);
    end(&session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failed_allocations_are_reported),
        cmocka_unit_test(test_steady_state_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
