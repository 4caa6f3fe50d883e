#include "format/deflate/deflate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include "base/core/bytes.h"
#include "format/deflate/adler32.h"

/* The level of compression; ISA-L chooses all else. What levels 1 and 2 of ISA-L 2.30 write depends
 * on where memory lies, because they hash a part of an address. */
enum { LEVEL = 3 };

size_t deflate_begin(uint8_t out[DEFLATE_EDGE_ROOM], enum compression kind) {
    static const uint8_t gzip[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}; /* no time, no system */
    static const uint8_t zlib[] = {0x78, 0x5e};
    const uint8_t *header = kind == COMPRESSION_GZIP ? gzip : zlib;
    size_t size = kind == COMPRESSION_GZIP ? sizeof gzip : sizeof zlib;
    memcpy(out, header, size);
    return size;
}

struct workspace {
    struct isal_zstream stream;
    uint8_t level_memory[ISAL_DEF_LVL3_DEFAULT];
};

/* The workspace is cleared for each block: ISA-L would find matches through what earlier blocks
 * left in its tables, and which blocks those are depends on the threads. A full flush ends the
 * block at a whole byte. */
size_t deflate_block(uint8_t *out, const uint8_t *data, size_t size) {
    assert(size && size <= DEFLATE_BLOCK_SIZE);
    struct workspace *workspace = calloc(1, sizeof *workspace);
    if (!workspace) return 0;
    struct isal_zstream *stream = &workspace->stream;
    isal_deflate_stateless_init(stream);
    stream->level = LEVEL;
    stream->level_buf = workspace->level_memory;
    stream->level_buf_size = sizeof workspace->level_memory;
    stream->flush = FULL_FLUSH;
    stream->next_in = (uint8_t *)data;
    stream->avail_in = (uint32_t)size;
    stream->next_out = out;
    stream->avail_out = DEFLATE_BLOCK_ROOM;
    int result = isal_deflate_stateless(stream);
    /* There is always room: what cannot be compressed is stored, with 5 bytes for each 64 KiB. */
    bool is_complete = result == COMP_OK && !stream->avail_in;
    assert(is_complete);
    size_t deflated_size = is_complete ? DEFLATE_BLOCK_ROOM - stream->avail_out : 0;
    free(workspace);
    return deflated_size;
}

uint32_t deflate_sum_begin(enum compression kind) {
    return kind == COMPRESSION_GZIP ? 0 : 1;
}

uint32_t deflate_sum(uint32_t sum, enum compression kind, const uint8_t *data, size_t size) {
    return kind == COMPRESSION_GZIP ? crc32_gzip_refl(sum, data, size)
                                    : adler32_add(sum, data, size);
}

/* The last block is empty: it has no data, only its end. */
size_t deflate_end(uint8_t out[DEFLATE_EDGE_ROOM], enum compression kind, uint32_t sum,
                   uint64_t input_size) {
    static const uint8_t last_block[] = {3, 0};
    memcpy(out, last_block, sizeof last_block);
    uint8_t *trailer = out + sizeof last_block;
    if (kind == COMPRESSION_GZIP) {
        store32(trailer, sum);
        store32(trailer + 4, (uint32_t)input_size);
        return sizeof last_block + 8;
    }
    for (int i = 0; i < 4; i++) trailer[i] = (uint8_t)(sum >> (24 - 8 * i));
    return sizeof last_block + 4;
}
