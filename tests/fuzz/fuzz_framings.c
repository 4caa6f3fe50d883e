/* Any bytes as a shard of any framing but TFRecord, scanned by several threads in tiny segments:
 * records and damage equal a plain reader's. The first five bytes choose framing, threads and mode,
 * segments, and the sizes of records of fixed length; in a tar archive blocks may ask for a right
 * checksum. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "support/shards/framing_check.h"
#include "support/shards/plain_tar.h"

/* Blocks that end with a mark are headers whose checksum is right, which chance never makes. */
static void check_tar(const struct framing_check *check, const uint8_t *data, size_t size) {
    enum { BLOCK = 512, MARK = 0xc5 };
    uint8_t *archive = malloc(size + 1);
    if (!archive) return;
    if (size) memcpy(archive, data, size);
    for (size_t at = 0; at + BLOCK <= size; at += BLOCK)
        if (archive[at + BLOCK - 1] == MARK) plain_tar_sum(archive + at);
    framing_check_bytes(check, archive, size);
    free(archive);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 5) return 0;
    struct framing_check how = {
        .kind = data[0] % CHECK_KIND_COUNT,
        .thread_count = 1 + (data[1] >> 1) % 4,
        .skips = data[1] & 1,
        .segment_size = 1 + data[2],
        .header = data[3] >> 4,
        .footer = data[3] & 15,
        .record = 1 + (uint64_t)data[4],
    };
    if (how.kind == CHECK_TAR) check_tar(&how, data + 5, size - 5);
    else framing_check_bytes(&how, data + 5, size - 5);
    return 0;
}
