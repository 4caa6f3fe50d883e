/* Checks that the lists of one record are consistent with each other and converts them to offsets,
 * row by row. */
#ifndef RECMAP_PARSE_COLUMNS_ROW_CHECKS_H
#define RECMAP_PARSE_COLUMNS_ROW_CHECKS_H

#include "parse/columns/batch_memory.h"
#include "parse/decode/read_record.h"

/* Reserves room for the rows of a batch. Returns false if memory runs out. */
bool row_checks_begin(struct batch_memory *memory);

/* Checks row `row` of all RAGGED and SPARSE columns, whose lists must have been read. Returns false
 * and fills `fault` on failure; the sinks are then not rolled back. */
bool row_checks(struct batch_memory *memory, size_t row, struct read_fault *fault);

/* Makes a row whose sinks hold a null empty. Returns false if memory runs out. */
bool row_checks_nothing(struct batch_memory *memory, size_t row);

#endif
