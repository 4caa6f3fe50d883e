/* Compares the library's scan of a shard, in any framing, with a simple second reader written here.
 * Any difference ends the process. */
#ifndef RECMAP_TESTS_SUPPORT_SHARDS_FRAMING_CHECK_H
#define RECMAP_TESTS_SUPPORT_SHARDS_FRAMING_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum framing_check_kind {
    CHECK_LINES,
    CHECK_OFRECORD,
    CHECK_FIXED,
    CHECK_OWN,          /* a size of 2 bytes before each record */
    CHECK_OWN_TRAILED,  /* the same; a size of 0xffff ends the records; 3 bytes begin a file */
    CHECK_OWN_FINDABLE, /* records end with a byte of 0xab */
    CHECK_TAR,
    CHECK_CSV,        /* without a header */
    CHECK_CSV_HEADER, /* separated by `|` */
    CHECK_KIND_COUNT,
};

struct framing_check {
    unsigned kind;
    uint64_t header, record, footer; /* of CHECK_FIXED */
    unsigned thread_count;
    uint64_t segment_size;
    bool skips;
};

/* Returns how many records there are. */
size_t framing_check_bytes(const struct framing_check *check, const uint8_t *data, size_t size);

#endif
