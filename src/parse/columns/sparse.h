/* SPARSE: values at coordinates that other features of the record contain. */
#ifndef RECMAP_PARSE_COLUMNS_SPARSE_H
#define RECMAP_PARSE_COLUMNS_SPARSE_H

#include "parse/columns/assembly.h"
#include "parse/columns/batch_memory.h"
#include "parse/decode/read_record.h"

/* Checks that row `row` has one coordinate per value and dimension, all within the sizes. Returns
 * false and fills `fault` otherwise. */
bool sparse_check_row(struct batch_memory *memory, size_t column_index, size_t row,
                      struct read_fault *fault);

/* Assembles the column from its sinks. Returns false when memory runs out. */
bool assemble_sparse(const struct assembly *a);

#endif
