/* Assembling the columns of a batch from the sinks, after all rows were read. */
#ifndef RECMAP_COLUMNS_ASSEMBLE_H
#define RECMAP_COLUMNS_ASSEMBLE_H

#include "columns/batch_memory.h"

/* Fills memory->columns. Returns false when memory runs out. */
bool assemble_columns(struct batch_memory *memory);

#endif
