/* GZIP and ZLIB streams of all kinds, made by zlib. */
#ifndef RECMAP_TESTS_SUPPORT_SHARDS_DEFLATE_H
#define RECMAP_TESTS_SUPPORT_SHARDS_DEFLATE_H

#include "format/deflate/compression.h"
#include "support/buffer.h"
#include "support/random.h"

struct deflate_way {
    int level;
    int memory; /* 1 to 9: little makes small blocks */
    int strategy;
    int flush;    /* 0: none */
    size_t every; /* bytes between flushes */
};

/* Appends one member, or one ZLIB stream. */
void add_deflated(struct buffer *member, enum compression kind, const struct buffer *content,
                  const struct deflate_way *options);

/* Random bytes, and runs of one byte: at least `size` in all. */
struct buffer make_content(struct rng *random, size_t size);

#endif
