/* Any bytes as the JSON of a record: refused at a byte of the text, or a record whose JSON reads
 * back as the same record, for good. What came as a message is canonical, as protobuf-c sees it.
 * The same of what bytes say as a record. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/example.h>
#include <recmap/example_builder.h>

#include "fuzz/fuzz.h"
#include "unit/parse/example/against.h"
#include "unit/parse/example/canonical.h"

static void check(bool holds) {
    if (!holds) abort();
}

struct bytes {
    uint8_t *data;
    size_t size;
};

/* A copy, as the next record takes the builder's memory. */
static bool read_json(struct bytes *record, const char *text, size_t size) {
    recmap_example_builder *builder;
    recmap_error error = RECMAP_ERROR_INIT;
    const uint8_t *data = NULL;
    check(recmap_example_builder_create(&builder, NULL) == RECMAP_OK);
    recmap_status status =
        recmap_example_builder_read_json(&data, &record->size, builder, text, size, &error);
    check(status == RECMAP_OK || (status == RECMAP_INVALID && error.offset <= size));
    if (status == RECMAP_OK) {
        record->data = malloc(record->size + 1);
        check(record->data != NULL);
        if (record->size) memcpy(record->data, data, record->size);
    }
    recmap_example_builder_destroy(builder);
    return status == RECMAP_OK;
}

static recmap_text write_json(const struct bytes *record) {
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_record view = {record->data, record->size, 0, NULL};
    check(recmap_record_to_json(&text, &view, NULL) == RECMAP_OK);
    return text;
}

static bool is_base64(const recmap_text *json) {
    return json->size > 9 && !memcmp(json->data, "{\"number\"", 9);
}

static bool same(const struct bytes *a, const struct bytes *b) {
    return a->size == b->size && !memcmp(a->data, b->data, a->size);
}

static void check_canonical(const struct bytes *record) {
    struct bytes expected;
    if (find_departures(record->data, record->size)) return;
    if (!canonical(&expected.data, &expected.size, record->data, record->size)) return;
    check(same(record, &expected));
    free(expected.data);
}

/* A record to JSON and back twice. Returns whether it came back as it was the first time. */
static bool round_trip(const struct bytes *record) {
    struct bytes back = {0}, again = {0};
    recmap_text json = write_json(record);
    check(read_json(&back, json.data, json.size));
    recmap_text second = write_json(&back);
    check(second.size == json.size && !memcmp(second.data, json.data, json.size));
    check(read_json(&again, second.data, second.size) && same(&back, &again));
    /* protobuf-c ends a name at a NUL. */
    if (!is_base64(&json) && !strstr(json.data, "\\u0000")) check_canonical(&back);
    bool is_same = same(record, &back);
    check(is_same || !is_base64(&json));
    recmap_text_deinit(&json);
    recmap_text_deinit(&second);
    free(back.data);
    free(again.data);
    return is_same;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes record = {0}, input = {malloc(size + 1), size};
    check(input.data != NULL);
    if (size) memcpy(input.data, data, size);
    if (read_json(&record, (const char *)data, size)) {
        /* Bytes that came as they are need not be canonical. */
        bool was_base64 = memmem(data, size, "64", 2) || memchr(data, '\\', size);
        check(round_trip(&record) || was_base64);
        free(record.data);
    }
    round_trip(&input);
    free(input.data);
    return 0;
}
