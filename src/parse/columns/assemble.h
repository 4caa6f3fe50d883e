/* Assembling the columns of a batch from the sinks, after all rows were read. */
#ifndef RECMAP_PARSE_COLUMNS_ASSEMBLE_H
#define RECMAP_PARSE_COLUMNS_ASSEMBLE_H

#include "base/core/interrupt.h"
#include "parse/columns/batch_memory.h"

/* Fills memory->columns. `interrupt` may be NULL. Errors: NO_MEMORY; CANCELLED if the call was
 * interrupted. */
recmap_status assemble_columns(struct batch_memory *memory, struct interrupt *interrupt,
                               recmap_error *error);

#endif
