#include "support/shards/inflate_all.h"

#include <stdlib.h>
#include <string.h>

static recmap_status read_buffer(void *context, void *data, size_t size, uint64_t offset,
                                 recmap_error *error) {
    const struct buffer *stream = context;
    (void)error;
    if (size > stream->size || offset > stream->size - size) abort();
    memcpy(data, stream->data + offset, size);
    return RECMAP_OK;
}

struct inflate_source make_source(const struct buffer *stream, bool reads) {
    struct inflate_source source = {.size = stream->size};
    if (reads) {
        source.read = read_buffer;
        source.context = (void *)stream;
    } else {
        source.bytes = stream->data;
    }
    return source;
}

enum inflate_verdict inflate_all(struct buffer *out, uint64_t *bad_at, enum compression kind,
                                 const struct buffer *stream, bool reads) {
    static uint8_t piece[100000];
    struct inflate_source source = make_source(stream, reads);
    struct inflater *in = inflater_create(kind, &source);
    enum inflate_verdict verdict;
    out->size = 0;
    do {
        size_t size;
        verdict = inflater_read(&size, in, piece, sizeof piece, false);
        buffer_add(out, piece, size);
    } while (verdict == INFLATE_OK);
    if (verdict == INFLATE_WRONG_SUM) verdict = INFLATE_BAD;
    *bad_at = inflater_fault(in)->at;
    inflater_destroy(in);
    return verdict;
}
