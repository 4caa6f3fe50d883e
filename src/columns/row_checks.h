/* What must hold among the lists of one record: checked, and turned into offsets, row by row. */
#ifndef RECMAP_COLUMNS_ROW_CHECKS_H
#define RECMAP_COLUMNS_ROW_CHECKS_H

#include "columns/batch_memory.h"
#include "decode/read_record.h"

/* Makes room for the rows of a batch that was begun. False when memory is out. */
bool row_checks_begin(struct batch_memory *memory);

/* Checks row `row` of all RAGGED and SPARSE columns, whose lists were read. False with `fault`
 * filled; the sinks are then not rolled back. */
bool row_checks(struct batch_memory *memory, size_t row, struct read_fault *fault);

/* Makes the row, whose sinks hold a null, one of no rows. False when memory is out. */
bool row_checks_nothing(struct batch_memory *memory, size_t row);

#endif
