#include "index/scan/inflate_scan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "format/framing/tfrecord.h"
#include "index/scan/point_taker.h"
#include "index/scan/span_checks.h"

enum {
    CHUNK_SIZE = 256 << 10, /* inflated per read, so that it is still in the cache when scanned */
    CERTAIN_SIZE = 64,      /* with this many bytes present, a bad length is known to be damage */
    SEARCH_BACK = 64 << 10,
};

static const char wrong_sum[] = "the checksum of a compressed member does not match";

/* A scan in progress. The image is inflated into `bytes`; the cursor follows as far as frames are
 * good and complete. */
struct stream_scan {
    struct inflate_scan *scan;
    struct scan_findings *findings;
    struct scan_cursor cursor;
    struct inflater *inflater;
    uint8_t *bytes; /* of the image, from `origin` on */
    size_t size, capacity;
    uint64_t origin;
    size_t retry_size;        /* the frame at the cursor is parsed again with this many bytes */
    struct point_taker taker; /* unused if the points are known */
    size_t next_known;        /* the index's next point */
    struct span_checks checks;
    uint64_t search_start;     /* members before this byte of the file were tried */
    uint64_t wrong_sum_offset; /* in the file: the first checksum that does not match; 0: none */
    uint64_t bad_offset;       /* in the file: what was damaged last */
};

static uint64_t image_end(const struct stream_scan *stream) {
    return stream->origin + stream->size;
}

static const struct framing *framing_of(const struct stream_scan *stream) {
    return stream->scan->scanner->framing;
}

static bool skips_damage(const struct stream_scan *stream) {
    return stream->scan->scanner->on_bad_record != RECMAP_ON_BAD_RECORD_ERROR;
}

/* Returns true if the scan has to end, to begin again with a strict inflater. */
static bool needs_strict(struct stream_scan *stream) {
    stream->scan->needs_strict = !stream->scan->is_strict;
    return stream->scan->needs_strict;
}

static recmap_status fail_stream(const struct stream_scan *stream,
                                 const struct inflate_fault *fault, recmap_error *error) {
    fail(error, RECMAP_CORRUPT, "the %s stream is damaged: %s",
         compression_name(stream->scan->kind), fault->reason);
    fail_at(error, stream->scan->path, RECMAP_NO_RECORD, fault->at);
    bool has_begun = image_end(stream) > 0;
    fail_advise(error,
                "restore the file from its source, or index with `--on-bad-record skip` to number "
                "the readable records%s",
                has_begun ? ""
                          : "; if only its first bytes look compressed, use `--compression none`");
    return RECMAP_CORRUPT;
}

static recmap_status fail_point(const struct stream_scan *stream, recmap_error *error) {
    fail(error, RECMAP_CORRUPT,
         "the index is damaged or forged: a seek point of this shard is invalid");
    fail_file(error, stream->scan->path);
    fail_advise(error, "build the index again with `recmap index`");
    return RECMAP_CORRUPT;
}

static uint64_t limit_of(uint64_t free, uint64_t growth, uint64_t max, uint64_t file_size) {
    return file_size < (max - free) / growth ? free + growth * file_size : max;
}

static uint64_t held_limit(const struct inflate_scan *scan) {
    return limit_of(INFLATED_HELD_FREE, INFLATED_HELD_GROWTH, INFLATED_HELD_MAX, scan->source.size);
}

static uint64_t found_limit(const struct inflate_scan *scan) {
    return limit_of(INFLATED_FOUND_FREE, INFLATED_FOUND_GROWTH, INFLATED_FOUND_MAX,
                    scan->source.size);
}

/* What is left of the memory limit beside `used` bytes. */
static uint64_t memory_left(const struct inflate_scan *scan, uint64_t used) {
    if (!scan->memory_limit) return UINT64_MAX;
    return scan->memory_limit > used ? scan->memory_limit - used : 0;
}

static recmap_status fail_memory_limit(const struct stream_scan *stream, recmap_error *error) {
    fail(error, RECMAP_UNSUPPORTED,
         "scanning the %s stream takes more memory than the limit of %" PRIu64 " bytes",
         compression_name(stream->scan->kind), stream->scan->memory_limit);
    fail_advise(error, "raise the memory limit (`--memory-limit SIZE`), or decompress the file "
                       "and index the result");
    return RECMAP_UNSUPPORTED;
}

static recmap_status fail_own_limit(const struct stream_scan *stream, const char *subject,
                                    uint64_t limit, recmap_error *error) {
    const struct inflate_scan *scan = stream->scan;
    fail(error, RECMAP_UNSUPPORTED,
         "%s of the %s stream takes over %" PRIu64
         " MiB of memory, the limit for a file of %" PRIu64 " bytes",
         subject, compression_name(scan->kind), limit >> 20, scan->source.size);
    fail_advise(error, "decompress the file and index the result");
    return RECMAP_UNSUPPORTED;
}

/* Adds the file, the record's index in the shard, and the byte of the image. */
static recmap_status fail_here(const struct stream_scan *stream, recmap_error *error) {
    const struct scan_cursor *cursor = &stream->cursor;
    fail_at(error, stream->scan->path, stream->findings->run.count,
            cursor->is_lost ? cursor->lost_since : cursor->position);
    return RECMAP_UNSUPPORTED;
}

static recmap_status fail_held(const struct stream_scan *stream, recmap_error *error) {
    uint64_t limit = held_limit(stream->scan);
    if (stream->size + CHUNK_SIZE <= limit) fail_memory_limit(stream, error);
    else fail_own_limit(stream, "a record, or damage,", limit, error);
    return fail_here(stream, error);
}

static recmap_status fail_found(const struct stream_scan *stream, recmap_error *error) {
    uint64_t limit = found_limit(stream->scan);
    if (stream->findings->size_limit < limit) fail_memory_limit(stream, error);
    else fail_own_limit(stream, "the list of records and damage", limit, error);
    return fail_here(stream, error);
}

/* Makes room for one more chunk. Bytes before the cursor are discarded first; memory grows only if
 * that is not enough. A lost cursor needs all bytes, since it will be searched from where it got
 * lost. */
static recmap_status make_room(struct stream_scan *stream, recmap_error *error) {
    assert(stream->cursor.position >= stream->origin);
    size_t scanned = stream->cursor.is_lost ? 0
                                            : (size_t)(stream->cursor.position - stream->origin);
    if (stream->capacity - stream->size >= CHUNK_SIZE) return RECMAP_OK;
    if (scanned >= stream->size / 2 && scanned) {
        memmove(stream->bytes, stream->bytes + scanned, stream->size - scanned);
        stream->size -= scanned;
        stream->origin += scanned;
    }
    if (stream->capacity - stream->size >= CHUNK_SIZE) return RECMAP_OK;
    uint64_t limit = min_u64(held_limit(stream->scan),
                             memory_left(stream->scan, findings_size(stream->findings)));
    if (stream->size + CHUNK_SIZE > limit) return fail_held(stream, error);
    size_t capacity = stream->capacity ? (size_t)min_u64(stream->capacity * 2, limit)
                                       : 2 * CHUNK_SIZE;
    uint8_t *bytes = realloc(stream->bytes, capacity);
    if (!bytes) return fail_memory(error);
    stream->bytes = bytes;
    stream->capacity = capacity;
    return RECMAP_OK;
}

/* The limit is at least 1, because 0 would mean none. */
static void limit_findings(struct stream_scan *stream) {
    uint64_t limit =
        min_u64(found_limit(stream->scan), memory_left(stream->scan, stream->capacity));
    stream->findings->size_limit = limit ? limit : 1;
}

static void copy_prefix(struct stream_scan *stream) {
    struct inflate_scan *scan = stream->scan;
    if (stream->origin || scan->prefix_size == INFLATED_PREFIX) return;
    scan->prefix_size = stream->size < INFLATED_PREFIX ? stream->size : INFLATED_PREFIX;
    memcpy(scan->prefix, stream->bytes, scan->prefix_size);
}

/* Moves the cursor past the file's header. False if header and footer may not be complete yet. */
static bool enter_file(struct stream_scan *stream) {
    const struct framing *framing = framing_of(stream);
    uint64_t header = framing->file_header_size;
    if (!bytes_fit(header, framing->file_footer_size, image_end(stream))) return false;
    if (!stream->cursor.is_lost && stream->cursor.position < header)
        stream->cursor.position = header;
    return true;
}

/* Scans the bytes in memory to their end. The image, or a stretch before damage, ends there too, so
 * whatever is incomplete now is damage. */
static void scan_to_end(struct stream_scan *stream) {
    const struct scanner *scanner = stream->scan->scanner;
    if (enter_file(stream))
        scan_rest(scanner, stream->findings, &stream->cursor, stream->bytes,
                  stream->size - (size_t)scanner->framing->file_footer_size, stream->origin);
    else
        scan_from(scanner, stream->findings, &stream->cursor, stream->bytes, stream->size,
                  stream->size);
}

/* Scans as far as frames are good and complete. A frame that is not may be damaged or may continue
 * in bytes still to be inflated, so the scan waits: for twice the bytes each time, which keeps the
 * cost of parsing a large record again proportional to its size. With RAISE, a TFRecord header
 * whose checksum is wrong, and a frame whose end was searched for as far as the framing says, are
 * reported at once instead. */
static void scan_available(struct stream_scan *stream) {
    const struct scanner *scanner = stream->scan->scanner;
    const struct framing *framing = scanner->framing;
    if (stream->cursor.is_lost || !enter_file(stream)) return;
    /* The last bytes may turn out to be the file's footer. */
    size_t size = stream->size - (size_t)framing->file_footer_size;
    size_t left = (size_t)(stream->origin + size - stream->cursor.position);
    if (left < stream->retry_size) return;
    struct shard_part part = {stream->bytes, size, stream->origin, false};
    enum frame_verdict verdict =
        scan_good(scanner, stream->findings, &stream->cursor, &part, UINT64_MAX);
    left = (size_t)(stream->origin + size - stream->cursor.position);
    stream->retry_size = left > CHUNK_SIZE ? 2 * left : 0;
    bool is_searched = framing->search_size && left >= framing->search_size;
    bool is_certain = is_searched || framing_is_tfrecord(framing);
    if (skips_damage(stream) || left < CERTAIN_SIZE || !is_certain) return;
    const uint8_t *bytes = stream->bytes + (stream->size - left);
    if (verdict == FRAME_BAD_DATA ||
        (verdict == FRAME_BAD_LENGTH &&
         (is_searched || !framing->begins_frame(framing, bytes, left))))
        scan_to_end(stream);
}

/* Adds bytes that were just inflated, at the end of the image, to the checks of their spans. */
static void check_bytes(struct stream_scan *stream, const uint8_t *bytes, size_t size) {
    span_checks_add(&stream->checks, image_end(stream), bytes, size);
    if (stream->checks.lacks_memory)
        stream->findings->status = fail_memory(&stream->findings->error);
}

static bool has_known_point(const struct stream_scan *stream) {
    const struct point_list *known = stream->scan->known;
    return known && stream->next_known < known->count;
}

/* Reads stop at the next known point; one byte further if a member begins there, since only that
 * byte tells whether the inflater began the member at the same place. */
static uint64_t read_limit(const struct stream_scan *stream) {
    const struct stored_point *next = &stream->scan->known->at[stream->next_known];
    return next->offset + !next->window_size;
}

static size_t read_size(const struct stream_scan *stream) {
    if (!has_known_point(stream)) return CHUNK_SIZE;
    return (size_t)min_u64(CHUNK_SIZE, read_limit(stream) - image_end(stream));
}

/* Starts inflating at a point of the index. False if the point is invalid or memory is out; the
 * latter is in the findings' status. */
static bool start_at_known(struct stream_scan *stream, const struct stored_point *point,
                           bool keeps_member) {
    uint8_t window[INFLATE_WINDOW_MAX];
    struct seek_point seek = {point->bit, point->offset, window, point->window_size};
    enum points_verdict verdict = points_unpack(window, point);
    if (verdict == POINTS_NO_MEMORY)
        stream->findings->status = fail_memory(&stream->findings->error);
    if (verdict != POINTS_OK) return false;
    return keeps_member ? inflater_continue_at(stream->inflater, &seek)
                        : inflater_start_at(stream->inflater, &seek);
}

/* The next point of the index at or after `end` of the image. Everything from there on is known. */
static bool resume_at_point(struct stream_scan *stream, uint64_t end) {
    const struct point_list *known = stream->scan->known;
    while (stream->next_known < known->count) {
        const struct stored_point *point = &known->at[stream->next_known++];
        if (point->offset < end || !start_at_known(stream, point, false)) continue;
        stream->origin = point->offset;
        span_checks_enter(&stream->checks, stream->next_known);
        return true;
    }
    return false;
}

/* The first member after damage at `fault_offset` of the file; UINT64_MAX if there is none. The
 * damaged stream may have run past its beginning, so the search starts earlier, but never at a
 * member that was read. */
static uint64_t find_member(struct stream_scan *stream, uint64_t fault_offset) {
    uint64_t start = fault_offset > SEARCH_BACK ? fault_offset - SEARCH_BACK : 0;
    uint64_t current = inflater_member_at(stream->inflater);
    if (start <= current) start = current + 1;
    if (start < stream->search_start) start = stream->search_start;
    return inflater_find_member(stream->inflater, start);
}

static bool resume_at_member(struct stream_scan *stream, uint64_t end, uint64_t fault_offset) {
    uint64_t member = find_member(stream, fault_offset);
    if (member == UINT64_MAX) return false;
    stream->search_start = member + 1;
    stream->origin = end + (member > fault_offset ? member - fault_offset : 1);
    inflater_start(stream->inflater, member, stream->origin);
    return true;
}

static void take_error(struct scan_findings *findings, const recmap_error *error) {
    findings->status = error->status;
    findings->error = *error;
}

/* After the checksum of a member did not match, the inflater could continue, and readers do. So the
 * checks cover what it inflates to, though no record lies there. */
static void check_lost(struct stream_scan *stream, uint64_t end) {
    enum inflate_verdict verdict = INFLATE_OK;
    uint64_t origin = stream->origin + stream->size;
    stream->size = 0;
    stream->origin = origin;
    while ((verdict == INFLATE_OK || verdict == INFLATE_WRONG_SUM) && stream->origin < end) {
        size_t size, room = (size_t)min_u64(stream->capacity, end - stream->origin);
        verdict = inflater_read(&size, stream->inflater, stream->bytes, room, false);
        check_bytes(stream, stream->bytes, size);
        stream->origin += size;
    }
    if (verdict == INFLATE_UNREADABLE)
        take_error(stream->findings, &inflater_fault(stream->inflater)->error);
}

/* Ends the image, with everything from `start` on lost. How much the rest would have inflated to is
 * unknown: it takes as many bytes of the image as it has compressed ones. */
static void lose_rest(struct stream_scan *stream, uint64_t start, const char *reason) {
    uint64_t file_size = stream->scan->source.size, bad = stream->bad_offset;
    uint64_t end = image_end(stream) + (file_size > bad ? file_size - bad : 1);
    if (stream->scan->known) end = stream->scan->known_size;
    else check_lost(stream, end);
    stream->origin = end;
    stream->size = 0;
    stream->cursor = (struct scan_cursor){.position = end};
    if (end > start) scan_add_damage(stream->findings, start, end - start, reason);
}

/* Records without checks: the bytes of a damaged member may have been wrong long before the
 * inflater noticed, and nothing in the records shows it. So all bytes from `start` on, where the
 * last matching checksum ends, are lost, and with them the records that reach past `start`.
 *
 * The scan of such a shard ends here. Resuming at a later member would number records whose
 * neighbours are unknown, for little gain. */
static void lose_unverified(struct stream_scan *stream, uint64_t start, const char *reason) {
    assert(!framing_of(stream)->check_payload && !stream->findings->damage_count);
    stream->retry_size = 0;
    scan_available(stream);
    if (stream->findings->status != RECMAP_OK) return;
    start = findings_truncate(stream->findings, start, stream->cursor.position);
    lose_rest(stream, start, reason);
}

/* Returns true if the stream merely ends too early. A damaged stream can look so too, if it ran
 * over the members that follow: then one of them is found. */
static bool is_truncated(struct stream_scan *stream, const struct inflate_fault *fault) {
    return fault->is_cut && find_member(stream, fault->at) == UINT64_MAX;
}

/* Continues after a part of the stream that cannot be used: `is_resumed` says whether the inflater
 * is at a point or member that follows it. Returns false if the scan ends here. */
static bool continue_lost(struct stream_scan *stream, bool is_resumed, uint64_t lost_since,
                          const char *reason) {
    if (!is_resumed) {
        lose_rest(stream, lost_since, reason);
        return false;
    }
    stream->size = 0;
    stream->retry_size = 0;
    stream->taker.needs_point = true;
    stream->cursor =
        (struct scan_cursor){.position = stream->origin, .is_lost = true, .lost_since = lost_since};
    snprintf(stream->cursor.reason, sizeof stream->cursor.reason, "%s", reason);
    return true;
}

/* The current span of a known shard inflates to other data than when it was indexed. Where it goes
 * wrong is unknown: damage can shift the output, so that a good record is found at the place of its
 * neighbour. Readers get nothing of such a span, so whatever the scan found in it is lost, together
 * with a record that extends into it. Bytes before the span that a lost cursor has not searched yet
 * are searched now. Returns false if the scan ends here. */
static bool lose_span(struct stream_scan *stream, const char *reason) {
    if (needs_strict(stream)) return false;
    uint64_t begin = span_checks_span_begin(&stream->checks);
    struct scan_cursor *cursor = &stream->cursor;
    if (!framing_of(stream)->check_payload) {
        lose_unverified(stream, begin, reason);
        return false;
    }
    /* Without a lost cursor there is no damage yet, as findings_truncate requires. */
    if (!cursor->is_lost)
        cursor->position = findings_truncate(stream->findings, begin, cursor->position);
    if (cursor->position >= stream->origin && cursor->position < begin) {
        stream->size = (size_t)(begin - stream->origin);
        scan_to_end(stream);
        if (stream->findings->status != RECMAP_OK) return false;
    }
    uint64_t lost_since = cursor->is_lost ? cursor->lost_since : min_u64(cursor->position, begin);
    stream->next_known = stream->checks.span_index;
    return continue_lost(stream, resume_at_point(stream, begin), lost_since, reason);
}

static bool lose_changed_span(struct stream_scan *stream) {
    const struct point_list *known = stream->scan->known;
    size_t index = stream->checks.span_index;
    uint64_t begin = index ? known->at[index - 1].bit / 8 : 0;
    uint64_t end = index < known->count ? known->at[index].bit / 8 + 1 : stream->scan->source.size;
    char reason[REASON_MAX];
    snprintf(reason, sizeof reason,
             "the %s stream is damaged: its bytes %" PRIu64 " to %" PRIu64
             " inflate to other data than when they were indexed",
             compression_name(stream->scan->kind), begin, end);
    return lose_span(stream, reason);
}

/* The stream cannot be inflated any further. What it inflated to so far is scanned to its end.
 * Then, if the records have checks of their own, the scan resumes at the next point of the index
 * or the next member. Returns false if the scan ends here. */
static bool pass_damage(struct stream_scan *stream) {
    const struct inflate_fault fault = *inflater_fault(stream->inflater);
    const struct framing *framing = framing_of(stream);
    uint64_t end = image_end(stream), verified_end = inflater_unverified_from(stream->inflater);
    char reason[REASON_MAX];
    snprintf(reason, sizeof reason, "the %s stream is damaged at its byte %" PRIu64 ": %s",
             compression_name(stream->scan->kind), fault.at, fault.reason);
    if (!span_checks_match(&stream->checks)) return lose_span(stream, reason);
    if (!framing->check_payload) {
        lose_unverified(stream, is_truncated(stream, &fault) ? end : verified_end, reason);
        return false;
    }
    scan_to_end(stream);
    if (stream->findings->status != RECMAP_OK) return false;
    /* The scan may have stopped at bytes that would be padding at the end of a file. Here they are
     * not at its end, so they are damage too. */
    uint64_t lost_since = min_u64(stream->cursor.position, end);
    bool is_resumed = framing->find &&
                      (stream->scan->known ? resume_at_point(stream, end)
                                           : resume_at_member(stream, end, fault.at));
    return continue_lost(stream, is_resumed, lost_since, reason);
}

static void format_wrong_sum(char reason[REASON_MAX], uint64_t offset) {
    snprintf(reason, REASON_MAX, "%s (byte %" PRIu64 " of the file)", wrong_sum, offset);
}

/* Continues at the known point that the image has reached.
 *
 * Damage can leave a stream that inflates without an error, but to other bytes, or to another
 * number of them. Readers start at points, and reject a span whose check does not match. To find
 * what readers find, this scan does the same, and discards what the stream inflated to past the
 * point.
 *
 * If a member begins at the point, the checksum of the previous member should have been verified.
 * If the inflater has not met the member's beginning, it was not: records without checks are lost
 * from there on. Returns false if the scan ends here, or on an error. */
static bool pass_known_point(struct stream_scan *stream, recmap_status *status,
                             recmap_error *error) {
    if (!has_known_point(stream) || image_end(stream) < read_limit(stream)) return true;
    const struct stored_point *point = &stream->scan->known->at[stream->next_known];
    bool member_begins = inflater_member_size(stream->inflater) == 1;
    stream->size = (size_t)(point->offset - stream->origin);
    if (!span_checks_match(&stream->checks)) return lose_changed_span(stream);
    span_checks_enter(&stream->checks, ++stream->next_known);
    if (!point->window_size && !member_begins && !framing_of(stream)->check_payload) {
        if (needs_strict(stream)) return false;
        lose_unverified(stream, inflater_unverified_from(stream->inflater), wrong_sum);
        return false;
    }
    if (start_at_known(stream, point, true)) return true;
    if (stream->findings->status == RECMAP_OK) *status = fail_point(stream, error);
    return false;
}

/* Lists a wrong checksum if no other damage explains it. It takes no bytes and is listed at the end
 * of the image, where it lies in no frame. */
static void add_wrong_sum(struct stream_scan *stream) {
    if (!stream->wrong_sum_offset || stream->findings->damage_count) return;
    char reason[REASON_MAX];
    format_wrong_sum(reason, stream->wrong_sum_offset);
    scan_add_damage(stream->findings, image_end(stream), 0, reason);
}

/* The checksum of a member does not match. Returns false if the scan ends here. */
static bool pass_wrong_sum(struct stream_scan *stream, recmap_status *status, recmap_error *error) {
    const struct inflate_fault *fault = inflater_fault(stream->inflater);
    scan_available(stream);
    if (!stream->wrong_sum_offset) stream->wrong_sum_offset = fault->at;
    if (stream->findings->status != RECMAP_OK) return false;
    if (!skips_damage(stream)) {
        *status = fail_stream(stream, fault, error);
        return false;
    }
    if (framing_of(stream)->check_payload) return true;
    char reason[REASON_MAX];
    format_wrong_sum(reason, fault->at);
    lose_unverified(stream, inflater_unverified_from(stream->inflater), reason);
    return false;
}

/* Handles the result of one read. Returns false if the scan ends here, or on an error. */
static bool take_read(struct stream_scan *stream, enum inflate_verdict verdict,
                      recmap_status *status, recmap_error *error) {
    const struct inflate_fault *fault = inflater_fault(stream->inflater);
    bool is_damaged = verdict == INFLATE_BAD || verdict == INFLATE_WRONG_SUM;
    copy_prefix(stream);
    if (is_damaged && needs_strict(stream)) return false;
    if (is_damaged) stream->bad_offset = fault->at;
    switch (verdict) {
    case INFLATE_OK: scan_available(stream); return true;
    case INFLATE_AT_POINT:
        if (!point_taker_take(&stream->taker, stream->inflater)) *status = fail_memory(error);
        return *status == RECMAP_OK;
    case INFLATE_END:
        if (!span_checks_match(&stream->checks)) return lose_changed_span(stream);
        scan_to_end(stream);
        if (skips_damage(stream)) add_wrong_sum(stream);
        return false;
    case INFLATE_WRONG_SUM: return pass_wrong_sum(stream, status, error);
    case INFLATE_BAD:
        if (skips_damage(stream)) return pass_damage(stream);
        scan_available(stream);
        if (stream->findings->status == RECMAP_OK) *status = fail_stream(stream, fault, error);
        return false;
    case INFLATE_UNREADABLE: break;
    }
    if (error) *error = fault->error;
    *status = fault->error.status;
    return false;
}

/* Reads and scans one chunk. Returns false if the scan ends here, or on an error. */
static bool scan_chunk(struct stream_scan *stream, recmap_status *status, recmap_error *error) {
    *status = make_room(stream, error);
    if (*status != RECMAP_OK) return false;
    limit_findings(stream);
    size_t size, room = point_taker_decide(&stream->taker, stream->inflater, image_end(stream));
    room = (size_t)min_u64(read_size(stream), room);
    bool wants_point = !stream->scan->known && stream->taker.is_due;
    enum inflate_verdict verdict =
        inflater_read(&size, stream->inflater, stream->bytes + stream->size, room, wants_point);
    check_bytes(stream, stream->bytes + stream->size, size);
    stream->size += size;
    assert(stream->size <= stream->capacity);
    point_taker_advance(&stream->taker, verdict, size);
    if (verdict == INFLATE_OK && !pass_known_point(stream, status, error)) return false;
    return take_read(stream, verdict, status, error) && stream->findings->status == RECMAP_OK;
}

/* The image is complete, and with it the checks of the last spans. */
static recmap_status end_checks(struct stream_scan *stream, recmap_error *error) {
    return span_checks_finish(&stream->checks, stream->scan->size) ? RECMAP_OK : fail_memory(error);
}

/* Returns true for an error that other data would not have had. */
static bool is_about_data(recmap_status status) {
    return status == RECMAP_CORRUPT || status == RECMAP_UNSUPPORTED;
}

/* Findings that no longer fit their memory end the scan early, and the error says so. The seek
 * points are complete only if the whole stream was scanned without an error, so only then are their
 * checks computed. */
recmap_status inflate_scan_shard(struct inflate_scan *scan, struct scan_findings *findings,
                                 recmap_error *error) {
    struct stream_scan stream = {
        .scan = scan,
        .findings = findings,
        .taker = {.points = &scan->points},
        .checks = {.points = &scan->points, .known = scan->known, .known_size = scan->known_size}};
    stream.inflater = scan->is_strict ? inflater_create_strict(scan->kind, &scan->source)
                                      : inflater_create(scan->kind, &scan->source);
    scan->prefix = malloc(INFLATED_PREFIX);
    recmap_status status = stream.inflater && scan->prefix ? RECMAP_OK : fail_memory(error);
    findings_clear(findings);
    if (status == RECMAP_OK)
        while (scan_chunk(&stream, &status, error)) {
        }
    if (findings_are_full(findings)) status = fail_found(&stream, error);
    findings->size_limit = 0;
    scan->size = image_end(&stream);
    points_finish(&scan->points, scan->size);
    if (status == RECMAP_OK && findings->status == RECMAP_OK && !scan->known)
        status = end_checks(&stream, error);
    if (is_about_data(status) || is_about_data(findings->status)) needs_strict(&stream);
    scan->end_of_records = stream.cursor.position;
    free(stream.bytes);
    inflater_destroy(stream.inflater);
    return status;
}
