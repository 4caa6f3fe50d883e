#include "scan/scanner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"

/* What a guess may cost: enough for what lies before a frame in most files, and for a large record;
 * but payload of zeros or small numbers, which looks like headers everywhere, and bytes made to
 * look like headers of long records must not make it cost more than walking. */
static const struct search_budget GUESS_BUDGET = {.place_count = 1 << 17,
                                                  .payload_size = (uint64_t)256 << 20};

bool findings_init(struct scan_findings *findings, const struct extractor *extractor) {
    *findings = (struct scan_findings){0};
    return run_init(&findings->run, extractor_has_ids(extractor),
                    extractor_column_count(extractor));
}

void findings_free(struct scan_findings *findings) {
    run_free(&findings->run);
    crc_sums_free(&findings->sums);
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

/* Damage under RAISE ends the walk. */
static void stop_at_damage(struct scan_findings *findings, uint64_t offset, const char *reason) {
    stop(findings, offset, fail(&findings->error, RECMAP_CORRUPT, "%s", reason));
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
}

static void add_record(const struct scanner *scanner, struct scan_findings *findings,
                       uint64_t offset, const struct frame *frame, const uint8_t *frame_bytes) {
    if (!run_add(&findings->run, offset, frame->data_size, frame->check)) {
        stop_without_memory(findings, offset);
        return;
    }
    recmap_status status = extractor_lift(scanner->extractor, &findings->run,
                                          frame_bytes + frame->data_offset,
                                          (size_t)frame->data_size, &findings->error);
    if (status == RECMAP_OK) return;
    findings->run.count--;
    stop(findings, offset, status);
}

static void get_lost(struct scan_cursor *state, const char *reason) {
    state->is_lost = true;
    state->lost_since = state->position++;
    snprintf(state->reason, sizeof state->reason, "%s", reason);
}

/* A place whose frame is bad. Where its length holds and a good header or the end stands behind it,
 * only this record is lost; else the walk must find its way back. */
static void meet_damage(const struct scanner *scanner, struct scan_findings *findings,
                        struct scan_cursor *state, frame_verdict verdict, const struct frame *frame,
                        const struct frame_fault *fault, const uint8_t *bytes, uint64_t size) {
    if (scanner->on_corrupt == RECMAP_ON_CORRUPT_RAISE) {
        stop_at_damage(findings, state->position, fault->reason);
        return;
    }
    if (verdict == FRAME_BAD_DATA) {
        uint64_t behind = state->position + frame->size;
        const struct framing *by = scanner->framing;
        if (behind == size || by->begins_frame(by, bytes + behind, size - behind)) {
            add_damage(findings, state->position, frame->size, fault->reason);
            state->position = behind;
            return;
        }
    }
    get_lost(state, fault->reason);
}

static void find_back(const struct scanner *scanner, struct scan_findings *findings,
                      struct scan_cursor *state, const uint8_t *bytes, uint64_t size,
                      uint64_t end) {
    const struct framing *framing = scanner->framing;
    uint64_t at = !framing->find ? FRAME_NOWHERE
                                 : framing->find(framing, bytes, size, state->position, end,
                                                 SEARCH_UNBOUNDED, &findings->sums);
    if (at == FRAME_NOWHERE) {
        state->position = end;
        if (end < size) return;
        at = size;
    }
    add_damage(findings, state->lost_since, at - state->lost_since, state->reason);
    state->position = at;
    state->is_lost = false;
}

/* Where no check is stored, the hash that stands for it is wanted. */
static frame_check check_of(const struct framing *framing) {
    return framing->check_payload ? FRAME_CHECK_ALL : FRAME_CHECK_STORED;
}

/* The frame at the walk's position. Before any damage every byte is met once. A walk that was lost
 * may meet frames that claim the same bytes over and over: then sums tell what was read before. */
static frame_verdict parse_frame(struct frame *frame, const struct scanner *scanner,
                                 struct scan_findings *findings, const struct scan_cursor *state,
                                 const uint8_t *bytes, uint64_t size, struct frame_fault *fault) {
    const struct framing *framing = scanner->framing;
    const uint8_t *at = bytes + state->position;
    uint64_t left = size - state->position;
    if (framing->check_payload && !findings->sums.bytes)
        return framing->parse(frame, framing, at, left, FRAME_CHECK_ALL, fault);
    frame_verdict verdict = framing->parse(frame, framing, at, left, FRAME_CHECK_STORED, fault);
    if (verdict != FRAME_GOOD || !framing->check_payload) return verdict;
    return framing->check_payload(frame, bytes, state->position, &findings->sums, fault);
}

static void walk_on(const struct scanner *scanner, struct scan_findings *findings,
                    struct scan_cursor *state, const uint8_t *bytes, uint64_t size, uint64_t end) {
    while (findings->status == RECMAP_OK &&
           (state->position < end || (state->is_lost && end == size))) {
        if (state->is_lost) {
            find_back(scanner, findings, state, bytes, size, end);
            continue;
        }
        struct frame found;
        struct frame_fault fault;
        frame_verdict verdict = parse_frame(&found, scanner, findings, state, bytes, size, &fault);
        if (verdict == FRAME_GOOD) {
            add_record(scanner, findings, state->position, &found, bytes + state->position);
            state->position += found.size;
        } else if (verdict == FRAME_AT_END) {
            return;
        } else {
            meet_damage(scanner, findings, state, verdict, &found, &fault, bytes, size);
        }
    }
}

/* Where the records of a file of that size end. */
static uint64_t records_end(const struct scanner *scanner, uint64_t size) {
    uint64_t footer = scanner->framing->file_footer_size;
    return footer < size ? size - footer : 0;
}

/* Steps over the bytes at a file's beginning. False: it is too short to be what it should be. */
static bool enter_file(const struct scanner *scanner, struct scan_findings *findings,
                       struct scan_cursor *state, uint64_t size) {
    const struct framing *framing = scanner->framing;
    uint64_t header = framing->file_header_size, footer = framing->file_footer_size;
    if (!(header | footer) || state->position || state->is_lost) return true;
    state->position = header;
    if (bytes_fit(header, footer, size)) return true;
    char reason[REASON_MAX];
    snprintf(reason, sizeof reason,
             "the file has %" PRIu64 " bytes, less than its header of %" PRIu64
             " and its footer of %" PRIu64,
             size, header, footer);
    state->position = size;
    if (scanner->on_corrupt == RECMAP_ON_CORRUPT_RAISE) stop_at_damage(findings, 0, reason);
    else if (size) add_damage(findings, 0, size, reason);
    return false;
}

void scan_from(const struct scanner *scanner, struct scan_findings *findings,
               struct scan_cursor *state, const uint8_t *bytes, uint64_t size, uint64_t end) {
    findings_clear(findings);
    uint64_t last = records_end(scanner, size);
    if (enter_file(scanner, findings, state, size))
        walk_on(scanner, findings, state, bytes, last, min_u64(end, last));
}

bool scan_from_guess(const struct scanner *scanner, struct scan_findings *findings,
                     struct scan_cursor *state, uint64_t *entry, const uint8_t *bytes,
                     uint64_t size, uint64_t begin, uint64_t end) {
    const struct framing *framing = scanner->framing;
    findings_clear(findings);
    size = records_end(scanner, size);
    end = min_u64(end, size);
    if (!framing->guess || begin >= end) return false;
    uint64_t at = framing->guess(framing, bytes, size, begin, end, GUESS_BUDGET, NULL);
    if (at == FRAME_NOWHERE) return false;
    *entry = at;
    *state = (struct scan_cursor){.position = at};
    walk_on(scanner, findings, state, bytes, size, end);
    return true;
}

frame_verdict scan_good(const struct scanner *scanner, struct scan_findings *findings,
                        struct scan_cursor *state, const uint8_t *bytes, size_t size,
                        uint64_t origin) {
    const struct framing *by = scanner->framing;
    while (findings->status == RECMAP_OK) {
        size_t at = (size_t)(state->position - origin);
        struct frame found;
        frame_verdict verdict = by->parse(&found, by, bytes + at, size - at, check_of(by), NULL);
        /* One that ends with the bytes may end there only because they do. */
        if (verdict != FRAME_GOOD || found.size >= size - at) return verdict;
        add_record(scanner, findings, state->position, &found, bytes + at);
        state->position += found.size;
    }
    return FRAME_GOOD;
}

/* Places in `bytes` are made places in the shard; those before the bytes wrap, and come back. */
void scan_rest(const struct scanner *scanner, struct scan_findings *findings,
               struct scan_cursor *state, const uint8_t *bytes, size_t size, uint64_t origin) {
    size_t records = findings->run.count, damages = findings->damage_count;
    state->position -= origin;
    state->lost_since -= origin;
    crc_sums_clear(&findings->sums);
    walk_on(scanner, findings, state, bytes, size, size);
    crc_sums_clear(&findings->sums);
    state->position += origin;
    state->lost_since += origin;
    for (size_t i = records; i < findings->run.count; i++) findings->run.offsets[i] += origin;
    for (size_t i = damages; i < findings->damage_count; i++) findings->damages[i].offset += origin;
    findings->stopped_at += origin;
}

void scan_add_damage(struct scan_findings *findings, uint64_t offset, uint64_t length,
                     const char *reason) {
    add_damage(findings, offset, length, reason);
}
