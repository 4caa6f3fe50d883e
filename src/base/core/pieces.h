/* Building the pieces of rows. They belong to no order, because batches hold them too. */
#ifndef RECMAP_BASE_CORE_PIECES_H
#define RECMAP_BASE_CORE_PIECES_H

#include <recmap/rows.h>

/* Makes room for one more piece. Errors: NO_MEMORY. */
recmap_status pieces_grow(recmap_pieces *pieces, recmap_error *error);

/* Appends a piece to the row that is being built. Inline, so that the members of the piece go from
 * registers to their place: copying a struct that was just written stalls. Errors: NO_MEMORY. */
static inline recmap_status pieces_add(recmap_pieces *pieces, recmap_piece piece,
                                       recmap_error *error) {
    if (pieces->count == pieces->capacity) {
        recmap_status status = pieces_grow(pieces, error);
        if (status != RECMAP_OK) return status;
    }
    pieces->items[pieces->count++] = piece;
    return RECMAP_OK;
}

/* Ends the row. Errors: CANCELLED, NO_MEMORY. */
recmap_status pieces_end_row(recmap_pieces *pieces, recmap_error *error);

#endif
