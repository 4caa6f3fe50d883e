/* SequenceExamples, parsed for what they hold, against protobuf-c: made ones, real files, and every
 * truncation of some. They hold nothing that protobuf-c reads otherwise than libprotobuf. */
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

#include "example.pb-c.h"
#include "parse/example/foreign.h"
#include "unit/parse/example/build.h"
#include "unit/parse/example/data.h"
#include "unit/parse/example/random_sequence.h"

typedef Tensorflow__SequenceExample sequence;
typedef Tensorflow__Feature feature;

enum { ASKED_MAX = 32, NAME_LIMIT = 80 };

/* A VAR_LEN of the context, or of the feature lists. */
struct asked {
    char name[NAME_LIMIT];
    int kind; /* of protobuf-c */
    bool is_list;
};

struct checker {
    struct asked asked[ASKED_MAX];
    size_t context_count;
    size_t count;
    recmap_parser *parser;
    recmap_columns *columns;
};

static recmap_element element_of(int kind) {
    switch (kind) {
    case TENSORFLOW__FEATURE__KIND_BYTES_LIST: return RECMAP_ELEMENT_BYTES;
    case TENSORFLOW__FEATURE__KIND_FLOAT_LIST: return RECMAP_ELEMENT_FLOAT32;
    default: return RECMAP_ELEMENT_INT64;
    }
}

static int kind_of(const feature *f) {
    return f ? (int)f->kind_case : TENSORFLOW__FEATURE__KIND__NOT_SET;
}

static void ask_for(struct checker *c, const char *name, int kind, bool is_list) {
    if (c->count == ASKED_MAX || strlen(name) >= NAME_LIMIT) return;
    struct asked *added = &c->asked[c->count++];
    snprintf(added->name, sizeof added->name, "%s", name);
    added->kind = kind ? kind : TENSORFLOW__FEATURE__KIND_INT64_LIST;
    added->is_list = is_list;
}

/* What a record holds; names are there once. */
static void ask_for_all(struct checker *c, const sequence *record) {
    for (size_t i = 0; record->context && i < record->context->n_feature; i++)
        ask_for(c, record->context->feature[i]->key, kind_of(record->context->feature[i]->value),
                false);
    c->context_count = c->count;
    for (size_t i = 0; record->feature_lists && i < record->feature_lists->n_feature_list; i++) {
        const Tensorflow__FeatureList *list = record->feature_lists->feature_list[i]->value;
        int kind = 0;
        for (size_t k = 0; list && k < list->n_feature && !kind; k++)
            kind = kind_of(list->feature[k]);
        ask_for(c, record->feature_lists->feature_list[i]->key, kind, true);
    }
}

static void checker_open(struct checker *c, const sequence *record) {
    recmap_feature features[ASKED_MAX];
    recmap_error error = RECMAP_ERROR_INIT;
    c->count = 0;
    ask_for_all(c, record);
    for (size_t i = 0; i < c->count; i++)
        features[i] = (recmap_feature){.name = c->asked[i].name,
                                       .kind = RECMAP_FEATURE_VAR_LEN,
                                       .element = element_of(c->asked[i].kind)};
    if (recmap_parser_create_sequence(&c->parser, features, c->context_count,
                                      features + c->context_count, c->count - c->context_count,
                                      &error) != RECMAP_OK)
        fail_msg("%s", error.message);
    assert_int_equal(recmap_columns_create(&c->columns, &error), RECMAP_OK);
}

static void checker_close(struct checker *c) {
    recmap_columns_destroy(c->columns);
    recmap_parser_release(c->parser);
}

/* ---- what protobuf-c has of a feature ---- */

static const feature *find_context(const sequence *record, const char *name) {
    for (size_t i = record->context ? record->context->n_feature : 0; i-- > 0;)
        if (!strcmp(record->context->feature[i]->key, name))
            return record->context->feature[i]->value;
    return NULL;
}

/* Returns true if there is a list of that name, and its steps; `list` is NULL for one without a
 * value. */
static bool find_list(const Tensorflow__FeatureList **list, const sequence *record,
                      const char *name) {
    size_t count = record->feature_lists ? record->feature_lists->n_feature_list : 0;
    while (count-- > 0) {
        if (strcmp(record->feature_lists->feature_list[count]->key, name) != 0) continue;
        *list = record->feature_lists->feature_list[count]->value;
        return true;
    }
    return false;
}

static size_t value_count(const feature *f) {
    switch (kind_of(f)) {
    case TENSORFLOW__FEATURE__KIND_INT64_LIST: return f->int64_list->n_value;
    case TENSORFLOW__FEATURE__KIND_FLOAT_LIST: return f->float_list->n_value;
    case TENSORFLOW__FEATURE__KIND_BYTES_LIST: return f->bytes_list->n_value;
    default: return 0;
    }
}

static bool fits(const feature *f, int kind) {
    return value_count(f) == 0 || kind_of(f) == kind;
}

/* Returns whether the record has the features asked for; false for NULL. */
static bool record_fits(const struct checker *c, const sequence *record) {
    for (size_t i = 0; i < c->count && record; i++) {
        const Tensorflow__FeatureList *list = NULL;
        if (!c->asked[i].is_list) {
            if (!fits(find_context(record, c->asked[i].name), c->asked[i].kind)) return false;
        } else if (find_list(&list, record, c->asked[i].name)) {
            for (size_t k = 0; list && k < list->n_feature; k++)
                if (!fits(list->feature[k], c->asked[i].kind)) return false;
        }
    }
    return record != NULL;
}

/* ---- columns ---- */

static void check_values(const recmap_column *column, int64_t begin, int64_t end,
                         const feature *theirs) {
    size_t count = value_count(theirs);
    assert_int_equal(end - begin, count);
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)begin + i;
        if (column->element == RECMAP_ELEMENT_INT64) {
            assert_true(((const int64_t *)column->values)[at] == theirs->int64_list->value[i]);
        } else if (column->element == RECMAP_ELEMENT_FLOAT32) {
            assert_memory_equal((const float *)column->values + at, &theirs->float_list->value[i],
                                sizeof(float));
        } else {
            const ProtobufCBinaryData *wanted = &theirs->bytes_list->value[i];
            assert_int_equal(column->views[at].size, wanted->len);
            if (wanted->len) assert_memory_equal(column->views[at].data, wanted->data, wanted->len);
        }
    }
}

static bool is_valid(const recmap_column *column, size_t row) {
    return !column->validity || (column->validity[row / 8] >> row % 8 & 1);
}

static void check_list(const recmap_column *column, const sequence *record, const char *name,
                       size_t row) {
    const Tensorflow__FeatureList *list = NULL;
    bool is_there = record && find_list(&list, record, name);
    int64_t begin = column->offsets[0][row], end = column->offsets[0][row + 1];
    size_t steps = is_there && list ? list->n_feature : 0;
    assert_int_equal(is_valid(column, row), is_there);
    assert_int_equal(end - begin, steps);
    for (size_t i = 0; i < steps; i++)
        check_values(column, column->offsets[1][(size_t)begin + i],
                     column->offsets[1][(size_t)begin + i + 1], list->feature[i]);
}

/* A row that is a failure has nothing in it: `record` is NULL. */
static void check_row(const struct checker *c, const sequence *record, size_t row) {
    for (size_t i = 0; i < c->count; i++) {
        const recmap_column *column = recmap_columns_get(c->columns, i);
        if (c->asked[i].is_list) {
            check_list(column, record, c->asked[i].name, row);
            continue;
        }
        const feature *theirs = record ? find_context(record, c->asked[i].name) : NULL;
        assert_int_equal(is_valid(column, row), kind_of(theirs) != 0);
        check_values(column, column->offsets[0][row], column->offsets[0][row + 1], theirs);
    }
}

enum { ROWS = 3, FIRST_NUMBER = 500 };

/* `data` between two times `other`. Returns whether it has what is asked for. */
static bool check_batch(const struct checker *c, const uint8_t *data, size_t size,
                        const uint8_t *other, size_t other_size) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint8_t *copies[ROWS];
    recmap_record records[ROWS];
    sequence *theirs[ROWS];
    size_t failed = 0;
    bool is_there = false;
    for (size_t i = 0; i < ROWS; i++) {
        size_t copied = i == 1 ? size : other_size;
        copies[i] = copy_exact(i == 1 ? data : other, copied);
        records[i] = (recmap_record){copies[i], copied, FIRST_NUMBER + i, NULL};
        theirs[i] = tensorflow__sequence_example__unpack(NULL, copied, copies[i]);
    }
    assert_int_equal(
        recmap_parser_parse(c->columns, c->parser, records, ROWS, RECMAP_PARSE_COLLECT, &error),
        RECMAP_OK);
    for (size_t i = 0; i < ROWS; i++) {
        struct foreign foreign;
        bool good = record_fits(c, theirs[i]) &&
                    !foreign_find(&foreign, records[i].data, records[i].size);
        if (i == 1) is_there = good;
        if (!good) {
            assert_true(failed < recmap_columns_failure_count(c->columns));
            recmap_failure failure = recmap_columns_failure(c->columns, failed++);
            assert_int_equal(failure.number, FIRST_NUMBER + i);
            assert_true(failure.offset <= records[i].size);
        }
        check_row(c, good ? theirs[i] : NULL, i);
        if (theirs[i]) tensorflow__sequence_example__free_unpacked(theirs[i], NULL);
    }
    assert_int_equal(recmap_columns_failure_count(c->columns), failed);
    for (size_t i = 0; i < ROWS; i++) free(copies[i]);
    return is_there;
}

/* With all its truncations if asked; those that are records must be some, and some not. */
static void check_record(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size,
                         bool with_cuts) {
    struct checker c;
    sequence *record = tensorflow__sequence_example__unpack(NULL, size, data);
    assert_non_null(record);
    checker_open(&c, record);
    check_batch(&c, data, size, other, other_size);
    check_batch(&c, other, other_size, data, size);
    for (size_t cut = 0; with_cuts && cut < size; cut++)
        check_batch(&c, data, cut, other, other_size);
    checker_close(&c);
    tensorflow__sequence_example__free_unpacked(record, NULL);
}

/* ---- made ones ---- */

static void test_made_sequences_agree_with_protobuf(void **state) {
    (void)state;
    static struct message one, other;
    struct random_state random = {1};
    unsigned rounds = getenv("RECMAP_TEST_LONG") ? 100000 : 3000;
    for (unsigned i = 0; i < rounds; i++) {
        random_sequence(&one, &random);
        random_sequence(&other, &random);
        check_record(one.data, one.size, other.data, other.size, i % 20 == 0);
    }
}

/* ---- real ones ---- */

static void check_file(const char *path, unsigned *count) {
    struct record_file file;
    const uint8_t *data, *other;
    size_t size, other_size;
    if (!record_file_open(&file, path)) fail_msg("%s is missing", path);
    while (record_file_next(&data, &size, &file)) {
        if (!record_file_next(&other, &other_size, &file)) {
            other = data;
            other_size = size;
        }
        check_record(data, size, other, other_size, size < 2000 && *count % 10 == 0);
        ++*count;
    }
    record_file_close(&file);
}

/* The list names features of lists "seq:NAME". */
static void test_real_sequences_agree_with_protobuf(void **state) {
    (void)state;
    size_t size;
    unsigned count = 0;
    char *list = (char *)data_read("tfrecord/schemas.json", &size), *file = NULL;
    if (!list) {
        print_message("skipped: no folder of test data\n");
        skip();
    }
    char path[1024], *rest = list, *line;
    while ((line = strsep(&rest, "\n"))) {
        char *begin = strchr(line, '"'), *end = begin ? strchr(begin + 1, '"') : NULL;
        if (!end) continue;
        *end = 0;
        size_t indent = (size_t)(begin - line);
        if (indent == 1) file = begin + 1;
        if (indent != 2 || !file || strncmp(begin + 1, "seq:", 4) != 0) continue;
        snprintf(path, sizeof path, "tfrecord/%s", file);
        check_file(path, &count);
        file = NULL;
    }
    free(list);
    print_message("%u records\n", count);
    assert_true(count > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_sequences_agree_with_protobuf),
        cmocka_unit_test(test_real_sequences_agree_with_protobuf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
