#include "unit/parse/message/type_set.h"

#include <stdio.h>

static void reserve(struct wire_bytes *bytes, size_t more) {
    if (bytes->size + more <= bytes->capacity) return;
    bytes->capacity = 2 * (bytes->size + more);
    bytes->data = realloc(bytes->data, bytes->capacity);
    if (!bytes->data) abort();
}

void wire_bytes_free(struct wire_bytes *bytes) {
    free(bytes->data);
    *bytes = (struct wire_bytes){NULL, 0, 0};
}

void put_varint(struct wire_bytes *bytes, uint64_t value) {
    reserve(bytes, 10);
    for (; value > 0x7f; value >>= 7) bytes->data[bytes->size++] = (uint8_t)(value | 0x80);
    bytes->data[bytes->size++] = (uint8_t)value;
}

void put_number(struct wire_bytes *bytes, unsigned field, uint64_t value) {
    put_varint(bytes, field << 3);
    put_varint(bytes, value);
}

void put_data(struct wire_bytes *bytes, unsigned field, const void *data, size_t size) {
    put_varint(bytes, field << 3 | 2);
    put_varint(bytes, size);
    reserve(bytes, size + 1);
    if (size) memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void put_text(struct wire_bytes *bytes, unsigned field, const char *text) {
    put_data(bytes, field, text, strlen(text));
}

void put_message(struct wire_bytes *bytes, unsigned field, struct wire_bytes *message) {
    put_data(bytes, field, message->data, message->size);
    wire_bytes_free(message);
}

void put_field(struct wire_bytes *type, const char *text) {
    char name[40], type_name[40] = "-", oneof[8] = "-", preset[40] = "-";
    unsigned number, kind, label;
    struct wire_bytes field = {NULL, 0, 0};
    if (sscanf(text, "%39s %u %u %u %39s %7s %39s", name, &number, &kind, &label, type_name, oneof,
               preset) < 4)
        abort();
    put_text(&field, 1, name);
    put_number(&field, 3, number);
    put_number(&field, 4, label);
    put_number(&field, 5, kind);
    if (strcmp(type_name, "-") != 0) put_text(&field, 6, type_name);
    if (strcmp(oneof, "-") != 0) put_number(&field, 9, strtoull(oneof, NULL, 10));
    if (strcmp(preset, "-") != 0) put_text(&field, 7, preset);
    put_message(type, 2, &field);
}

struct wire_bytes type_of(const char *name, const char *const *fields) {
    struct wire_bytes type = {NULL, 0, 0}, oneof = {NULL, 0, 0};
    put_text(&type, 1, name);
    for (; *fields; fields++) put_field(&type, *fields);
    put_text(&oneof, 1, "choice");
    put_message(&type, 8, &oneof);
    return type;
}

struct wire_bytes small_type_set(void) {
    static const char *const root[] = {"a 1 5 1",
                                       "many 2 5 3",
                                       "child 3 11 1 .test.Root",
                                       "items 4 11 3 .test.Item",
                                       "text 5 9 1",
                                       "d 16 1 1",
                                       "x 6 18 1 - 0",
                                       "y 7 11 1 .test.Item 0",
                                       "raw 8 12 1",
                                       "u 9 4 1 - - 7",
                                       NULL};
    static const char *const item[] = {"values 1 2 3", "f 2 7 1", "items 3 11 3 .test.Item", NULL};
    struct wire_bytes set = {NULL, 0, 0}, file = {NULL, 0, 0};
    struct wire_bytes types[] = {type_of("Root", root), type_of("Item", item)};
    put_text(&file, 1, "test.proto");
    put_text(&file, 2, "test");
    put_message(&file, 4, &types[0]);
    put_message(&file, 4, &types[1]);
    put_message(&set, 1, &file);
    return set;
}
