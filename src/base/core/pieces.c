#include "base/core/pieces.h"

#include <assert.h>
#include <stdlib.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"

recmap_status pieces_grow(recmap_pieces *pieces, recmap_error *error) {
    return array_reserve(&pieces->items, &pieces->capacity, pieces->count + 1,
                         sizeof *pieces->items)
               ? RECMAP_OK
               : fail_memory(error);
}

recmap_status pieces_end_row(recmap_pieces *pieces, recmap_error *error) {
    if (pieces->row_count == pieces->row_capacity &&
        !array_reserve(&pieces->ends, &pieces->row_capacity, pieces->row_count + 1,
                       sizeof *pieces->ends))
        return fail_memory(error);
    assert(!pieces->row_count || pieces->ends[pieces->row_count - 1] <= pieces->count);
    pieces->ends[pieces->row_count++] = pieces->count;
    return interrupt_check(thread_interrupt(), INTERRUPT_RECORD_WORK, error);
}

void recmap_pieces_deinit(recmap_pieces *pieces) {
    free(pieces->items);
    free(pieces->ends);
    *pieces = (recmap_pieces)RECMAP_PIECES_INIT;
}
