/* Inflating all there is, the way that reads of any size must agree with. */
#ifndef RECMAP_TESTS_SUPPORT_SHARDS_INFLATE_ALL_H
#define RECMAP_TESTS_SUPPORT_SHARDS_INFLATE_ALL_H

#include "format/deflate/inflate.h"
#include "support/buffer.h"

/* In memory, or as if it had to be read. */
struct inflate_source make_source(const struct buffer *stream, bool reads);

/* Replaces what is in `out`. A wrong checksum counts as bad. */
enum inflate_verdict inflate_all(struct buffer *out, uint64_t *bad_at, enum compression kind,
                                 const struct buffer *stream, bool reads);

#endif
