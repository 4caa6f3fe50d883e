/* The memory of one batch of columns: its sinks, everything made of them, and the columns. It is
 * reference-counted, because exports may outlive the columns, and reused once nothing refers to it.
 *
 * There are two counts. `users` counts the readers of this batch: the columns and every export.
 * When the last one releases it, the owner of the records is released too, because views point into
 * the records. `holders` keep the memory itself: the pool of a recmap_columns, and all users
 * together as one. A pool that is the only holder may reuse the memory for its next batch. */
#ifndef RECMAP_PARSE_COLUMNS_BATCH_MEMORY_H
#define RECMAP_PARSE_COLUMNS_BATCH_MEMORY_H

#include <stdatomic.h>

#include <recmap/columns.h>

#include "parse/columns/bytes_copy.h"
#include "parse/example/wire.h"
#include "parse/plan/batch_part.h"
#include "parse/plan/plan.h"

struct failure_entry {
    uint64_t row, number, offset;
    recmap_status status;
    size_t message; /* offset in failure_text */
};

struct batch_memory {
    atomic_uint users;   /* the columns while this is their batch, and exports */
    atomic_uint holders; /* the pool, and all users together as one */
    recmap_parser *parser;
    recmap_allocator allocator; /* of what exports show; {NULL}: the C library's */
    struct sink *sinks; /* one per slot of features, then per slot of lists, then per slice, then
                           per output */
    size_t sink_count;
    struct wire *list_entries;  /* scratch space of read_lists */
    struct reader_memory texts; /* that views show and no record contains */
    bool *is_set; /* scratch space of custom_row_read: whether a slot's values were set */
    struct buffer *private_values; /* scratch space of columns_merge_read: one per sink */
    struct buffer *parts;          /* parser->part_stride per column */
    size_t part_count;
    recmap_column *columns;
    size_t column_count;
    uint64_t row_count;
    uint64_t row_width; /* elements of a row, for slices */
    struct failure_entry *failures;
    size_t failure_count, failure_capacity;
    char *failure_text;
    size_t failure_text_size, failure_text_capacity;
    bool defers_copies; /* copy_bytes only adds to `copies` */
    struct bytes_copy *copies;
    size_t copy_count, copy_capacity;
    void *owner;
    void (*release)(void *owner);
};

/* Returns new memory with one holder and no user, or NULL if memory runs out. */
struct batch_memory *batch_memory_create(void);

/* Prepares idle memory for a batch: empty sinks and parts for the parser's columns, and one user.
 * NULL for `allocator`: the C library's. Returns false if memory runs out; the memory is then still
 * idle. */
bool batch_memory_init(struct batch_memory *memory, recmap_parser *parser, size_t row_count,
                       const recmap_allocator *allocator);

/* Returns whether there are no users, so that its only holder may reuse it. */
bool batch_memory_is_idle(struct batch_memory *memory);

/* Add or remove a user; the last one releases the owner of the records, and what came from an
 * allocator. Callable from any thread. */
struct batch_memory *batch_memory_retain(struct batch_memory *memory);
void batch_memory_release(struct batch_memory *memory);

/* Removes a holder; the last one frees the memory. */
void batch_memory_release_hold(struct batch_memory *memory);

/* Returns a part of a column. The offsets of nested level N are part BATCH_PART_LEVELS + N. */
struct buffer *batch_memory_part(struct batch_memory *memory, size_t column_index, size_t part);

/* The slot of a sink. */
const struct slot *batch_memory_slot(const recmap_parser *parser, size_t sink_index);

/* Returns the sink of a slot of features, or of feature lists if `is_list` is set. */
struct sink *batch_memory_sink(struct batch_memory *memory, bool is_list, size_t slot_index);

/* Returns the sink of a slice, of an output, or of a column's values, whatever its kind. */
struct sink *batch_memory_slice(struct batch_memory *memory, size_t slice_index);
struct sink *batch_memory_output(struct batch_memory *memory, size_t output_index);
struct sink *batch_memory_values(struct batch_memory *memory, const struct column_plan *column);

/* Copies the bytes, now or, if the memory defers copies, later. Returns false without memory, or if
 * the call was interrupted. */
bool batch_memory_copy_bytes(struct batch_memory *memory, const struct bytes_copy *copy,
                             struct interrupt *interrupt);

/* Returns false if memory runs out. */
bool batch_memory_add_failure(struct batch_memory *memory, const struct failure_entry *failure,
                              const char *message);

#endif
