/* Any bytes as TFRecord: the framing's three functions say what a plain reader says. */
#include <stdlib.h>

#include "format/framing/tfrecord.h"
#include "fuzz/fuzz.h"
#include "support/shards/oracle.h"

static void require(bool holds) {
    if (!holds) abort();
}

/* The frame at the beginning, in all ways of asking. */
static void check_first(const uint8_t *data, size_t size, const struct oracle_file *due) {
    struct frame found;
    struct frame_fault fault = {""};
    enum frame_verdict verdict =
        tfrecord_framing.parse(&found, &tfrecord_framing, data, size, FRAME_CHECK_ALL, &fault);
    bool is_record = due->record_count && due->records[0].offset == 0;
    require((verdict == FRAME_GOOD) == is_record);
    require((verdict == FRAME_AT_END) == (size == 0));
    require((fault.reason[0] != 0) == (verdict == FRAME_BAD_LENGTH || verdict == FRAME_BAD_DATA));
    if (verdict == FRAME_GOOD || verdict == FRAME_BAD_DATA) {
        require(found.size <= size && found.data_size == found.size - TFRECORD_OVERHEAD);
        require(tfrecord_framing.begins_frame(&tfrecord_framing, data, size));
        require(tfrecord_framing.parse(&found, &tfrecord_framing, data, size, FRAME_CHECK_HEADER,
                                       NULL) == FRAME_GOOD);
    }
    if (is_record) require(found.data_size == due->records[0].size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct oracle_file due = oracle_read(data, size, false);
    check_first(data, size, &due);
    /* Where damage comes first, the search ends where the plain reader's does, unless that stepped
     * over a record whose length holds. */
    uint64_t found =
        tfrecord_framing.find(&tfrecord_framing, data, size, 0, size, SEARCH_UNBOUNDED, NULL);
    require((found == FRAME_NOWHERE || found < size));
    if (due.record_count) require(found <= due.records[0].offset);
    if (found != FRAME_NOWHERE) {
        struct oracle_file rest = oracle_read(data + found, size - found, true);
        require(rest.record_count > 0 && rest.records[0].offset == 0);
        oracle_deinit(&rest);
    }
    oracle_deinit(&due);
    return 0;
}
