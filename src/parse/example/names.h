/* Feature names, compiled for fast lookup of names found in records. */
#ifndef RECMAP_PARSE_EXAMPLE_NAMES_H
#define RECMAP_PARSE_EXAMPLE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

/* Immutable once created; may be shared between threads. */
struct example_names;

/* Compiles copies of `count` names, which may repeat. Returns RECMAP_INVALID for a name that is not
 * UTF-8, which no Example can contain, or RECMAP_NO_MEMORY. */
recmap_status example_names_create(struct example_names **names, const char *const *list,
                                   size_t count, recmap_error *error);
void example_names_destroy(struct example_names *names);

size_t example_names_count(const struct example_names *names);

/* Returns the index of the first name equal to these bytes, or SIZE_MAX. */
size_t example_names_find(const struct example_names *names, const uint8_t *name, size_t size);

/* The hash used for lookups. It is not keyed: a record may contain names that collide. */
uint64_t example_names_hash(const uint8_t *name, size_t size);

/* Returns the index of the first name equal to name `index`: `index` itself unless it repeats an
 * earlier one. */
size_t example_names_first(const struct example_names *names, size_t index);

/* Returns whether any name repeats another. */
bool example_names_repeat(const struct example_names *names);

#endif
