/* Any bytes as a descriptor set, and as a record that is read as a message: the first byte says
 * which. What is accepted gives the same columns again, leaves the rows beside it alone, and is
 * JSON of a whole text. */
#include <stdlib.h>
#include <string.h>

#include <recmap/message.h>

#include "fuzz/fuzz.h"
#include "unit/parse/message/type_set.h"

enum { FEATURE_COUNT = 9 };

#define FIELD(path, its_kind, its_element)                                                         \
    { .name = (path), .kind = (its_kind), .element = (its_element) }

static const uint64_t two[] = {2};

static const recmap_feature features[FEATURE_COUNT] = {
    FIELD("a", RECMAP_FEATURE_FIXED_LEN, RECMAP_ELEMENT_INT16),
    FIELD("many", RECMAP_FEATURE_VAR_LEN, RECMAP_ELEMENT_INT32),
    FIELD("items.values", RECMAP_FEATURE_VAR_LEN, RECMAP_ELEMENT_FLOAT32),
    FIELD("child.items.items.f", RECMAP_FEATURE_VAR_LEN, RECMAP_ELEMENT_UINT32),
    FIELD("x", RECMAP_FEATURE_VAR_LEN, RECMAP_ELEMENT_INT64),
    FIELD("y.values", RECMAP_FEATURE_VAR_LEN, RECMAP_ELEMENT_FLOAT16),
    FIELD("text", RECMAP_FEATURE_FIXED_LEN, RECMAP_ELEMENT_BYTES),
    FIELD("items.f", RECMAP_FEATURE_FIXED_LEN_SEQUENCE, RECMAP_ELEMENT_UINT64),
    {.name = "raw",
     .kind = RECMAP_FEATURE_FIXED_LEN,
     .element = RECMAP_ELEMENT_UINT8,
     .shape = two,
     .dimension_count = 1,
     .raw = RECMAP_RAW_LITTLE_ENDIAN,
     .raw_resize = 1},
};

static void must_be(int is_true) {
    if (!is_true) abort();
}

static void print(const recmap_message_type *type, const uint8_t *data, size_t size) {
    recmap_text text = RECMAP_TEXT_INIT;
    const recmap_record record = {data, size, 7, NULL};
    must_be(recmap_message_to_json(&text, type, &record, NULL) == RECMAP_OK);
    must_be(text.size >= 2 && text.data[0] == '{' && text.data[text.size - 1] == '}');
    must_be(strlen(text.data) == text.size);
    recmap_text_deinit(&text);
}

static recmap_status count_field(const char *path, const recmap_message_field *field,
                                 void *context) {
    recmap_message_field found;
    const recmap_message_type *type = context;
    must_be(recmap_message_type_find(&found, type, path, NULL) == RECMAP_OK);
    must_be(found.levels == field->levels && found.element == field->element);
    return RECMAP_OK;
}

/* Every field that is listed is found, and its own bytes are a record like any others. */
static void read_set(const uint8_t *data, size_t size) {
    static const char *const names[] = {"Root", "A", "test.Item"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        recmap_message_type *type = NULL;
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = recmap_message_type_create(&type, data, size, names[i], &error);
        if (status != RECMAP_OK) {
            must_be(status == RECMAP_INVALID && *error.message);
            continue;
        }
        must_be(recmap_message_type_visit(count_field, type, type, NULL) == RECMAP_OK);
        print(type, data, size);
        recmap_message_type_release(type);
    }
}

/* The good record is empty: its rows are defaults and nothing. */
static void check_rows(const recmap_columns *columns) {
    const int16_t *a = recmap_columns_get(columns, 0)->values;
    const int64_t *many = recmap_columns_get(columns, 1)->offsets[0];
    const recmap_bytes *text = recmap_columns_get(columns, 6)->views;
    must_be(a[0] == 0 && a[2] == 0);
    must_be(many[0] == 0 && many[1] == 0 && many[3] == many[2]);
    must_be(text[0].size == 0 && text[2].size == 0);
}

static void read_record(const recmap_message_type *type, const recmap_parser *parser,
                        const uint8_t *data, size_t size) {
    recmap_columns *columns = NULL;
    const recmap_record records[] = {{data, 0, 0, NULL}, {data, size, 1, NULL}, {data, 0, 2, NULL}};
    size_t failure_count = 0;
    must_be(recmap_columns_create(&columns, NULL) == RECMAP_OK);
    for (int i = 0; i < 2; i++) {
        must_be(recmap_parser_parse(columns, parser, records, 3, RECMAP_PARSE_COLLECT, NULL) ==
                RECMAP_OK);
        must_be(i == 0 || failure_count == recmap_columns_failure_count(columns));
        failure_count = recmap_columns_failure_count(columns);
        must_be(failure_count <= 1);
        check_rows(columns);
    }
    recmap_columns_destroy(columns);
    print(type, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static recmap_message_type *type;
    static recmap_parser *parser;
    if (!type) {
        struct wire_bytes set = small_type_set();
        must_be(recmap_message_type_create(&type, set.data, set.size, "Root", NULL) == RECMAP_OK);
        must_be(recmap_parser_create_message(&parser, type, features, FEATURE_COUNT, NULL) ==
                RECMAP_OK);
        wire_bytes_free(&set);
    }
    if (size && data[0] == 's') read_set(data + 1, size - 1);
    else if (size) read_record(type, parser, data + 1, size - 1);
    return 0;
}
