/* Advice to build an index again: the command with its shards, ids, columns and counts. */
#ifndef RECMAP_INDEX_TABLES_REBUILD_ADVICE_H
#define RECMAP_INDEX_TABLES_REBUILD_ADVICE_H

#include "index/tables/index.h"

/* An option of `recmap index` that the index lacks, such as "--lift", and its argument. */
struct rebuild_option {
    const char *name; /* NULL: none */
    const char *argument;
};

/* Sets the advice "PREFIX`recmap index ... -o NAME.rmx SHARD...`". If the index has many shards
 * that no single name means, or names that cannot be written in a command, it is the command
 * without its operands. `index` may be NULL. */
void index_advise_rebuild(recmap_error *error, const struct index_file *index,
                          struct rebuild_option option, const char *prefix);

/* Sets the advice "PREFIXif the records have it, `recmap index --lift NAME INDEX.rmx` adds it...".
 * A name that cannot be written in a command is replaced. `index` may be NULL. */
void index_advise_lift(recmap_error *error, const struct index_file *index, const char *name,
                       const char *prefix);

#endif
