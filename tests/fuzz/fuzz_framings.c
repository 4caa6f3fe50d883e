/* Any bytes as a shard of any framing but TFRecord, scanned by several threads in tiny segments:
 * records and damage are those of a plain reader. The first five bytes choose framing, threads and
 * mode, segments, and the sizes of records of fixed length. */
#include "fuzz/fuzz.h"
#include "helpers/framing_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 5) return 0;
    framing_check how = {
        .kind = data[0] % CHECK_KIND_COUNT,
        .thread_count = 1 + (data[1] >> 1) % 4,
        .skips = data[1] & 1,
        .segment_size = 1 + data[2],
        .header = data[3] >> 4,
        .footer = data[3] & 15,
        .record = 1 + (uint64_t)data[4],
    };
    framing_check_bytes(&how, data + 5, size - 5);
    return 0;
}
