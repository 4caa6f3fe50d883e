/* Test vectors of docs/formats/vectors: cases of `KEY VALUE` lines. A repeated key continues its
 * value. Lines that do not have this form fail the current test. */
#ifndef RECMAP_TESTS_SUPPORT_VECTOR_FILE_H
#define RECMAP_TESTS_SUPPORT_VECTOR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vector_case;

struct vector_file {
    struct vector_case *cases;
    size_t count;
};

/* The file docs/formats/vectors/NAME. */
struct vector_file vectors_load(const char *name);
void vectors_deinit(struct vector_file *file);

const struct vector_case *vectors_at(const struct vector_file *file, size_t i);
const struct vector_case *vectors_find(const struct vector_file *file, const char *title);

const char *vector_title(const struct vector_case *vector);
bool vector_has(const struct vector_case *vector, const char *key);

/* The value of a key as text, its lines joined by a space; lives as long as the file. */
const char *vector_text(const struct vector_case *vector, const char *key);
uint64_t vector_number(const struct vector_case *vector, const char *key);

/* Numbers, and bytes given in hex; malloc'ed, never NULL, for the caller to free. */
uint64_t *vector_numbers(const struct vector_case *vector, const char *key, size_t *count);
uint8_t *vector_bytes(const struct vector_case *vector, const char *key, size_t *size);

/* Checks that the value of a key is these bytes. */
void vector_expect(const struct vector_case *vector, const char *key, const void *bytes,
                   size_t size);

/* Parses bytes in hex up to the next space; returns their number and moves `*text` past them. */
size_t vector_parse_hex(uint8_t *bytes, const char **text);

#endif
