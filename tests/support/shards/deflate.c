#include "support/shards/deflate.h"

#include <stdlib.h>

#include <zlib.h>

static void must(bool holds) {
    if (!holds) abort();
}

static void run(z_stream *stream, struct buffer *member, int flush) {
    uint8_t out[4096];
    do {
        stream->next_out = out;
        stream->avail_out = sizeof out;
        int result = deflate(stream, flush);
        must(result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR);
        buffer_add(member, out, sizeof out - stream->avail_out);
    } while (!stream->avail_out);
}

void add_deflated(struct buffer *member, enum compression kind, const struct buffer *content,
                  const struct deflate_way *options) {
    z_stream stream = {0};
    must(deflateInit2(&stream, options->level, Z_DEFLATED, kind == COMPRESSION_GZIP ? 31 : 15,
                      options->memory, options->strategy) == Z_OK);
    size_t step = options->every ? options->every : content->size;
    for (size_t done = 0; done < content->size; done += step) {
        size_t here = content->size - done < step ? content->size - done : step;
        stream.next_in = content->data + done;
        stream.avail_in = (uInt)here;
        run(&stream, member, options->flush);
    }
    run(&stream, member, Z_FINISH);
    deflateEnd(&stream);
}

struct buffer make_content(struct rng *random, size_t size) {
    struct buffer content = BUFFER_INIT;
    while (content.size < size) {
        buffer_add_random(&content, rng_below(random, 200), random);
        for (uint64_t i = rng_below(random, 300); i > 0; i--) buffer_add_byte(&content, 'a');
    }
    return content;
}
