/* The deterministic serialisation of an Example or a SequenceExample, made by protobuf-c out of
 * maps that are sorted here. */
#ifndef RECMAP_TESTS_UNIT_PARSE_EXAMPLE_CANONICAL_H
#define RECMAP_TESTS_UNIT_PARSE_EXAMPLE_CANONICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Into malloc'ed memory. False when protobuf-c refuses the bytes, or cannot write what libprotobuf
 * writes: it leaves out empty names, and ends a name at a NUL. Of the bytes nothing may be among
 * what find_departures of against.h lists, and nothing unknown. */
bool canonical(uint8_t **out, size_t *out_size, const uint8_t *data, size_t size);

#endif
