/* Counting elements: of features of every kind, raw numbers and feature lists, in every encoding;
 * and what the error says if they cannot be counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/extract/extract.h"
#include "parse/example/sequence_features.h"
#include "parse/example/step_count.h"
#include "unit/parse/example/random_sequence.h"

/* Counts the features of a record; the names are as in recmap_index_options. */
static recmap_status count(uint64_t *counts, const struct message *record,
                           const recmap_counted_feature *features, size_t feature_count,
                           recmap_error *error) {
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    struct extractor *extractor;
    struct record_run run;
    options.counted_features = features;
    options.counted_feature_count = feature_count;
    assert_int_equal(extractor_create(&extractor, &options, error), RECMAP_OK);
    assert_int_equal(extractor_counted_count(extractor), feature_count);
    assert_true(run_init(&run, false, 0, feature_count));
    assert_true(run_add(&run, 0, record->size, 0));
    uint8_t *data = copy_exact(record->data, record->size);
    recmap_status status = extractor_lift(extractor, &run, data, record->size, error);
    for (size_t i = 0; status == RECMAP_OK && i < feature_count; i++)
        counts[i] = run.counts[i].values[0];
    free(data);
    run_deinit(&run);
    extractor_destroy(extractor);
    return status;
}

static void expect_count(const struct message *record, const char *name, recmap_element element,
                         uint64_t due) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_counted_feature feature = {name, element};
    uint64_t found = UINT64_MAX;
    if (count(&found, record, &feature, 1, &error) != RECMAP_OK) fail_msg("%s", error.message);
    assert_int_equal(found, due);
}

static void expect_failure(const struct message *record, const char *name, recmap_element element,
                           const char *text, const char *advice) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_counted_feature feature = {name, element};
    uint64_t found;
    assert_int_equal(count(&found, record, &feature, 1, &error), RECMAP_FEATURE);
    if (!strstr(error.message, text)) fail_msg("%s", error.message);
    if (!strstr(error.advice, advice)) fail_msg("%s", error.advice);
}

static struct message record, features, list;

static void begin(void) {
    record.size = features.size = list.size = 0;
}

/* Ends the list and adds it as feature `name`; `kind` is its field: 1 bytes, 2 float, 3 int64. */
static void end_feature(const char *name, uint32_t kind) {
    put_entry(&features, name, kind, &list);
    list.size = 0;
}

static const struct message *end_record(void) {
    put_sub(&record, 1, &features);
    return &record;
}

static void add_bytes_feature(const char *name, size_t size) {
    static const uint8_t zeros[64];
    put_bytes(&list, 1, zeros, size);
    end_feature(name, 1);
}

/* Packed and unpacked numbers mixed, a varint of ten bytes, and empty and missing features. */
static void test_elements_of_lists_are_counted(void **state) {
    (void)state;
    begin();
    put_hex(&list, "0a0401028001");           /* packed: 1, 2, 128 */
    put_hex(&list, "0807");                   /* 7 */
    put_hex(&list, "08ffffffffffffffffff01"); /* -1 */
    end_feature("tokens", 3);
    put_hex(&list, "0a080000000000000000"); /* packed: two zeros */
    put_hex(&list, "0d00000000");           /* a third */
    end_feature("weights", 2);
    put_bytes(&list, 1, "ab", 2);
    put_bytes(&list, 1, "", 0);
    end_feature("frames", 1);
    end_feature("empty", 3);
    put_hex(&features, "0a070a057368656c6c"); /* an entry without a feature: "shell" */
    const struct message *message = end_record();
    expect_count(message, "tokens", RECMAP_ELEMENT_NONE, 5);
    expect_count(message, "weights", RECMAP_ELEMENT_NONE, 3);
    expect_count(message, "frames", RECMAP_ELEMENT_NONE, 2);
    expect_count(message, "empty", RECMAP_ELEMENT_NONE, 0);
    expect_count(message, "shell", RECMAP_ELEMENT_NONE, 0);
    expect_count(message, "absent", RECMAP_ELEMENT_NONE, 0);
    expect_count(message, "absent", RECMAP_ELEMENT_UINT16, 0);
    begin();
    expect_count(&record, "tokens", RECMAP_ELEMENT_NONE, 0);
}

static void test_raw_numbers_are_counted_by_their_size(void **state) {
    (void)state;
    begin();
    add_bytes_feature("raw", 24);
    add_bytes_feature("none", 0);
    end_feature("unset", 1);
    put_bytes(&list, 1, "abcd", 4);
    put_bytes(&list, 1, "efgh", 4);
    end_feature("two", 1);
    const struct message *message = end_record();
    expect_count(message, "two", RECMAP_ELEMENT_UINT16, 4);
    expect_count(message, "raw", RECMAP_ELEMENT_NONE, 1);
    expect_count(message, "raw", RECMAP_ELEMENT_UINT8, 24);
    expect_count(message, "raw", RECMAP_ELEMENT_UINT16, 12);
    expect_count(message, "raw", RECMAP_ELEMENT_BFLOAT16, 12);
    expect_count(message, "raw", RECMAP_ELEMENT_FLOAT32, 6);
    expect_count(message, "raw", RECMAP_ELEMENT_INT64, 3);
    expect_count(message, "none", RECMAP_ELEMENT_INT64, 0);
    expect_count(message, "unset", RECMAP_ELEMENT_INT64, 0);
}

static void test_uncountable_features_are_refused(void **state) {
    (void)state;
    begin();
    add_bytes_feature("odd", 7);
    put_hex(&list, "0a03010203");
    end_feature("tokens", 3);
    put_bytes(&list, 1, "ab", 2);
    put_bytes(&list, 1, "cde", 3);
    end_feature("frames", 1);
    const struct message *message = end_record();
    expect_failure(message, "odd", RECMAP_ELEMENT_UINT16,
                   "feature \"odd\" has 7 bytes, which is not a multiple of 2, the size of uint16",
                   "--count odd:DTYPE");
    expect_failure(message, "tokens", RECMAP_ELEMENT_UINT16,
                   "feature \"tokens\" is a list of int64, not a value of bytes", "--count tokens");
    expect_failure(message, "frames", RECMAP_ELEMENT_UINT8,
                   "feature \"frames\" has 2 values of bytes of different sizes", "--count frames");
    begin();
    put_hex(&record, "0aff");
    expect_failure(&record, "tokens", RECMAP_ELEMENT_NONE, "is not a tf.Example", "--count");
}

/* A list of steps, which a later list of the same name replaces, and another of two pieces. */
static void test_steps_of_feature_lists_are_counted(void **state) {
    (void)state;
    begin();
    add_bytes_feature("both", 4);
    end_record();
    put_hex(&record, "121a"
                     "0a0a0a04737465701202"
                     "0a00" /* "step": one step */
                     "0a0c0a0473746570"
                     "1204"
                     "0a000a00"); /* "step": two steps */
    put_hex(&record, "1220"
                     "0a0e0a04706172741202"
                     "0a00"
                     "12020a00" /* "part": in two pieces */
                     "0a0e0a04626f74681206"
                     "0a000a000a00"); /* "both": three steps */
    expect_count(&record, "step", RECMAP_ELEMENT_NONE, 2);
    expect_count(&record, "part", RECMAP_ELEMENT_NONE, 2);
    expect_count(&record, "both", RECMAP_ELEMENT_NONE, 1);
    expect_count(&record, "both", RECMAP_ELEMENT_UINT16, 2);
    expect_count(&record, "absent", RECMAP_ELEMENT_NONE, 0);
    expect_failure(&record, "step", RECMAP_ELEMENT_UINT16, "feature \"step\" is a feature list",
                   "--count step");
}

static void test_malformed_lists_are_refused(void **state) {
    (void)state;
    begin();
    put_hex(&record, "1203"
                     "0a0aff");
    expect_failure(&record, "step", RECMAP_ELEMENT_NONE,
                   "is not a tf.SequenceExample: ", "without --count");
    begin();
    put_hex(&record, "1205"
                     "0a030a01ff");
    expect_failure(&record, "step", RECMAP_ELEMENT_NONE, "feature list name is not UTF-8",
                   "without --count");
}

/* Ids, columns and counts are looked up together, also for a name that is used twice. */
static void test_ids_columns_and_counts_are_read_together(void **state) {
    (void)state;
    static const recmap_lift lifts[] = {{"n", NULL, 0}};
    static const recmap_counted_feature counted[] = {{"n", RECMAP_ELEMENT_NONE},
                                                     {"id", RECMAP_ELEMENT_UINT8}};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    struct extractor *extractor;
    struct record_run run;
    begin();
    add_bytes_feature("id", 5);
    put_hex(&list, "0807");
    end_feature("n", 3);
    end_record();
    options.id_feature = "id";
    options.lifts = lifts;
    options.lift_count = 1;
    options.counted_features = counted;
    options.counted_feature_count = 2;
    assert_int_equal(extractor_create(&extractor, &options, &error), RECMAP_OK);
    assert_true(run_init(&run, true, 1, 2));
    assert_true(run_add(&run, 0, record.size, 0));
    assert_int_equal(extractor_lift(extractor, &run, record.data, record.size, &error), RECMAP_OK);
    assert_true(run_column_at(&run, 0, 0).as.int64 == 7);
    assert_int_equal(run.counts[0].values[0], 1);
    assert_int_equal(run.counts[1].values[0], 5);
    run_deinit(&run);
    extractor_destroy(extractor);
}

static size_t find_steps(const struct sequence_features *sequence, const char *name) {
    for (size_t i = 0; i < sequence->list_count; i++)
        if (sequence->lists[i].name_size == strlen(name) &&
            !memcmp(sequence->lists[i].name, name, strlen(name)))
            return sequence->lists[i].step_count;
    return SIZE_MAX;
}

/* Counting skips steps by their sizes. For whatever the full reader accepts, sound or damaged, both
 * find the same lists with the same numbers of steps. */
static void test_counting_agrees_with_the_full_reader(void **state) {
    (void)state;
    static const char *const names[] = {"a", "words", "frames/rgb", "\xc3\xa9", "none"};
    enum { NAMES = 5 };
    struct example_names *compiled;
    struct sequence_features sequence = {0};
    struct random_state random = {7};
    size_t compared = 0;
    assert_int_equal(example_names_create(&compiled, names, NAMES, NULL), RECMAP_OK);
    for (int round = 0; round < 20000; round++) {
        struct step_count counts[NAMES];
        struct example_fault fault;
        random_sequence(&record, &random);
        if (round % 2) random_damage(&record, &random);
        if (sequence_features_read(&sequence, record.data, record.size, NULL) != RECMAP_OK)
            continue;
        assert_true(step_count_read(counts, compiled, record.data, record.size, &fault));
        for (size_t i = 0; i < NAMES; i++) {
            size_t due = find_steps(&sequence, names[i]);
            assert_int_equal(counts[i].is_present, due != SIZE_MAX);
            if (due != SIZE_MAX) assert_int_equal(counts[i].count, due);
            compared += due != SIZE_MAX && due > 0;
        }
    }
    assert_true(compared > 10000);
    sequence_features_deinit(&sequence);
    example_names_destroy(compiled);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_of_lists_are_counted),
        cmocka_unit_test(test_raw_numbers_are_counted_by_their_size),
        cmocka_unit_test(test_uncountable_features_are_refused),
        cmocka_unit_test(test_steps_of_feature_lists_are_counted),
        cmocka_unit_test(test_malformed_lists_are_refused),
        cmocka_unit_test(test_ids_columns_and_counts_are_read_together),
        cmocka_unit_test(test_counting_agrees_with_the_full_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
