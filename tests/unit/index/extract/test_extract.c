/* Lifting ids and columns out of records: what each kind of record gives, and what the error says
 * when it gives something else. */
#include "index/extract/extract.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/tables/ids.h"
#include "index/tables/lifted.h"
#include "support/index/build.h"
#include "support/shards/features.h"

static const recmap_lift lifts[] = {{"n", "1", 0}, {"x", NULL, 0}, {"word", "w", 0}};

static struct extractor *make(const char *id, size_t lift_count) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct extractor *extractor;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = id;
    options.lifts = lifts;
    options.lift_count = lift_count;
    ASSERT_OK(extractor_create(&extractor, &options, &error), &error);
    return extractor;
}

/* Lifts out of an Example with these features into a fresh run of one record. */
static recmap_status lift(struct record_run *run, const struct extractor *lifting,
                          struct buffer *features, recmap_error *error) {
    struct buffer example = BUFFER_INIT;
    features_end(&example, features);
    assert_true(run_init(run, extractor_has_ids(lifting), extractor_column_count(lifting), 0));
    assert_true(run_add(run, 0, example.size, 0));
    recmap_status status = extractor_lift(lifting, run, example.data, example.size, error);
    buffer_deinit(&example);
    return status;
}

/* One feature of each type is lifted. The columns are in the order of the options, not of the
 * record, and features that nobody asked for are ignored. */
static void test_features_of_each_type_are_lifted(void **state) {
    (void)state;
    struct extractor *lifting = make("id", 3);
    recmap_error error = RECMAP_ERROR_INIT;
    struct buffer features = BUFFER_INIT;
    struct record_run run;
    features_add_text(&features, "word", "cat");
    features_add_float(&features, "x", 0.25f);
    features_add_int64(&features, "n", -7);
    features_add_int64(&features, "other", 5);
    features_add_text(&features, "id", "me");
    ASSERT_OK(lift(&run, lifting, &features, &error), &error);
    recmap_value id = text_value("me");
    assert_int_equal(run.ids[0], id_hash(&id));
    assert_true(run_column_at(&run, 0, 0).as.int64 == -7);
    assert_true(run_column_at(&run, 1, 0).as.float32 == 0.25f);
    recmap_value word = run_column_at(&run, 2, 0);
    assert_int_equal(word.type, RECMAP_TYPE_BYTES);
    assert_int_equal(word.as.bytes.size, 3);
    assert_memory_equal(word.as.bytes.data, "cat", 3);
    run_deinit(&run);
    extractor_destroy(lifting);
}

/* Advice is given for the first record that lacks a column without a default, as long as the run
 * has that record. */
static void test_advice_is_given_for_the_first_missing_feature(void **state) {
    (void)state;
    struct extractor *lifting = make(NULL, 3);
    recmap_error error = RECMAP_ERROR_INIT;
    struct buffer features = BUFFER_INIT, example = BUFFER_INIT;
    struct record_run run;
    features_add_int64(&features, "X1", 1);
    ASSERT_OK(lift(&run, lifting, &features, &error), &error);
    assert_string_equal(run_advice_at(&run, 0),
                        "did you mean \"X1\"? the record's features: \"X1\"");
    features_add_int64(&features, "x2", 1);
    features_end(&example, &features);
    for (int i = 0; i < 2; i++) {
        assert_true(run_add(&run, 0, example.size, 0));
        ASSERT_OK(extractor_lift(lifting, &run, example.data, example.size, &error), &error);
    }
    assert_string_equal(run_advice_at(&run, 0),
                        "did you mean \"X1\"? the record's features: \"X1\"");
    assert_string_equal(run_advice_at(&run, 1), "");
    run_truncate(&run, 1);
    assert_true(run_advice_at(&run, 0)[0]);
    run_truncate(&run, 0);
    assert_string_equal(run_advice_at(&run, 0), "");
    assert_true(run_add(&run, 0, example.size, 0));
    ASSERT_OK(extractor_lift(lifting, &run, example.data, example.size, &error), &error);
    assert_string_equal(run_advice_at(&run, 0),
                        "did you mean \"x2\"? the record's features: \"x2\"");
    run_clear(&run);
    assert_string_equal(run_advice_at(&run, 0), "");
    buffer_deinit(&example);
    run_deinit(&run);
    extractor_destroy(lifting);
}

/* Features that are not there, or hold nothing, are missing: no id, no value. */
static void test_empty_features_are_missing(void **state) {
    (void)state;
    struct extractor *lifting = make("id", 3);
    recmap_error error = RECMAP_ERROR_INIT;
    struct buffer features = BUFFER_INIT;
    struct record_run run;
    features_add_nothing(&features, "id");
    features_add_nothing(&features, "n");
    ASSERT_OK(lift(&run, lifting, &features, &error), &error);
    assert_true(run.ids[0] == IDS_NONE);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(run_column_at(&run, i, 0).type, RECMAP_TYPE_NONE);
    run_deinit(&run);
    extractor_destroy(lifting);
}

static void assert_feature_error(struct buffer *features, const char *message) {
    struct extractor *lifting = make("id", 3);
    recmap_error error = RECMAP_ERROR_INIT;
    struct record_run run;
    assert_int_equal(lift(&run, lifting, features, &error), RECMAP_FEATURE);
    assert_non_null(strstr(error.message, message));
    assert_true(error.advice[0]);
    run_deinit(&run);
    extractor_destroy(lifting);
}

/* Two values where one is needed, an id of type float, and bytes that are one longer than a column
 * stores. The longest that fits is stored. */
static void test_values_that_do_not_do(void **state) {
    (void)state;
    struct buffer features = BUFFER_INIT;
    features_add_pair(&features, "id");
    assert_feature_error(&features, "feature \"id\" has 2 values");
    features_add_pair(&features, "n");
    assert_feature_error(&features, "feature \"n\" has 2 values");
    features_add_float(&features, "id", 1);
    assert_feature_error(&features, "an id is bytes or int64");
    char text[COLUMN_BYTES_MAX + 1];
    memset(text, 'x', sizeof text);
    features_add_bytes(&features, "word", text, sizeof text);
    assert_feature_error(&features, "longer than 255 bytes");
    struct extractor *lifting = make(NULL, 3);
    recmap_error error = RECMAP_ERROR_INIT;
    struct record_run run;
    features_add_bytes(&features, "word", text, sizeof text - 1);
    ASSERT_OK(lift(&run, lifting, &features, &error), &error);
    assert_int_equal(run_column_at(&run, 2, 0).as.bytes.size, 255);
    run_deinit(&run);
    extractor_destroy(lifting);
}

static void test_other_records_are_refused_or_ignored(void **state) {
    (void)state;
    struct extractor *lifting = make("id", 0), *nothing = make(NULL, 0);
    recmap_error error = RECMAP_ERROR_INIT;
    struct record_run run;
    assert_true(run_init(&run, true, 0, 0));
    assert_true(run_add(&run, 0, 4, 0));
    const uint8_t *junk = (const uint8_t *)"\xff\xff\xff\xff";
    assert_int_equal(extractor_lift(lifting, &run, junk, 4, &error), RECMAP_FEATURE);
    assert_non_null(strstr(error.message, "is not a tf.Example"));
    ASSERT_OK(extractor_lift(nothing, &run, junk, 4, &error), &error);
    recmap_value id;
    struct id_room room;
    assert_int_equal(extractor_read_id(&id, &room, lifting, junk, 4, &error), RECMAP_FEATURE);
    run_deinit(&run);
    extractor_destroy(lifting);
    extractor_destroy(nothing);
    extractor_destroy(NULL);
}

/* What the callback does is told by its context. */
enum deed { GIVE, GIVE_FLOAT_ID, FAIL, FAIL_IN_SILENCE, FILL_MESSAGE };

/* The callback under test. It checks that it gets a record without a number and empty outputs, and
 * then does what its context says. */
static recmap_status act(const recmap_record *record, recmap_value *id, recmap_value *columns,
                         size_t column_count, char *message, size_t message_capacity,
                         void *context) {
    assert_true(record->number == RECMAP_NO_RECORD);
    assert_null(record->pin);
    for (size_t i = 0; i < column_count; i++) assert_int_equal(columns[i].type, RECMAP_TYPE_NONE);
    if (id) assert_int_equal(id->type, RECMAP_TYPE_NONE);
    switch (*(enum deed *)context) {
    case GIVE:
        if (id) *id = int64_value((int64_t)record->size);
        if (column_count) columns[0] = int64_value(5);
        return RECMAP_OK;
    case GIVE_FLOAT_ID:
        if (id) id->type = RECMAP_TYPE_FLOAT;
        return RECMAP_OK;
    case FAIL: snprintf(message, message_capacity, "I will not"); return RECMAP_MISMATCH;
    case FILL_MESSAGE: memset(message, 'm', message_capacity); return RECMAP_FEATURE;
    case FAIL_IN_SILENCE: break;
    }
    return RECMAP_NO_MEMORY;
}

/* What the callback returns, says and sets arrives unchanged, both while an index is built and when
 * the id of one record is read. */
static void test_results_of_a_callback_arrive_unchanged(void **state) {
    (void)state;
    static const struct {
        enum deed deed;
        recmap_status due;
        const char *message;
    } cases[] = {
        {GIVE, RECMAP_OK, ""},
        {GIVE_FLOAT_ID, RECMAP_FEATURE, "an id is bytes or int64"},
        {FAIL, RECMAP_MISMATCH, "I will not"},
        {FAIL_IN_SILENCE, RECMAP_NO_MEMORY, "out of memory"},
        {FILL_MESSAGE, RECMAP_FEATURE, "mmmm"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum deed todo = cases[i].deed;
        recmap_error error = RECMAP_ERROR_INIT;
        struct extractor *lifting;
        struct record_run run;
        recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
        options.id_feature = "id";
        options.lifts = lifts;
        options.lift_count = 2;
        options.lift = act;
        options.lift_context = &todo;
        ASSERT_OK(extractor_create(&lifting, &options, &error), &error);
        assert_true(run_init(&run, true, 2, 0));
        assert_true(run_add(&run, 0, 3, 0));
        assert_int_equal(extractor_lift(lifting, &run, (const uint8_t *)"abc", 3, &error),
                         cases[i].due);
        if (cases[i].due != RECMAP_OK) assert_non_null(strstr(error.message, cases[i].message));
        recmap_value id;
        struct id_room room;
        assert_int_equal(extractor_read_id(&id, &room, lifting, (const uint8_t *)"abc", 3, NULL),
                         cases[i].due);
        if (cases[i].due == RECMAP_OK) assert_true(id.as.int64 == 3);
        run_deinit(&run);
        extractor_destroy(lifting);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_of_each_type_are_lifted),
        cmocka_unit_test(test_advice_is_given_for_the_first_missing_feature),
        cmocka_unit_test(test_empty_features_are_missing),
        cmocka_unit_test(test_values_that_do_not_do),
        cmocka_unit_test(test_other_records_are_refused_or_ignored),
        cmocka_unit_test(test_results_of_a_callback_arrive_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
