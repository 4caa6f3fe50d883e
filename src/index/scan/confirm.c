#include "index/scan/confirm.h"

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/os/read_again.h"

/* Bytes of a frame of unknown length that are compared. */
enum { FRAME_SEEN = 1 << 16 };

bool findings_have_damage(const struct scan_findings *findings, const struct scan_cursor *cursor) {
    return findings->damage_count || findings->status == RECMAP_CORRUPT || cursor->is_lost;
}

/* The first byte of the segment that is damaged. */
static uint64_t damage_begin(const struct scan_findings *findings, const struct scan_cursor *cursor,
                             uint64_t begin) {
    uint64_t first = UINT64_MAX;
    if (cursor->is_lost) first = cursor->lost_since;
    if (findings->status == RECMAP_CORRUPT) first = min_u64(first, findings->stopped_at);
    if (findings->damage_count) first = min_u64(first, findings->damages[0].offset);
    return first > begin ? first : begin;
}

/* Where the damage, and the frame that a scan stopped at, end at most, as far as that is known. */
static uint64_t damage_end(const struct scan_findings *findings, const struct scan_shard *shard,
                           uint64_t begin, uint64_t end) {
    struct frame frame = {.size = FRAME_SEEN};
    const struct framing *framing = shard->framing;
    uint64_t size = shard->bytes.size;
    if (begin < size && framing->parse(&frame, framing, shard->bytes.data + begin, size - begin,
                                       FRAME_CHECK_HEADER, NULL) != FRAME_GOOD)
        frame.size = FRAME_SEEN;
    uint64_t last = begin + min_u64(frame.size, size - min_u64(begin, size));
    if (findings->damage_count) {
        const struct scan_damage *damage = &findings->damages[findings->damage_count - 1];
        if (damage->offset + damage->length > last) last = damage->offset + damage->length;
    }
    return min_u64(last > end ? last : end, size);
}

static recmap_status compare(bool *is_equal, struct scan_shard *shard,
                             const struct scan_options *options, uint64_t begin, uint64_t end,
                             recmap_error *error) {
    struct source *source;
    int fd;
    *is_equal = true;
    if (begin >= end) return RECMAP_OK;
    RETURN_IF_FAILED(scan_shard_open_again(&source, shard, options, error));
    RETURN_IF_FAILED(source_take_file(&fd, source, error));
    recmap_status status = file_compare_again(is_equal, fd, shard->bytes.data + begin, end - begin,
                                              begin, shard->path, error);
    if (status == RECMAP_OK && !*is_equal) {
        map_forget(shard->bytes.map, begin, end - begin);
        file_forget(fd, begin, end - begin);
    }
    file_close(fd);
    return status;
}

/* Returns true if the damage is gone now that its first frame is parsed again. Not known if the
 * damage continues from an earlier segment, or lies in the header of the file. */
static bool is_gone(const struct scan_shard *shard, const struct scan_cursor *first, uint64_t at) {
    const struct framing *framing = shard->framing;
    struct frame frame;
    if ((first->is_lost && at <= first->position) || at >= shard->bytes.size ||
        at < framing->file_header_size)
        return false;
    enum frame_check check = framing->check_payload ? FRAME_CHECK_ALL : FRAME_CHECK_STORED;
    return framing->parse(&frame, framing, shard->bytes.data + at, shard->bytes.size - at, check,
                          NULL) == FRAME_GOOD;
}

/* Scans the segment again if its bytes are other ones now. What is damaged after that, in bytes
 * that are the same when they are read once more, is damaged in the file. */
recmap_status confirm_segment(struct scan_findings *findings, struct scan_cursor *cursor,
                              struct scan_shard *shard, const struct scan_options *options,
                              const struct scan_cursor *first, uint64_t begin, uint64_t end,
                              recmap_error *error) {
    bool is_equal;
    if (!findings_have_damage(findings, cursor) || shard_bytes_was_cut(&shard->bytes))
        return RECMAP_OK;
    uint64_t at = damage_begin(findings, cursor, begin);
    RETURN_IF_FAILED(
        compare(&is_equal, shard, options, at, damage_end(findings, shard, at, end), error));
    if (is_equal && !is_gone(shard, first, at)) return RECMAP_OK;
    struct scanner scanner = scan_shard_scanner(shard, options);
    *cursor = *first;
    scan_from(&scanner, findings, cursor, shard->bytes.data, shard->bytes.size, end);
    if (!findings_have_damage(findings, cursor)) return RECMAP_OK;
    at = damage_begin(findings, cursor, begin);
    RETURN_IF_FAILED(
        compare(&is_equal, shard, options, at, damage_end(findings, shard, at, end), error));
    if (is_equal) return RECMAP_OK;
    fail_differing(error, shard->path, "the shard");
    fail_at(error, NULL, RECMAP_NO_RECORD, at);
    return RECMAP_IO;
}
