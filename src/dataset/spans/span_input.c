#include "dataset/spans/span_input.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"

static bool is_remote(const struct span_source *source) {
    return source->source && source->source->fd < 0;
}

/* Where the compressed bytes of a piece end: for a whole span exactly. Which bytes a piece of a
 * long span needs is not known, so they are estimated by the ratio of the span, with a margin. Too
 * small an estimate costs further requests. */
static uint64_t find_end(const struct span_source *source, struct span_piece piece) {
    enum { MARGIN = 64 << 10 };
    uint64_t begin = span_file_begin(source, piece.span_index);
    uint64_t end = span_file_end(source, piece.span_index);
    uint64_t inflated_begin = span_begin(source, piece.span_index);
    uint64_t inflated_end = span_end(source, piece.span_index);
    if (end <= begin || piece.end >= inflated_end) return end;
    double share = (double)(piece.end - inflated_begin) / (double)(inflated_end - inflated_begin);
    return min_u64(end, begin + (uint64_t)(share * (double)(end - begin)) + MARGIN);
}

void span_input_init(struct span_input *input, const struct span_source *source,
                     struct span_piece piece) {
    *input = (struct span_input){.source = source};
    if (is_remote(source)) input->end = find_end(source, piece);
}

void span_input_deinit(struct span_input *input) {
    free(input->bytes);
}

/* Requests the bytes from `offset` to the end of the input, but at least `size`. */
static recmap_status request(struct span_input *input, size_t size, uint64_t offset,
                             recmap_error *error) {
    uint64_t wanted = input->end > offset ? min_u64(input->end - offset, SPAN_INPUT_MAX) : 0;
    if (wanted < size) wanted = size;
    free(input->bytes);
    input->size = 0;
    input->offset = offset;
    input->bytes = malloc((size_t)wanted);
    if (!input->bytes) return fail_memory(error);
    RETURN_IF_FAILED(
        source_read(input->source->source, input->bytes, (size_t)wanted, offset, error));
    input->size = (size_t)wanted;
    return RECMAP_OK;
}

static bool has(const struct span_input *input, size_t size, uint64_t offset) {
    return offset >= input->offset && bytes_fit(offset - input->offset, size, input->size);
}

static recmap_status copy_mapped(const struct span_input *input, void *data, size_t size,
                                 uint64_t offset) {
    memcpy(data, input->source->map->data + offset, size);
    return RECMAP_OK;
}

static recmap_status read_input(void *context, void *data, size_t size, uint64_t offset,
                                recmap_error *error) {
    struct span_input *input = context;
    bool is_read = false;
    if (input->is_again)
        RETURN_IF_FAILED(
            input->source->read_again(&is_read, input->source->context, data, size, offset, error));
    if (is_read) return RECMAP_OK;
    if (!input->source->source) return copy_mapped(input, data, size, offset);
    if (!is_remote(input->source))
        return source_read(input->source->source, data, size, offset, error);
    if (!has(input, size, offset)) RETURN_IF_FAILED(request(input, size, offset, error));
    memcpy(data, input->bytes + (offset - input->offset), size);
    return RECMAP_OK;
}

struct inflate_source span_input_source(struct span_input *input) {
    const struct span_source *source = input->source;
    return (struct inflate_source){.bytes = source->map && !input->is_again ? source->map->data
                                                                            : NULL,
                                   .size = source->entry->file_size,
                                   .read_end = input->end,
                                   .read = read_input,
                                   .context = input};
}
