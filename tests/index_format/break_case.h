/* A wrong statement of an index, and how it is refused. The index is forged from sample.rmx: its
 * hashes and its seal are right. */
#ifndef RECMAP_TESTS_INDEX_FORMAT_BREAK_CASE_H
#define RECMAP_TESTS_INDEX_FORMAT_BREAK_CASE_H

#include "index/tables/index.h"
#include "support/index/forged.h"

struct break_case {
    const char *name;
    void (*say)(struct forged *index);    /* before manifest, shards and damages are encoded */
    void (*change)(struct forged *index); /* after it */
    recmap_status (*use)(struct index_file *index,
                         recmap_error *error); /* NULL: refused on opening */
    const char *message;                       /* after "the index is damaged or forged: " */
    const char *other_message;
};

#define SAYS(broken, text)                                                                         \
    { .name = #broken, .say = broken, .message = text }
#define CHANGES(broken, text)                                                                      \
    { .name = #broken, .change = broken, .message = text }
#define USED(broken, user, text)                                                                   \
    { .name = #broken, .change = broken, .use = user, .message = text }
/* Returns value i of a table, which must exist. */
struct forged_value *value_of(struct forged *index, enum store_table table, size_t i);

/* Adds a copy of the first value of a table under another key. */
void add_copy(struct forged *index, enum store_table table, struct store_key key);

/* A test whose state is the case. */
void break_case_run(void **state);

/* Enters a folder that contains sample.rmx. */
int break_case_enter(void **state);

#endif
