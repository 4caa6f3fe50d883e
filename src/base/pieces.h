/* Building the pieces of rows. They belong to no order, because batches hold them too. */
#ifndef RECMAP_BASE_PIECES_H
#define RECMAP_BASE_PIECES_H

#include <recmap/rows.h>

/* Appends a piece to the row that is being built. Errors: NO_MEMORY. */
recmap_status pieces_add(recmap_pieces *pieces, recmap_piece piece, recmap_error *error);

/* Ends the row. Errors: CANCELLED, NO_MEMORY. */
recmap_status pieces_end_row(recmap_pieces *pieces, recmap_error *error);

#endif
