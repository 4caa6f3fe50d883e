/* The memory of one batch of columns: sinks, what is made of them, the columns themselves. Counted,
 * as exports use it when the columns have long gone on, and used again when nobody does. */
#ifndef RECMAP_COLUMNS_BATCH_MEMORY_H
#define RECMAP_COLUMNS_BATCH_MEMORY_H

#include <stdatomic.h>

#include <recmap/columns.h>

#include "example/wire.h"
#include "plan/batch_part.h"
#include "plan/plan.h"

struct failure_entry {
    uint64_t row, number, offset;
    recmap_status status;
    size_t message; /* where it begins in the text of all */
};

struct batch_memory {
    atomic_uint users;   /* the columns while this is their batch, and exports */
    atomic_uint holders; /* the columns, and all users together as one */
    recmap_parser *parser;
    struct sink *sinks; /* one a slot of features, then one a slot of lists */
    size_t sink_count;
    struct wire *found;   /* for read_lists */
    bool *own_set;        /* for own_row_read: a slot's values were set */
    struct buffer *parts; /* parser->part_stride for each column */
    size_t part_count;
    recmap_column *columns;
    size_t column_count;
    uint64_t row_count;
    struct failure_entry *failures;
    size_t failure_count, failure_capacity;
    char *failure_text;
    size_t failure_text_size, failure_text_capacity;
    void *owner;
    void (*release)(void *owner);
};

/* New memory with one holder and no user; NULL when memory is out. */
struct batch_memory *batch_memory_create(void);

/* Makes it the memory of a batch of the parser's: sinks and parts for it, empty, and the first
 * user. Only while it is idle. False when memory is out; it is idle then. */
bool batch_memory_begin(struct batch_memory *memory, recmap_parser *parser, size_t row_count);

/* Whether nobody uses it, so that the one holder may begin it again. */
bool batch_memory_is_idle(struct batch_memory *memory);

/* One more user, or one less. The last one lets its owner go. Any thread. */
struct batch_memory *batch_memory_use(struct batch_memory *memory);
void batch_memory_unuse(struct batch_memory *memory);

/* One holder less; the last one frees it. */
void batch_memory_drop(struct batch_memory *memory);

/* Part of a column; offsets of levels are part BATCH_PART_LEVELS + level. */
struct buffer *batch_memory_part(struct batch_memory *memory, size_t column_index, size_t part);

/* The sink of a slot: of lists when `is_list`. */
struct sink *batch_memory_sink(struct batch_memory *memory, bool is_list, size_t slot_index);

/* False when memory is out. */
bool batch_memory_add_failure(struct batch_memory *memory, const struct failure_entry *failure,
                              const char *message);

#endif
