/* Names of features, compiled so that a name out of a record is found among them at once. */
#ifndef RECMAP_EXAMPLE_NAMES_H
#define RECMAP_EXAMPLE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

/* Never changes once it is made; any number of threads may use it. */
struct example_names;

/* Compiles `count` names, which are copied. A name may come more than once.
 * Errors: INVALID for a name that is not UTF-8, which no Example can hold; NO_MEMORY. */
recmap_status example_names_create(struct example_names **names, const char *const *list,
                                   size_t count, recmap_error *error);
void example_names_destroy(struct example_names *names);

size_t example_names_count(const struct example_names *names);

/* The index of the first name that equals these bytes, or SIZE_MAX. */
size_t example_names_find(const struct example_names *names, const uint8_t *name, size_t size);

/* The hash by which names are found. It is no secret: a record may hold names that collide. */
uint64_t example_names_hash(const uint8_t *name, size_t size);

/* The index of the first name that equals name `index`: `index` itself unless it repeats one. */
size_t example_names_first(const struct example_names *names, size_t index);

/* Whether any name repeats another. */
bool example_names_repeat(const struct example_names *names);

#endif
