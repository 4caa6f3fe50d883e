/* The parser, asked for what records hold, against protobuf-c: value by value on real files, on the
 * wire cases and on random Examples, and on every truncation and flipped bit of some.
 * parse_against.h says what is compared, against.h where protobuf-c departs from libprotobuf. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/parser.h>

#include "parse/varints/varints.h"
#include "support/rounds.h"
#include "unit/parse/columns/parse_against.h"
#include "unit/parse/example/build.h"
#include "unit/parse/example/cases.h"
#include "unit/parse/example/data.h"
#include "unit/parse/example/random_example.h"

static bool is_long(void) {
    return getenv("RECMAP_TEST_LONG") != NULL;
}

static void fail_with(const char *difference, const uint8_t *data, size_t size) {
    fprintf(stderr, "%s:", difference);
    for (size_t i = 0; i < size && i < 4096; i++) fprintf(stderr, "%s%02x", i ? "" : " ", data[i]);
    fprintf(stderr, "\n");
    fail_msg("%s", difference);
}

static void check(struct parse_tally *tally, const uint8_t *data, size_t size, unsigned leave_out) {
    const char *difference = find_parse_difference(tally, data, size, leave_out);
    if (difference) fail_with(difference, data, size);
}

/* Asked for all that it holds, and for some of it. */
static void check_both(struct parse_tally *tally, const uint8_t *data, size_t size,
                       unsigned number) {
    check(tally, data, size, 0);
    check(tally, data, size, 1 + number % 3);
}

static void check_hex(struct parse_tally *tally, const char *hex) {
    static struct message message;
    message.size = 0;
    put_hex(&message, hex);
    check_both(tally, message.data, message.size, 0);
}

static void test_own_cases_agree_with_protobuf(void **state) {
    (void)state;
    struct parse_tally tally = {0, 0, 0};
    for (size_t i = 0; i < sizeof wire_cases / sizeof *wire_cases; i++)
        check_hex(&tally, wire_cases[i].hex);
    assert_true(tally.parsed > 40 && tally.refused > 20);
}

/* The hex is the second column; the first line names the columns. */
static void test_given_cases_agree_with_protobuf(void **state) {
    (void)state;
    size_t size;
    struct parse_tally tally = {0, 0, 0};
    char *table = (char *)data_read("verdicts/example_wire_cases.tsv", &size);
    if (!table) {
        print_message("skipped: no folder of test data\n");
        skip();
    }
    char *rest = table, *line = strsep(&rest, "\n");
    while ((line = strsep(&rest, "\n")) && *line) {
        strsep(&line, "\t");
        check_hex(&tally, strsep(&line, "\t"));
    }
    assert_true(tally.parsed > 40);
    free(table);
}

/* Checks every `step`th record. */
static void check_file(struct parse_tally *tally, struct record_file *file, unsigned step) {
    const uint8_t *data;
    size_t size;
    for (unsigned i = 0; record_file_next(&data, &size, file); i++)
        if (i % step == 0) check(tally, data, size, i % 4);
    record_file_close(file);
}

static void test_digits_agree_with_protobuf(void **state) {
    (void)state;
    struct record_file file;
    struct parse_tally tally = {0, 0, 0};
    for (unsigned shard = 0; shard < 4; shard++) {
        record_file_open_digits(&file, shard);
        check_file(&tally, &file, 1);
    }
    assert_int_equal(tally.compared, 1797);
}

/* Calls `visit` for each file of the folder of test data; false without one. */
typedef void visit_file(void *context, struct record_file *file);

static bool visit_files(visit_file *visit, void *context) {
    size_t size;
    char path[1024], *list = (char *)data_read("tfrecord/MANIFEST.tsv", &size);
    if (!list) return false;
    char *rest = list, *line = strsep(&rest, "\n");
    while ((line = strsep(&rest, "\n")) && *line) {
        struct record_file file;
        snprintf(path, sizeof path, "tfrecord/%s", strsep(&line, "\t"));
        if (!record_file_open(&file, path)) fail_msg("%s is missing", path);
        visit(context, &file);
    }
    free(list);
    return true;
}

/* Odd, so that all features are left out in turn. */
static unsigned step_in_files(void) {
    static const unsigned steps[] = {1, 3, 9};
    return is_long() ? 1 : steps[short_level()];
}

static void visit_whole(void *context, struct record_file *file) {
    check_file(context, file, step_in_files());
}

static void test_real_files_agree_with_protobuf(void **state) {
    (void)state;
    struct parse_tally tally = {0, 0, 0};
    if (!visit_files(visit_whole, &tally)) {
        print_message("skipped: no folder of test data\n");
        skip();
    }
    print_message("%u parsed, %u compared with protobuf-c, %u refused\n", tally.parsed,
                  tally.compared, tally.refused);
    assert_true(tally.compared > 60000 / step_in_files());
}

static unsigned rounds(void) {
    return is_long() ? 300000 : some_rounds(6000);
}

static void check_random(const struct oddness *odd, uint64_t seed, unsigned damages,
                         struct parse_tally *tally) {
    static struct message message;
    struct random_state random = {seed};
    for (unsigned i = 0; i < rounds(); i++) {
        random_example(&message, &random, odd);
        for (unsigned k = 0; k < damages; k++) random_damage(&message, &random);
        check_both(tally, message.data, message.size, i);
    }
}

static void test_random_examples_agree_with_protobuf(void **state) {
    (void)state;
    static const struct oddness none = {0, 0, 0, 0}, odd = {20, 5, 100, 5};
    struct parse_tally tally = {0, 0, 0};
    check_random(&none, 1, 0, &tally);
    assert_int_equal(tally.refused, 0);
    assert_int_equal(tally.compared, tally.parsed);
    check_random(&odd, 2, 0, &tally);
    assert_true(tally.refused > rounds() / 50);
}

static void test_damaged_examples_agree_with_protobuf(void **state) {
    (void)state;
    static const struct oddness odd = {10, 2, 50, 0};
    struct parse_tally tally = {0, 0, 0};
    check_random(&odd, 3, 1, &tally);
    check_random(&odd, 4, 2, &tally);
    assert_true(tally.refused > rounds() / 10 && tally.compared > rounds() / 10);
}

/* Lists of more values than are converted at once, of mixed lengths. */
static void test_long_lists_agree_with_protobuf(void **state) {
    (void)state;
    static struct message features, example;
    int64_t values[2000];
    struct random_state random = {7};
    struct parse_tally tally = {0, 0, 0};
    for (unsigned i = 0; i < rounds() / 10; i++) {
        size_t count = (size_t)draw_below(&random, 2000);
        unsigned shift = 34 + (unsigned)draw_below(&random, 24);
        for (size_t k = 0; k < count; k++)
            values[k] = (int64_t)(random_next(&random) >> (shift + draw_below(&random, 6)));
        if (count && i % 4 == 0) values[draw_below(&random, count)] = -5;
        features.size = example.size = 0;
        put_int64s(&features, i % 2 ? "n" : "numbers", values, count);
        put_sub(&example, 1, &features);
        check(&tally, example.data, example.size, 0);
    }
    assert_int_equal(tally.refused, 0);
}

/* ---- every truncation, every bit ---- */

static void check_mutation(struct parse_check *check, struct parse_tally *tally,
                           const uint8_t *data, size_t size) {
    const char *difference = parse_check_run(check, tally, data, size);
    if (difference) fail_with(difference, data, size);
}

/* Asked for what the undamaged record holds. */
static void check_mutations(struct parse_tally *tally, const uint8_t *data, size_t size,
                            unsigned leave_out) {
    struct asked_features asked;
    uint8_t *changed = copy_exact(data, size);
    asked_infer(&asked, data, size, leave_out);
    struct parse_check *check = parse_check_create(&asked, data, size);
    for (size_t cut = 0; cut < size; cut++) check_mutation(check, tally, data, cut);
    for (size_t bit = 0; bit < size * 8; bit++) {
        changed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        check_mutation(check, tally, changed, size);
        changed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    parse_check_destroy(check);
    asked_deinit(&asked);
    free(changed);
}

static void test_mutated_digits_agree_with_protobuf(void **state) {
    (void)state;
    struct parse_tally tally = {0, 0, 0};
    for (unsigned shard = 0; shard < 4; shard++) {
        struct record_file file;
        const uint8_t *data;
        size_t size;
        record_file_open_digits(&file, shard);
        for (unsigned i = 0;
             i < (is_long() ? 449u : some_rounds(25)) && record_file_next(&data, &size, &file); i++)
            check_mutations(&tally, data, size, i % 3);
        record_file_close(&file);
    }
    assert_true(tally.parsed > 1000 && tally.refused > 1000);
}

static void test_mutated_made_ones(void **state) {
    (void)state;
    static const struct oddness plain = {0, 0, 0, 0}, odd = {10, 2, 50, 0};
    static struct message message;
    struct random_state random = {5};
    struct parse_tally tally = {0, 0, 0};
    for (unsigned i = 0; i < (is_long() ? 400u : some_rounds(40)); i++) {
        random_example(&message, &random, i % 2 ? &odd : &plain);
        if (message.size > 400) message.size = 0;
        check_mutations(&tally, message.data, message.size, i % 4);
    }
    assert_true(tally.parsed > 1000 && tally.refused > 1000);
}

/* Short records from the beginning of each file. */
struct mutation_run {
    struct parse_tally tally;
    unsigned count;
};

static void visit_mutated(void *context, struct record_file *file) {
    struct mutation_run *run = context;
    const size_t size_limit = is_long() ? 1200 : 400;
    const unsigned max = is_long() ? 20 : some_rounds(5);
    const uint8_t *data;
    size_t size;
    for (unsigned i = 0, taken = 0; i < 100 && taken < max; i++) {
        if (!record_file_next(&data, &size, file)) break;
        if (size > size_limit) continue;
        check_mutations(&run->tally, data, size, i % 3);
        run->count++;
        taken++;
    }
    record_file_close(file);
}

static void test_mutated_real_ones(void **state) {
    (void)state;
    struct mutation_run run = {{0, 0, 0}, 0};
    if (!visit_files(visit_mutated, &run)) {
        print_message("skipped: no folder of test data\n");
        skip();
    }
    print_message("%u records, %u of their mutations parsed, %u refused\n", run.count,
                  run.tally.parsed, run.tally.refused);
    assert_true(run.tally.parsed > 1000 && run.tally.refused > 1000);
}

/* ---- entries added, left out and exchanged ---- */

enum { ENTRIES_MAX = 40 };
struct entries {
    struct wire all[ENTRIES_MAX]; /* with their tags and lengths */
    size_t count;
};

/* The entries of a record that is one message Features. */
static void find_entries(struct entries *list, const uint8_t *data, size_t size) {
    struct wire_trace trace = {0};
    struct wire record = {data, data + size}, features, entry;
    uint32_t tag;
    list->count = 0;
    if (!wire_read_tag(&tag, &record, &trace) || tag != 10) return;
    if (!wire_read_bytes(&features, &record, &trace)) return;
    while (!wire_done(&features) && list->count < ENTRIES_MAX) {
        const uint8_t *begin = features.at;
        if (!wire_read_tag(&tag, &features, &trace) || tag != 10) return;
        if (!wire_read_bytes(&entry, &features, &trace)) return;
        list->all[list->count++] = (struct wire){begin, features.at};
    }
}

static void check_entries(struct parse_check *check, struct parse_tally *tally,
                          const struct wire *list, size_t count) {
    static struct message features, example;
    features.size = example.size = 0;
    for (size_t i = 0; i < count; i++) put_raw(&features, list[i].at, wire_left(&list[i]));
    put_sub(&example, 1, &features);
    uint8_t *data = copy_exact(example.data, example.size);
    check_mutation(check, tally, data, example.size);
    free(data);
}

/* Each with one entry more, left out or in another place; `others` are entries to add. */
static void check_edits(struct parse_check *check, struct parse_tally *tally,
                        const struct entries *own, const struct entries *others) {
    struct wire list[ENTRIES_MAX + 1];
    memcpy(list, own->all, sizeof own->all);
    for (size_t i = 0; i < others->count; i++) {
        list[own->count] = others->all[i];
        check_entries(check, tally, list, own->count + 1);
    }
    for (size_t i = 0; i + 1 < own->count; i++) {
        struct wire kept = list[i];
        list[i] = list[own->count - 1];
        check_entries(check, tally, list, own->count - 1);
        list[own->count - 1] = kept;
        check_entries(check, tally, list, own->count);
        list[own->count - 1] = list[i];
        list[i] = kept;
        if (i < others->count) {
            list[i] = others->all[i];
            check_entries(check, tally, list, own->count);
            list[i] = kept;
        }
    }
}

static void check_edited(struct parse_tally *tally, const uint8_t *data, size_t size,
                         const uint8_t *other, size_t other_size, unsigned leave_out) {
    struct asked_features asked;
    struct entries own, others;
    find_entries(&own, data, size);
    find_entries(&others, other, other_size);
    asked_infer(&asked, data, size, leave_out);
    struct parse_check *check = parse_check_create(&asked, data, size);
    check_edits(check, tally, &own, &own);
    check_edits(check, tally, &own, &others);
    parse_check_destroy(check);
    asked_deinit(&asked);
}

static void test_edited_made_ones(void **state) {
    (void)state;
    static const struct oddness plain = {0, 0, 0, 0}, odd = {10, 2, 50, 0};
    static struct message message, other;
    struct random_state random = {6};
    struct parse_tally tally = {0, 0, 0};
    for (unsigned i = 0; i < rounds(); i++) {
        random_example(&message, &random, i % 4 ? &plain : &odd);
        random_example(&other, &random, i % 5 ? &plain : &odd);
        check_edited(&tally, message.data, message.size, other.data, other.size, i % 3);
    }
    assert_true(tally.parsed > rounds() && tally.refused > rounds());
}

/* Neighbours in one file. */
static void visit_edited(void *context, struct record_file *file) {
    const uint8_t *data, *other;
    size_t size, other_size;
    for (unsigned i = 0; i < (is_long() ? 50u : some_rounds(5)); i++) {
        if (!record_file_next(&data, &size, file)) break;
        if (!record_file_next(&other, &other_size, file)) break;
        if (size + other_size < MESSAGE_CAPACITY / 2)
            check_edited(context, data, size, other, other_size, i % 3);
    }
    record_file_close(file);
}

static void test_edited_real_ones(void **state) {
    (void)state;
    struct record_file file;
    struct parse_tally tally = {0, 0, 0};
    for (unsigned shard = 0; shard < 4; shard++) {
        record_file_open_digits(&file, shard);
        visit_edited(&tally, &file);
    }
    visit_files(visit_edited, &tally);
    assert_true(tally.parsed > 10 && tally.refused > 10);
}

/* ---- what TensorFlow gets wrong ---- */

/* Unpacked floats, one more and many more than the feature has room for. TensorFlow's parser writes
 * them past the end of its column. */
static void test_unpacked_floats_beyond_the_shape(void **state) {
    (void)state;
    static const uint64_t shape[] = {3};
    static const recmap_feature feature = {.name = "f",
                                           .kind = RECMAP_FEATURE_FIXED_LEN,
                                           .element = RECMAP_ELEMENT_FLOAT32,
                                           .shape = shape,
                                           .dimension_count = 1};
    static struct message list, features, example;
    recmap_parser *parser;
    recmap_columns *columns;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_parser_create(&parser, &feature, 1, &error), RECMAP_OK);
    assert_int_equal(recmap_columns_create(&columns, &error), RECMAP_OK);
    for (unsigned count = 0; count < 3000; count += count < 70 ? 1 : 977) {
        list.size = features.size = example.size = 0;
        for (unsigned i = 0; i < count; i++) {
            put_tag(&list, 1, WIRE_FIXED32);
            put_raw(&list, "\0\0\x80\x3f", 4);
        }
        put_entry(&features, "f", 2, &list);
        put_sub(&example, 1, &features);
        uint8_t *data = copy_exact(example.data, example.size);
        recmap_record record = {data, example.size, 77, NULL};
        recmap_status status =
            recmap_parser_parse(columns, parser, &record, 1, RECMAP_PARSE_RAISE, &error);
        assert_int_equal(status, count == 3 ? RECMAP_OK : RECMAP_FEATURE);
        if (status != RECMAP_OK) {
            assert_int_equal(error.record, 77);
            assert_true(error.offset <= example.size);
            assert_non_null(strstr(error.message, "'f'"));
        }
        free(data);
    }
    recmap_columns_destroy(columns);
    recmap_parser_release(parser);
}

/* The same verdicts and values with each way to decode runs of varints. */
static void test_each_way_of_varints(void **state) {
    (void)state;
    static const struct oddness odd = {10, 2, 50, 2};
    static varints_function *const ways[] = {
        varints_portable,
#ifdef VARINTS_X86
        varints_avx2,
        varints_avx512,
#endif
#ifdef VARINTS_NEON
        varints_neon,
#endif
    };
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        struct parse_tally tally = {0, 0, 0};
        if (!varints_force(ways[way])) continue;
        check_random(&odd, 10 + way, 0, &tally);
    }
    varints_force(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_cases_agree_with_protobuf),
        cmocka_unit_test(test_given_cases_agree_with_protobuf),
        cmocka_unit_test(test_digits_agree_with_protobuf),
        cmocka_unit_test(test_real_files_agree_with_protobuf),
        cmocka_unit_test(test_random_examples_agree_with_protobuf),
        cmocka_unit_test(test_damaged_examples_agree_with_protobuf),
        cmocka_unit_test(test_long_lists_agree_with_protobuf),
        cmocka_unit_test(test_mutated_digits_agree_with_protobuf),
        cmocka_unit_test(test_mutated_made_ones),
        cmocka_unit_test(test_mutated_real_ones),
        cmocka_unit_test(test_edited_made_ones),
        cmocka_unit_test(test_edited_real_ones),
        cmocka_unit_test(test_unpacked_floats_beyond_the_shape),
        cmocka_unit_test(test_each_way_of_varints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
