/* Advice for a record without a feature that is to be lifted, or to be its id: which features it
 * has. */
#ifndef RECMAP_INDEX_EXTRACT_MISSING_ADVICE_H
#define RECMAP_INDEX_EXTRACT_MISSING_ADVICE_H

#include <stddef.h>
#include <stdint.h>

/* Writes which features the record has, those with names near `name` first. If none is near, the
 * name is probably not misspelt, so the advice also says how to give a default. Writes "" if the
 * record has a feature of that name (without a value) or cannot be read. */
void missing_advice_write(char *advice, size_t capacity, const char *name, const uint8_t *data,
                          size_t size);

/* The same for the first record of an index without ids: "did you mean" and the features with names
 * near `name`, or all features of the record if none is near. */
void missing_id_advice_write(char *advice, size_t capacity, const char *name, const uint8_t *data,
                             size_t size);

#endif
