/* SPARSE: values at coordinates that other features of the record give. */
#ifndef RECMAP_COLUMNS_SPARSE_H
#define RECMAP_COLUMNS_SPARSE_H

#include "columns/assembly.h"
#include "columns/batch_memory.h"
#include "decode/read_record.h"

/* Whether row `row` has as many coordinates as values, all of them within the sizes. False with
 * `fault` filled. */
bool sparse_check_row(struct batch_memory *memory, size_t column_index, size_t row,
                      struct read_fault *fault);

/* Assembles the column from its sinks. Returns false when memory runs out. */
bool assemble_sparse(const struct assembly *a);

#endif
