/* The compressed bytes that a piece of a span is inflated from. All bytes of a remote object are
 * requested at once, because a request costs far more than the memory. */
#ifndef RECMAP_DATASET_SPANS_SPAN_INPUT_H
#define RECMAP_DATASET_SPANS_SPAN_INPUT_H

#include <stdbool.h>

#include "dataset/spans/span.h"
#include "format/deflate/inflate.h"

/* A longer range is requested in parts of this size. */
#define SPAN_INPUT_MAX ((uint64_t)64 << 20)

struct span_input {
    const struct span_source *source;
    bool is_again;  /* the bytes of a local file are read once more */
    uint64_t end;   /* in the file: the piece probably needs no byte from here on */
    uint8_t *bytes; /* [offset, offset + size) of the file; NULL: none yet */
    uint64_t offset;
    size_t size;
};

/* Both borrow the source. `input` must not move while an inflater reads from it. */
void span_input_init(struct span_input *input, const struct span_source *source,
                     struct span_piece piece);
void span_input_deinit(struct span_input *input);

/* The input as what an inflater reads from. */
struct inflate_source span_input_source(struct span_input *input);

#endif
