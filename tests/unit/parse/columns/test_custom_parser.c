/* Parsers by a function of the user's: what it sets becomes columns as features of tf.Example do,
 * and what it sets wrongly is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/arrow.h>
#include <recmap/parser.h>

enum { ID, SCALE, WORDS, PAIRS, COLUMNS };

static const uint64_t two[] = {2};
static const recmap_value half = {.type = RECMAP_TYPE_FLOAT, .as.float32 = 0.5f};

static const recmap_feature features[COLUMNS] = {
    [ID] = {.name = "id", .kind = RECMAP_FEATURE_FIXED_LEN, .element = RECMAP_ELEMENT_INT16},
    [SCALE] = {.name = "scale",
               .kind = RECMAP_FEATURE_FIXED_LEN,
               .element = RECMAP_ELEMENT_FLOAT32,
               .defaults = &half,
               .default_count = 1},
    [WORDS] = {.name = "words", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_BYTES},
    [PAIRS] = {.name = "pairs",
               .kind = RECMAP_FEATURE_FIXED_LEN_SEQUENCE,
               .element = RECMAP_ELEMENT_INT64,
               .shape = two,
               .dimension_count = 1},
};

static const char near_text[] = "bytes of the program";
static uint8_t *far_text; /* on pages of its own, more than 2 GiB from the others */
enum { FAR_SIZE = 1 << 20 };

/* Words from memory far apart, and nothing between them that could be read. */
static recmap_status set_anywhere(recmap_row *row) {
    const recmap_bytes words[] = {{(const uint8_t *)near_text, sizeof near_text - 1},
                                  {far_text, FAR_SIZE}};
    return recmap_row_set_bytes(row, WORDS, words, 2);
}

/* A record is its own commands: `i` NUMBER sets the id, `s` the scale, `w` a word of the rest,
 * `p` N pairs; other letters do what is not allowed. */
static recmap_status parse(recmap_row *row, const recmap_record *record, void *context) {
    const uint8_t *cursor = record->data, *end = cursor + record->size;
    recmap_status status = RECMAP_OK;
    ++*(int *)context;
    for (; status == RECMAP_OK && cursor + 1 < end; cursor += 2) {
        int64_t numbers[20];
        float scale = cursor[1];
        for (int i = 0; i < 20; i++) numbers[i] = cursor[1] + i;
        recmap_bytes words[2] = {{cursor, 2}, {NULL, 0}};
        switch (cursor[0]) {
        case 'i': status = recmap_row_set_int64(row, ID, numbers, 1); break;
        case 's': status = recmap_row_set_float(row, SCALE, &scale, 1); break;
        case 'w':
            status = recmap_row_set_bytes(row, WORDS, words, (size_t)(cursor[1] - '0'));
            break;
        case 'p': status = recmap_row_set_int64(row, PAIRS, numbers, 2u * (cursor[1] - '0')); break;
        case 'o': status = recmap_row_set_int64(row, PAIRS, numbers, 3); break;
        case 'n': status = recmap_row_set_int64(row, ID, numbers, 2); break;
        case 't': status = recmap_row_set_int64(row, SCALE, numbers, 1); break;
        case 'c': status = recmap_row_set_int64(row, COLUMNS, numbers, 1); break;
        case 'b':
            numbers[0] = 32768;
            status = recmap_row_set_int64(row, ID, numbers, 1);
            break;
        case 'a': status = set_anywhere(row); break;
        case 'l':
            words[0].size = (size_t)INT32_MAX + 1;
            status = recmap_row_set_bytes(row, WORDS, words, 1);
            break;
        case 'f': status = recmap_row_fail(row, 1, "a bad letter"); break;
        case 'q': return RECMAP_FEATURE;
        case 'h':
            if (recmap_row_fail(row, 0, "and continues") == RECMAP_OK) return RECMAP_INVALID;
            break;
        default: break;
        }
    }
    return status;
}

struct parsing {
    recmap_parser *parser;
    recmap_columns *columns;
    recmap_error error;
    int calls;
};

static int begin(void **state) {
    struct parsing *parsing = calloc(1, sizeof *parsing);
    parsing->error = (recmap_error)RECMAP_ERROR_INIT;
    *state = parsing;
    return recmap_parser_create_custom(&parsing->parser, features, COLUMNS, parse, &parsing->calls,
                                       NULL) ||
           recmap_columns_create(&parsing->columns, NULL);
}

static int end(void **state) {
    struct parsing *ended = *state;
    recmap_columns_destroy(ended->columns);
    recmap_parser_release(ended->parser);
    free(ended);
    return 0;
}

static recmap_status run(struct parsing *parsing, const char *const *texts, size_t count,
                         recmap_parse_mode mode) {
    recmap_record records[16];
    assert_true(count <= 16);
    for (size_t i = 0; i < count; i++)
        records[i] = (recmap_record){
            .data = (const uint8_t *)texts[i], .size = strlen(texts[i]), .number = 100 + i};
    return recmap_parser_parse(parsing->columns, parsing->parser, records, count, mode,
                               &parsing->error);
}

static void test_custom_parsers_fill_columns(void **state) {
    struct parsing *parsing = *state;
    /* The second sets things again: the last counts. The third leaves out what may be. */
    const char *const texts[] = {"iAsBw2p2", "iBiCw1w2p1p2", "iDxx", "iEw0p0"};
    assert_int_equal(run(parsing, texts, 4, RECMAP_PARSE_RAISE), RECMAP_OK);
    assert_int_equal(parsing->calls, 4);
    const recmap_column *id = recmap_columns_find(parsing->columns, "id");
    static const int16_t ids[] = {'A', 'C', 'D', 'E'};
    assert_memory_equal(id->values, ids, sizeof ids);
    static const float scales[] = {'B', 0.5f, 0.5f, 0.5f};
    assert_memory_equal(recmap_columns_get(parsing->columns, SCALE)->values, scales, sizeof scales);
    const recmap_column *words = recmap_columns_get(parsing->columns, WORDS);
    static const int64_t word_rows[] = {0, 2, 4, 4, 4};
    assert_memory_equal(words->offsets[0], word_rows, sizeof word_rows);
    assert_ptr_equal(words->views[0].data, texts[0] + 4);
    assert_int_equal(words->views[1].size, 0);
    assert_non_null(words->views[1].data);
    assert_ptr_equal(words->views[2].data, texts[1] + 6);
    assert_int_equal(words->null_count, 1);
    const recmap_column *pairs = recmap_columns_get(parsing->columns, PAIRS);
    static const int64_t lengths[] = {2, 2, 0, 0};
    assert_memory_equal(pairs->lengths, lengths, sizeof lengths);
    static const int64_t first[] = {'2', '3', '4', '5'};
    assert_memory_equal(pairs->values, first, sizeof first);
}

/* Each text is a program of letters for the parser's function, which sets one column wrongly. The
 * parse must report the listed message. */
static void test_what_is_set_wrongly(void **state) {
    struct parsing *parsing = *state;
    static const struct {
        const char *text;
        const char *message;
        recmap_status status;
    } cases[] = {
        {"sA", "feature 'id' is missing and has no default", RECMAP_FEATURE},
        {"nA", "feature 'id' was set to 2 values, which do not fit []", RECMAP_FEATURE},
        {"iAoA", "feature 'pairs' was set to 3 values, which do not fit [2]", RECMAP_FEATURE},
        {"iAtA", "feature 'scale' was set to values of another type", RECMAP_FEATURE},
        {"iAcA", "there is no column 4", RECMAP_FEATURE},
        {"bA", "feature 'id': int16 cannot hold value 0", RECMAP_FEATURE},
        {"iAlA", "feature 'words': value 0 has 2 GiB or more, too much for a view", RECMAP_FEATURE},
        {"fA", "a bad letter", RECMAP_CORRUPT},
        {"iAqA", "the parser's function rejected the record", RECMAP_CORRUPT},
        {"iAhA", "and continues", RECMAP_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run(parsing, &cases[i].text, 1, RECMAP_PARSE_RAISE), cases[i].status);
        assert_string_equal(parsing->error.message, cases[i].message);
        assert_int_equal(parsing->error.record, 100);
        assert_int_equal(recmap_columns_count(parsing->columns), 0);
    }
    assert_int_equal(run(parsing, &cases[7].text, 1, RECMAP_PARSE_RAISE), RECMAP_CORRUPT);
    assert_int_equal(parsing->error.offset, 1);
}

/* Bytes from anywhere are buffers of their own in Arrow, with nothing that lies between them. */
static void test_bytes_from_anywhere(void **state) {
    struct parsing *parsing = *state;
    const char *const texts[] = {"iAaA", "iBw1", "iCaA"};
    far_text = malloc(FAR_SIZE);
    assert_non_null(far_text);
    memset(far_text, 'x', FAR_SIZE);
    assert_int_equal(run(parsing, texts, 3, RECMAP_PARSE_RAISE), RECMAP_OK);
    struct ArrowArray array;
    struct ArrowSchema schema;
    assert_int_equal(
        recmap_columns_export_arrow_column(&array, &schema, parsing->columns, WORDS, NULL),
        RECMAP_OK);
    const struct ArrowArray *words = array.children[0];
    assert_int_equal(words->n_buffers, 2 + 4 + 1);
    const int64_t *sizes = words->buffers[6];
    for (int row = 0; row < 2; row++) {
        assert_ptr_equal(words->buffers[2 + 2 * row], near_text);
        assert_int_equal(sizes[2 * row], sizeof near_text - 1);
        assert_ptr_equal(words->buffers[3 + 2 * row], far_text);
        assert_int_equal(sizes[2 * row + 1], FAR_SIZE);
    }
    array.release(&array);
    schema.release(&schema);
    free(far_text);
}

/* A row that fails after it has set values keeps none of them. */
static void test_failures_are_collected(void **state) {
    struct parsing *parsing = *state;
    const char *const texts[] = {"iAw2p1", "iBw2p1sCfA", "iCw1p2"};
    assert_int_equal(run(parsing, texts, 3, RECMAP_PARSE_COLLECT), RECMAP_OK);
    assert_int_equal(recmap_columns_failure_count(parsing->columns), 1);
    recmap_failure failure = recmap_columns_failure(parsing->columns, 0);
    assert_int_equal(failure.row, 1);
    assert_int_equal(failure.number, 101);
    assert_string_equal(failure.message, "a bad letter");
    static const int16_t ids[] = {'A', 0, 'C'};
    assert_memory_equal(recmap_columns_get(parsing->columns, ID)->values, ids, sizeof ids);
    static const int64_t rows[] = {0, 2, 2, 3};
    assert_memory_equal(recmap_columns_get(parsing->columns, WORDS)->offsets[0], rows, sizeof rows);
    for (size_t c = 0; c < COLUMNS; c++)
        assert_int_equal(recmap_columns_get(parsing->columns, c)->validity[0] & 7, 5);
}

/* A row that is taken back is null once, whatever was noted of it before. */
static void test_a_row_is_null_once(void **state) {
    struct parsing *parsing = *state;
    const recmap_feature wanted[] = {features[WORDS], features[ID]};
    const char *const texts[] = {"xx", "xx", "xx"};
    recmap_parser *parser = parsing->parser;
    assert_int_equal(recmap_parser_create_custom(&parsing->parser, wanted, 2, parse,
                                                 &parsing->calls, &parsing->error),
                     RECMAP_OK);
    recmap_parser_release(parser);
    assert_int_equal(run(parsing, texts, 3, RECMAP_PARSE_COLLECT), RECMAP_OK);
    assert_int_equal(recmap_columns_failure_count(parsing->columns), 3);
    for (size_t c = 0; c < 2; c++)
        assert_int_equal(recmap_columns_get(parsing->columns, c)->null_count, 3);
}

/* A custom parser fills the columns itself, so raw features, keys, partitions and sparse indices
 * are refused. */
static void test_what_cannot_be_asked_for(void **state) {
    (void)state;
    static const uint64_t sizes[] = {2};
    static const char *const keys[] = {"k"};
    const recmap_partition partition = {.kind = RECMAP_PARTITION_UNIFORM, .length = 2};
    const recmap_feature refused[] = {
        {.name = "a", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_INT8, .raw = 1},
        {.name = "a", .key = "b", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_INT8},
        {.name = "a",
         .kind = RECMAP_FEATURE_RAGGED,
         .element = RECMAP_ELEMENT_INT8,
         .partitions = &partition,
         .partition_count = 1},
        {.name = "a",
         .kind = RECMAP_FEATURE_SPARSE,
         .element = RECMAP_ELEMENT_INT8,
         .index_keys = keys,
         .sizes = sizes,
         .index_count = 1},
        {.kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_INT8},
    };
    recmap_parser *parser = NULL;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_int_equal(recmap_parser_create_custom(&parser, &refused[i], 1, parse, NULL, NULL),
                         RECMAP_INVALID);
    assert_int_equal(recmap_parser_create_custom(&parser, features, 1, NULL, NULL, NULL),
                     RECMAP_INVALID);
    assert_int_equal(recmap_parser_create_custom(&parser, NULL, 1, parse, NULL, NULL),
                     RECMAP_INVALID);
    assert_null(parser);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_custom_parsers_fill_columns, begin, end),
        cmocka_unit_test_setup_teardown(test_what_is_set_wrongly, begin, end),
        cmocka_unit_test_setup_teardown(test_bytes_from_anywhere, begin, end),
        cmocka_unit_test_setup_teardown(test_failures_are_collected, begin, end),
        cmocka_unit_test_setup_teardown(test_a_row_is_null_once, begin, end),
        cmocka_unit_test(test_what_cannot_be_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
