/* What the tests of the store share: a folder with one index, in memory where possible, and the
 * sample that it holds. A failure ends the test. */
#ifndef RECMAP_TESTS_UNIT_INDEX_STORE_FIXTURE_H
#define RECMAP_TESTS_UNIT_INDEX_STORE_FIXTURE_H

#include <stdbool.h>

#include "index/store/store.h"

/* Sanitizers need memory and address space of their own. */
extern const bool is_sanitized;

extern char folder[64];
extern char path[96]; /* of the index */

/* Creates and removes the folder. Removal fails if files are left over. */
int enter(void **state);
int leave(void **state);

void expect_ok(recmap_status status, const recmap_error *error);

struct store *open_store(const struct store_options *options);

/* Compares all values with what sample_write wrote. */
void expect_sample(struct store *opened);

void write_empty_store(void);

/* Writes 5,000 values to each table, more than 100 MB in all. Returns 0, or 1 after an error. */
int write_large_store(const char *target);

#endif
