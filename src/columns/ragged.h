/* RAGGED: the values of a row cut into nested rows, by other features of the record. */
#ifndef RECMAP_COLUMNS_RAGGED_H
#define RECMAP_COLUMNS_RAGGED_H

#include "columns/assembly.h"
#include "columns/batch_memory.h"
#include "decode/read_record.h"

/* Rows that value_rowids may name beyond as many as there are values: the memory of a batch must
 * not be a matter of one number in a record. */
enum { RAGGED_EMPTY_ROW_LIMIT = 1 << 16 };

/* How many uniform partitions stand at the inner end, where they are dimensions of the values. */
size_t ragged_tail_count(const recmap_feature *feature);

/* Room for the batch. False when memory is out. */
bool ragged_begin(struct batch_memory *memory, size_t column_index);

/* Cuts row `row`. False with `fault` filled. */
bool ragged_add_row(struct batch_memory *memory, size_t column_index, size_t row,
                    struct read_fault *fault);

/* Assembles the column from its sinks. Returns false when memory runs out. */
bool assemble_ragged(const struct assembly *a);

#endif
