/* RAGGED: the values of a row, split into nested rows by other features of the record. */
#ifndef RECMAP_PARSE_COLUMNS_RAGGED_H
#define RECMAP_PARSE_COLUMNS_RAGGED_H

#include "parse/columns/assembly.h"
#include "parse/columns/batch_memory.h"
#include "parse/decode/read_record.h"

/* How many more rows than values value_rowids may describe. Without a limit, one number in a record
 * could make the batch use any amount of memory. */
enum { RAGGED_EMPTY_ROW_LIMIT = 1 << 16 };

/* Returns the number of uniform partitions at the inner end; these become dimensions of the values.
 */
size_t ragged_tail_count(const recmap_feature *feature);

/* Reserves room for the batch. Returns false if memory runs out. */
bool ragged_begin(struct batch_memory *memory, size_t column_index);

/* Splits row `row`. Returns false and fills `fault` if its partitions are inconsistent. */
bool ragged_add_row(struct batch_memory *memory, size_t column_index, size_t row,
                    struct read_fault *fault);

/* Assembles the column from its sinks. Returns false when memory runs out. */
bool assemble_ragged(const struct assembly *a);

#endif
