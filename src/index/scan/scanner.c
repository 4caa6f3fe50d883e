#include "index/scan/scanner.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "parse/text/header.h"

/* Limits the cost of a guess. It is enough to pass a large record. Payload of zeros or small
 * numbers looks like headers everywhere, and bytes may be crafted to look like headers of long
 * records: neither may make guessing cost more than scanning. */
static const struct search_budget GUESS_BUDGET = {.place_count = 1 << 17,
                                                  .payload_size = (uint64_t)256 << 20};

bool findings_init(struct scan_findings *findings, const struct extractor *extractor) {
    *findings = (struct scan_findings){0};
    return run_init(&findings->run, extractor_has_ids(extractor), extractor_column_count(extractor),
                    extractor_counted_count(extractor));
}

void findings_deinit(struct scan_findings *findings) {
    run_deinit(&findings->run);
    crc_sums_deinit(&findings->sums);
    free(findings->damages);
    *findings = (struct scan_findings){0};
}

void findings_clear(struct scan_findings *findings) {
    run_clear(&findings->run);
    findings->damage_count = 0;
    findings->status = RECMAP_OK;
}

static void stop(struct scan_findings *findings, uint64_t offset, recmap_status status) {
    findings->status = status;
    findings->stopped_at = offset;
}

static void stop_without_memory(struct scan_findings *findings, uint64_t offset) {
    stop(findings, offset, fail_memory(&findings->error));
}

/* With RAISE, damage ends the scan. */
static void stop_at_damage(struct scan_findings *findings, uint64_t offset, const char *reason) {
    stop(findings, offset, fail(&findings->error, RECMAP_CORRUPT, "%s", reason));
}

uint64_t findings_size(const struct scan_findings *findings) {
    return run_size(&findings->run) + findings->damage_count * sizeof *findings->damages;
}

bool findings_are_full(const struct scan_findings *findings) {
    return findings->size_limit && findings_size(findings) > findings->size_limit;
}

bool findings_pause(const struct scan_findings *findings) {
    return findings->pause_size && findings_size(findings) >= findings->pause_size;
}

static void stop_if_full(struct scan_findings *findings, uint64_t offset) {
    if (findings->status == RECMAP_OK && findings_are_full(findings))
        stop(findings, offset, RECMAP_UNSUPPORTED);
}

static void add_damage(struct scan_findings *findings, uint64_t offset, uint64_t length,
                       const char *reason) {
    if (!array_reserve(&findings->damages, &findings->damage_capacity, findings->damage_count + 1,
                       sizeof *findings->damages)) {
        stop_without_memory(findings, offset);
        return;
    }
    struct scan_damage *damage = &findings->damages[findings->damage_count++];
    damage->offset = offset;
    damage->length = length;
    snprintf(damage->reason, sizeof damage->reason, "%s", reason);
    stop_if_full(findings, offset);
}

/* Adds the key of the last record, if the framing has keys. Returns false without memory. */
static bool add_key(const struct scanner *scanner, struct scan_findings *findings,
                    const struct frame *frame, const uint8_t *frame_bytes) {
    struct frame_key key = {.text = ""};
    if (!scanner->framing->read_key) return true;
    return scanner->framing->read_key(&key, frame_bytes, frame->size) &&
           run_set_key(&findings->run, &(struct run_key){key.hash, key.repeated_at, key.text});
}

/* A record of text whose id or columns cannot be read is a bad record like any other. */
static void add_record(const struct scanner *scanner, struct scan_findings *findings,
                       uint64_t offset, const struct frame *frame, const uint8_t *frame_bytes) {
    if (!run_add(&findings->run, offset, frame->data_size, frame->check) ||
        !add_key(scanner, findings, frame, frame_bytes)) {
        stop_without_memory(findings, offset);
        return;
    }
    recmap_status status = extractor_lift(scanner->extractor, &findings->run,
                                          frame_bytes + frame->data_offset,
                                          (size_t)frame->data_size, &findings->error);
    if (status == RECMAP_OK) {
        stop_if_full(findings, offset);
        return;
    }
    bool is_skipped = findings->run.is_malformed &&
                      scanner->on_bad_record == RECMAP_ON_BAD_RECORD_SKIP;
    run_truncate(&findings->run, findings->run.count - 1);
    if (is_skipped) add_damage(findings, offset, frame->size, findings->error.message);
    else stop(findings, offset, status);
}

/* Stops if the first row of the file does not name the fields that the other files have. */
static void check_header(const struct scanner *scanner, struct scan_findings *findings,
                         const struct frame *frame, const uint8_t *frame_bytes) {
    const struct scan_header *due = scanner->header;
    if (!due) return;
    const char *row = (const char *)frame_bytes + frame->data_offset;
    struct text_format format = text_format_of(scanner->framing, row, (size_t)frame->data_size);
    struct text_format due_format =
        text_format_of(scanner->framing, (const char *)due->data, due->size);
    if (header_check(&format, &due_format, due->path, &findings->error) == RECMAP_OK) return;
    stop(findings, 0, RECMAP_MISMATCH);
}

/* Adds the record of a good frame at the cursor, unless it is the header of the file. */
static void take_frame(const struct scanner *scanner, struct scan_findings *findings,
                       struct scan_cursor *cursor, const struct frame *frame,
                       const uint8_t *frame_bytes) {
    bool is_header = scanner->framing->has_header && !cursor->position && !cursor->is_inside;
    if (is_header) check_header(scanner, findings, frame, frame_bytes);
    else add_record(scanner, findings, cursor->position, frame, frame_bytes);
    cursor->position += frame->size;
}

static void lose_sync(struct scan_cursor *cursor, const char *reason) {
    assert(!cursor->is_lost);
    cursor->is_lost = true;
    cursor->lost_since = cursor->position++;
    snprintf(cursor->reason, sizeof cursor->reason, "%s", reason);
}

/* Handles a bad frame at the cursor. If its length is plausible, because a good header or the end
 * of the records follows it, only this record is lost. Otherwise the cursor is lost and must
 * resync. */
static void pass_damage(const struct scanner *scanner, struct scan_findings *findings,
                        struct scan_cursor *cursor, enum frame_verdict verdict,
                        const struct frame *frame, const struct frame_fault *fault,
                        const uint8_t *bytes, uint64_t size) {
    if (scanner->on_bad_record == RECMAP_ON_BAD_RECORD_ERROR) {
        stop_at_damage(findings, cursor->position, fault->reason);
        return;
    }
    if (verdict == FRAME_BAD_DATA) {
        uint64_t next = cursor->position + frame->size;
        const struct framing *framing = scanner->framing;
        assert(next <= size);
        if (next == size || framing->begins_frame(framing, bytes + next, size - next)) {
            add_damage(findings, cursor->position, frame->size, fault->reason);
            cursor->position = next;
            return;
        }
    }
    if (scanner->framing->search_size && cursor->position >= cursor->lines_until)
        cursor->lines_until = cursor->position +
                              min_u64(scanner->framing->search_size, size - cursor->position);
    lose_sync(cursor, fault->reason);
}

/* Looks for the next good frame before `end`. If there is none, the cursor stays lost and the next
 * segment continues the search; at the end of the records the damage ends too. */
static void resync(const struct scanner *scanner, struct scan_findings *findings,
                   struct scan_cursor *cursor, const uint8_t *bytes, uint64_t size, uint64_t end) {
    const struct framing *framing = scanner->framing;
    uint64_t next = !framing->find ? FRAME_NOWHERE
                                   : framing->find(framing, bytes, size, cursor->position, end,
                                                   SEARCH_UNBOUNDED, &findings->sums);
    if (next == FRAME_NOWHERE) {
        cursor->position = end;
        if (end < size) return;
        next = size;
    }
    add_damage(findings, cursor->lost_since, next - cursor->lost_since, cursor->reason);
    cursor->position = next;
    cursor->is_lost = false;
}

/* If the framing stores no check, FRAME_CHECK_STORED makes `parse` compute the hash that replaces
 * it. */
static enum frame_check check_of(const struct framing *framing) {
    return framing->check_payload ? FRAME_CHECK_ALL : FRAME_CHECK_STORED;
}

/* The size of the line, with its LF. */
static uint64_t line_size(const uint8_t *bytes, uint64_t size) {
    const uint8_t *end = memchr(bytes, '\n', (size_t)size);
    return end ? (uint64_t)(end - bytes) + 1 : size;
}

/* Parses the frame at the cursor. Before any damage every byte belongs to one frame and is read
 * once. After damage, a search may meet many false headers whose frames cover the same bytes, and
 * reading each of them would take quadratic time. So once the search has started to keep sums
 * (`sums.bytes`), payloads are checked with them and no byte is read more than once or twice. */
static enum frame_verdict parse_frame(struct frame *frame, const struct scanner *scanner,
                                      struct scan_findings *findings,
                                      const struct scan_cursor *cursor, const uint8_t *bytes,
                                      uint64_t size, struct frame_fault *fault) {
    const struct framing *framing = scanner->framing;
    const uint8_t *frame_bytes = bytes + cursor->position;
    uint64_t left = size - cursor->position;
    if (cursor->position < cursor->lines_until) left = line_size(frame_bytes, left);
    if (framing->check_payload && !findings->sums.bytes)
        return framing->parse(frame, framing, frame_bytes, left, FRAME_CHECK_ALL, fault);
    enum frame_verdict verdict =
        framing->parse(frame, framing, frame_bytes, left, FRAME_CHECK_STORED, fault);
    if (verdict != FRAME_GOOD || !framing->check_payload) return verdict;
    return framing->check_payload(frame, bytes, cursor->position, &findings->sums, fault);
}

/* Scans all frames that begin before `end`. `size` is the end of the records, and `end` is at most
 * that: if it is less, another segment follows and damage may stay open. */
static void scan_frames(const struct scanner *scanner, struct scan_findings *findings,
                        struct scan_cursor *cursor, const uint8_t *bytes, uint64_t size,
                        uint64_t end) {
    /* A cursor that is lost at the end of the records has damage to be closed there: see resync. */
    while (findings->status == RECMAP_OK && !findings_pause(findings) &&
           (cursor->position < end || (cursor->is_lost && end == size))) {
        if (cursor->is_lost) {
            resync(scanner, findings, cursor, bytes, size, end);
            continue;
        }
        struct frame frame;
        struct frame_fault fault;
        enum frame_verdict verdict =
            parse_frame(&frame, scanner, findings, cursor, bytes, size, &fault);
        if (verdict == FRAME_GOOD) {
            assert(frame.size && frame.size <= size - cursor->position);
            take_frame(scanner, findings, cursor, &frame, bytes + cursor->position);
        } else if (verdict == FRAME_AT_END) {
            return;
        } else {
            pass_damage(scanner, findings, cursor, verdict, &frame, &fault, bytes, size);
        }
    }
}

uint64_t scan_end_of_records(const struct scanner *scanner, uint64_t size) {
    uint64_t footer = scanner->framing->file_footer_size;
    return footer < size ? size - footer : 0;
}

/* Moves the cursor past the file's header. False if the file is too short for header and footer:
 * then all of it is damage. */
static bool enter_file(const struct scanner *scanner, struct scan_findings *findings,
                       struct scan_cursor *cursor, uint64_t size) {
    const struct framing *framing = scanner->framing;
    uint64_t header = framing->file_header_size, footer = framing->file_footer_size;
    if (!(header | footer) || cursor->position || cursor->is_lost) return true;
    cursor->position = header;
    if (bytes_fit(header, footer, size)) return true;
    char reason[REASON_MAX];
    snprintf(reason, sizeof reason,
             "the file has %" PRIu64 " byte%s, less than its header of %" PRIu64
             " and its footer of %" PRIu64,
             size, plural(size), header, footer);
    cursor->position = size;
    if (scanner->on_bad_record == RECMAP_ON_BAD_RECORD_ERROR) stop_at_damage(findings, 0, reason);
    else if (size) add_damage(findings, 0, size, reason);
    return false;
}

void scan_from(const struct scanner *scanner, struct scan_findings *findings,
               struct scan_cursor *cursor, const uint8_t *bytes, uint64_t size, uint64_t end) {
    findings_clear(findings);
    scan_further(scanner, findings, cursor, bytes, size, end);
}

void scan_further(const struct scanner *scanner, struct scan_findings *findings,
                  struct scan_cursor *cursor, const uint8_t *bytes, uint64_t size, uint64_t end) {
    uint64_t last = scan_end_of_records(scanner, size);
    if (enter_file(scanner, findings, cursor, size))
        scan_frames(scanner, findings, cursor, bytes, last, min_u64(end, last));
}

bool scan_from_guess(const struct scanner *scanner, struct scan_findings *findings,
                     struct scan_cursor *cursor, uint64_t *entry, const uint8_t *bytes,
                     uint64_t size, uint64_t begin, uint64_t end) {
    const struct framing *framing = scanner->framing;
    findings_clear(findings);
    size = scan_end_of_records(scanner, size);
    end = min_u64(end, size);
    if (!framing->guess || begin >= end) return false;
    uint64_t guess = framing->guess(framing, bytes, size, begin, end, GUESS_BUDGET, NULL);
    if (guess == FRAME_NOWHERE) return false;
    assert(guess >= begin && guess < end);
    *entry = guess;
    *cursor = (struct scan_cursor){.position = guess};
    scan_frames(scanner, findings, cursor, bytes, size, end);
    return true;
}

/* Returns true if a frame that ends where the bytes end is complete, whatever follows. A line is if
 * it has its LF. A sample of a tar archive may continue, and of custom framings nothing is known.
 */
static bool is_complete(const struct framing *framing, const struct frame *frame,
                        const uint8_t *frame_bytes) {
    if (framing->custom) return false;
    if (framing->has_delimiter) return frame_bytes[frame->size - 1] == '\n';
    return framing->overhead || framing->record_size;
}

enum frame_verdict scan_good(const struct scanner *scanner, struct scan_findings *findings,
                             struct scan_cursor *cursor, const struct shard_part *part,
                             uint64_t end) {
    const struct framing *framing = scanner->framing;
    while (findings->status == RECMAP_OK && !findings_pause(findings) && cursor->position < end) {
        size_t start = (size_t)(cursor->position - part->origin), left = part->size - start;
        assert(start <= part->size);
        const uint8_t *frame_bytes = part->bytes + start;
        struct frame frame;
        enum frame_verdict verdict =
            framing->parse(&frame, framing, frame_bytes, left, check_of(framing), NULL);
        if (verdict != FRAME_GOOD ||
            (frame.size >= left && !part->is_last && !is_complete(framing, &frame, frame_bytes)))
            return verdict;
        take_frame(scanner, findings, cursor, &frame, frame_bytes);
    }
    return FRAME_GOOD;
}

/* Scans with offsets relative to `bytes` and converts them to offsets in the shard afterwards. An
 * offset before `origin`, as `lost_since` may be, wraps around; adding `origin` restores it, and
 * lengths are differences, which wrapping does not change. */
void scan_rest(const struct scanner *scanner, struct scan_findings *findings,
               struct scan_cursor *cursor, const uint8_t *bytes, size_t size, uint64_t origin) {
    size_t records = findings->run.count, damages = findings->damage_count;
    cursor->is_inside = cursor->position != 0;
    cursor->position -= origin;
    cursor->lost_since -= origin;
    cursor->lines_until = cursor->lines_until > origin ? cursor->lines_until - origin : 0;
    crc_sums_clear(&findings->sums);
    scan_frames(scanner, findings, cursor, bytes, size, size);
    crc_sums_clear(&findings->sums);
    cursor->is_inside = false;
    cursor->position += origin;
    cursor->lost_since += origin;
    cursor->lines_until += origin;
    for (size_t i = records; i < findings->run.count; i++) findings->run.offsets[i] += origin;
    for (size_t i = damages; i < findings->damage_count; i++) findings->damages[i].offset += origin;
    findings->stopped_at += origin;
}

uint64_t findings_truncate(struct scan_findings *findings, uint64_t limit, uint64_t end) {
    const struct record_run *run = &findings->run;
    size_t count = run->count;
    while (count && end > limit) end = run->offsets[--count];
    run_truncate(&findings->run, count);
    return min_u64(end, limit);
}

void scan_add_damage(struct scan_findings *findings, uint64_t offset, uint64_t length,
                     const char *reason) {
    add_damage(findings, offset, length, reason);
}
