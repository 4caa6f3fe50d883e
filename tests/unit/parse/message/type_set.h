/* Descriptor sets and messages, written field by field for tests. */
#ifndef RECMAP_TESTS_UNIT_PARSE_MESSAGE_TYPE_SET_H
#define RECMAP_TESTS_UNIT_PARSE_MESSAGE_TYPE_SET_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that grow; freed with wire_bytes_free. */
struct wire_bytes {
    uint8_t *data;
    size_t size, capacity;
};

void wire_bytes_free(struct wire_bytes *bytes);
void put_varint(struct wire_bytes *bytes, uint64_t value);
void put_number(struct wire_bytes *bytes, unsigned field, uint64_t value);
void put_data(struct wire_bytes *bytes, unsigned field, const void *data, size_t size);
void put_text(struct wire_bytes *bytes, unsigned field, const char *text);

/* Adds a message and frees it. */
void put_message(struct wire_bytes *bytes, unsigned field, struct wire_bytes *message);

/* A field of a type, as text: "NAME NUMBER TYPE LABEL [.TYPE_NAME [ONEOF [DEFAULT]]]", where TYPE
 * and LABEL are numbers of descriptor.proto and - leaves something out. */
void put_field(struct wire_bytes *type, const char *text);

/* A type whose fields are such texts, up to NULL. */
struct wire_bytes type_of(const char *name, const char *const *fields);

/* A set of one file, with two types:
 *
 *     Root { int32 a = 1; repeated int32 many = 2; Root child = 3; repeated Item items = 4;
 *            string text = 5; double d = 16; oneof { sint64 x = 6; Item y = 7; }
 *            bytes raw = 8; uint64 u = 9 [default = 7]; }
 *     Item { repeated float values = 1; fixed32 f = 2; repeated Item items = 3; } */
struct wire_bytes small_type_set(void);

#endif
