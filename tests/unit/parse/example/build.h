/* Building protobuf messages byte by byte, the odd ones too. */
#ifndef RECMAP_TESTS_UNIT_PARSE_EXAMPLE_BUILD_H
#define RECMAP_TESTS_UNIT_PARSE_EXAMPLE_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "parse/example/wire.h"

enum { MESSAGE_CAPACITY = 1 << 16 };

struct message {
    uint8_t data[MESSAGE_CAPACITY];
    size_t size;
};

/* All append. What does not fit ends the test program. */
void put_raw(struct message *message, const void *data, size_t size);
void put_hex(struct message *message, const char *hex);
void put_varint(struct message *message, uint64_t value);
void put_tag(struct message *message, uint32_t field, enum wire_type type);
void put_bytes(struct message *message, uint32_t field, const void *data, size_t size);
void put_sub(struct message *message, uint32_t field, const struct message *sub);

/* A whole entry of Features: field 1 with `name` and a feature of one list (kind: its field). */
void put_entry(struct message *features, const char *name, uint32_t kind,
               const struct message *list);

/* The same with packed int64 values. */
void put_int64s(struct message *features, const char *name, const int64_t *values, size_t count);

/* Memory of exactly `size` bytes (1 for 0), so that a sanitizer sees every overrun; the caller
 * frees it. */
uint8_t *copy_exact(const void *data, size_t size);

#endif
