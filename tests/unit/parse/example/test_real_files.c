/* Files of other projects: every record read by us and by protobuf-c, their features against the
 * list that comes with them, and every record as JSON. */
#include <recmap/example.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/parse/example/against.h"
#include "unit/parse/example/data.h"

/* The lists were made from so many records at the beginning of each file. */
enum { LISTED_RECORDS = 2000 };

/* What a file holds: its records as JSON lines are only counted. */
struct totals {
    unsigned files;
    unsigned records;
    unsigned examples; /* with a JSON of their own */
    unsigned features;
};

static void check_record(struct totals *totals, const uint8_t *data, size_t size) {
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_record record = {data, size, totals->records, NULL};
    const char *difference = find_difference(data, size);
    if (difference) fail_msg("record %u: %s", totals->records, difference);
    assert_int_equal(recmap_record_to_json(&text, &record, NULL), RECMAP_OK);
    totals->examples += strncmp(text.data, "{\"number\":", 10) != 0;
    totals->records++;
    recmap_text_deinit(&text);
}

/* Reads a file; its first records go into a schema, which the caller destroys. */
static recmap_schema *read_file(struct totals *totals, const char *name) {
    char path[1024];
    struct record_file file;
    recmap_schema *schema = NULL;
    const uint8_t *data;
    size_t size;
    snprintf(path, sizeof path, "tfrecord/%s", name);
    if (!record_file_open(&file, path)) fail_msg("%s is missing", path);
    assert_int_equal(recmap_schema_create(&schema, NULL), RECMAP_OK);
    for (unsigned i = 0; record_file_next(&data, &size, &file); i++) {
        check_record(totals, data, size);
        if (i < LISTED_RECORDS)
            assert_int_equal(recmap_schema_add(schema, data, size, NULL), RECMAP_OK);
    }
    assert_int_equal(file.at, file.size);
    record_file_close(&file);
    totals->files++;
    return schema;
}

static bool find_feature(recmap_schema_feature *feature, const recmap_schema *schema,
                         const char *name) {
    for (size_t i = 0; i < recmap_schema_feature_count(schema); i++) {
        *feature = recmap_schema_get_feature(schema, i);
        if (strcmp(feature->name, name) == 0) return true;
    }
    return false;
}

/* `listed` is "int64[3]" or "float[0..1]": the kind in the first record, and how many values, where
 * an unset feature counts as one of 0. */
static void check_feature(const char *file, const recmap_schema *schema, const char *name,
                          const char *listed) {
    recmap_schema_feature found = {0};
    char kind[16];
    unsigned long long min, max;
    if (!find_feature(&found, schema, name)) fail_msg("%s: %s is missing", file, name);
    int parts = sscanf(listed, "%15[a-z0-9][%llu..%llu]", kind, &min, &max);
    assert_true(parts >= 2);
    if (parts == 2) max = min;
    bool is_unset = strcmp(kind, "unset") == 0;
    if (!is_unset || max == 0) assert_string_equal(found.kind, kind);
    assert_int_equal(found.max_length, max);
    if (found.share == 1.0) assert_int_equal(found.min_length, min);
    else assert_true(min == 0 || found.min_length == min);
}

/* The text between the first two quotes; cuts the line. NULL without quotes. */
static char *quoted(char **line) {
    char *begin = strchr(*line, '"');
    char *end = begin ? strchr(begin + 1, '"') : NULL;
    if (!end) return NULL;
    *end = 0;
    *line = end + 1;
    return begin + 1;
}

/* The list is JSON as it is printed with an indent of 1: a file's line has one space, a feature's
 * two. Files of other messages list none, or names with a colon in front. */
static void test_features_of_real_files_are_found(void **state) {
    (void)state;
    size_t size;
    char *list = (char *)data_read("tfrecord/schemas.json", &size);
    assert_non_null(list);
    struct totals totals = {0};
    recmap_schema *schema = NULL;
    const char *file = NULL;
    size_t expected = 0;
    for (char *line = list, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        size_t indent = strspn(line, " ");
        char *name = quoted(&line), *listed = name ? quoted(&line) : NULL;
        if (indent == 1 && name) {
            file = name;
            schema = read_file(&totals, file);
            expected = 0;
            if (!strchr(line, '}')) continue;
        } else if (indent == 2 && listed) {
            bool is_sequence = strncmp(name, "ctx:", 4) == 0 || strncmp(name, "seq:", 4) == 0;
            if (!is_sequence) check_feature(file, schema, name, listed);
            expected += !is_sequence;
            continue;
        }
        if (!schema) continue;
        if (expected) assert_int_equal(recmap_schema_feature_count(schema), expected);
        totals.features += (unsigned)expected;
        recmap_schema_destroy(schema);
        schema = NULL;
    }
    print_message("%u files, %u records, %u Examples, %u features listed\n", totals.files,
                  totals.records, totals.examples, totals.features);
    assert_true(totals.files >= 71 && totals.records >= 66894 && totals.features > 500);
    free(list);
}

int main(void) {
    size_t size;
    uint8_t *list = data_read("tfrecord/schemas.json", &size);
    free(list);
    if (!list) {
        puts("skipped: no folder of test data");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_of_real_files_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
