#include "dataset/spans/stream_sum.h"

#include <stdlib.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "dataset/spans/span_input.h"

enum { PIECE = 1 << 20 };

static recmap_status inflate_all(bool *is_right, struct inflater *inflater, uint8_t *piece,
                                 recmap_error *error) {
    enum inflate_verdict verdict = INFLATE_OK;
    inflater_start(inflater, 0, 0);
    while (verdict == INFLATE_OK) {
        size_t size;
        verdict = inflater_read(&size, inflater, piece, PIECE, false);
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), size, error));
    }
    *is_right = verdict == INFLATE_END;
    if (verdict != INFLATE_UNREADABLE) return RECMAP_OK;
    const recmap_error *unreadable = &inflater_fault(inflater)->error;
    if (error) *error = *unreadable;
    return unreadable->status;
}

recmap_status stream_sum_check(bool *is_right, const struct span_source *source,
                               recmap_error *error) {
    struct span_input input;
    span_input_init(&input, source, (struct span_piece){0});
    struct inflate_source bytes = span_input_source(&input);
    struct inflater *inflater = inflater_create(source->entry->compression, &bytes);
    uint8_t *piece = malloc(PIECE);
    recmap_status status = inflater && piece ? inflate_all(is_right, inflater, piece, error)
                                             : fail_memory(error);
    free(piece);
    inflater_destroy(inflater);
    span_input_deinit(&input);
    return status;
}
