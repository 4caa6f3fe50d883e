#include "scan/inflate_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "format/tfrecord.h"
#include "scan/unsure.h"

enum {
    CHUNK = 256 << 10,       /* inflated at once: what is walked over is still in the cache */
    ASKED_APART = 4 * CHUNK, /* whether a point is due: it settles where points lie */
    SURE_SIZE = 64,          /* bytes with which a bad length is known to be one */
    SEARCH_BACK = 64 << 10,
};

/* Points are this far apart in what is inflated, if the index can afford them: a 64th of the
 * compressed bytes. Never further, so that what one record costs is bounded. */
#define APART_MIN ((uint64_t)1 << 20)
#define APART_MAX ((uint64_t)4 << 20)
enum { SHARE_OF_FILE = 64 };

static const char wrong_sum[] = "the checksum of a compressed member does not hold";

/* A walk under way. */
struct inflate_pass {
    struct inflate_scan *walk;
    struct scan_findings *findings;
    struct scan_cursor state;
    struct inflater *in;
    uint8_t *bytes; /* of the image, from `origin` on */
    size_t size, capacity;
    size_t wait_size; /* bytes from the walk's position on with which it is tried again */
    uint64_t origin;
    uint64_t apart_from;   /* the last point */
    size_t unasked_size;   /* bytes to come until it is asked again whether a point is due */
    bool is_point_due;     /* when it was asked */
    uint64_t tried_from;   /* members before were tried */
    uint64_t wrong_sum_at; /* byte of the file: the first checksum that does not hold; 0: none */
    struct unsure_list unsure; /* of records without a check of their own */
    bool needs_point;          /* behind damage nothing else leads there */
    size_t next_known;         /* the point of the index that comes next */
};

static recmap_status fail_stream(const struct inflate_pass *at, const struct inflate_fault *fault,
                                 recmap_error *error) {
    fail(error, RECMAP_CORRUPT, "the %s stream is damaged: %s", compression_name(at->walk->kind),
         fault->reason);
    fail_at(error, at->walk->path, RECMAP_NO_RECORD, fault->at);
    bool has_begun = at->origin + at->size > 0;
    fail_advise(error,
                "bring the file back from its source, or index with `--on-corrupt skip` to number "
                "the records that can be read%s",
                has_begun ? "" : "; a file that only begins so needs `--compression none`");
    return RECMAP_CORRUPT;
}

static recmap_status fail_point(const struct inflate_pass *at, recmap_error *error) {
    fail(error, RECMAP_CORRUPT,
         "the index is damaged or forged: a point of this shard cannot be used");
    fail_file(error, at->walk->path);
    fail_advise(error, "build the index again with `recmap index`");
    return RECMAP_CORRUPT;
}

static recmap_status fail_limit(const struct inflate_pass *at, const char *what,
                                recmap_error *error) {
    fail(error, RECMAP_UNSUPPORTED, "the %s stream %s", compression_name(at->walk->kind), what);
    fail_file(error, at->walk->path);
    fail_advise(error, "decompress the file and index the result");
    return RECMAP_UNSUPPORTED;
}

/* Room for one more chunk: what was walked over goes, and only if that is not enough the memory
 * grows. */
static recmap_status make_room(struct inflate_pass *at, recmap_error *error) {
    size_t done = (size_t)(at->state.position - at->origin);
    if (at->state.is_lost) done = 0;
    if (at->capacity - at->size >= CHUNK) return RECMAP_OK;
    if (done >= at->size / 2 && done) {
        memmove(at->bytes, at->bytes + done, at->size - done);
        at->size -= done;
        at->origin += done;
    }
    if (at->capacity - at->size >= CHUNK) return RECMAP_OK;
    if (at->capacity >= INFLATED_HELD_MAX)
        return fail_limit(at, "has a record, or damage, that takes over 8 GiB of memory", error);
    size_t capacity = at->capacity ? at->capacity * 2 : 2 * CHUNK;
    uint8_t *bytes = realloc(at->bytes, capacity);
    if (!bytes) return fail_memory(error);
    at->bytes = bytes;
    at->capacity = capacity;
    return RECMAP_OK;
}

static bool point_is_due(const struct inflate_pass *at) {
    if (at->walk->known) return false;
    if (at->needs_point) return true;
    /* The last point may lie ahead of what has come out. */
    uint64_t end = at->origin + at->size, apart = end > at->apart_from ? end - at->apart_from : 0;
    if (apart < APART_MIN) return false;
    if (apart >= APART_MAX) return true;
    const struct point_list *points = &at->walk->points;
    uint64_t next = points->count ? points_size(points) / points->count : INFLATE_WINDOW_MAX / 2;
    return (points_size(points) + next) * SHARE_OF_FILE <= inflater_position(at->in);
}

static void ask_for_point(struct inflate_pass *at) {
    if (at->unasked_size) return;
    at->unasked_size = ASKED_APART;
    at->is_point_due = point_is_due(at);
}

static recmap_status take_point(struct inflate_pass *at, recmap_error *error) {
    struct seek_point point = inflater_point(at->in);
    at->apart_from = point.offset;
    at->needs_point = false;
    /* Two members may meet without a byte between them. */
    const struct point_list *points = &at->walk->points;
    if (!point.offset || (points->count && points->at[points->count - 1].offset == point.offset))
        return RECMAP_OK;
    return points_add(&at->walk->points, &point) ? RECMAP_OK : fail_memory(error);
}

static void keep_head(struct inflate_pass *at) {
    struct inflate_scan *walk = at->walk;
    if (at->origin || walk->head_size == INFLATED_HEAD) return;
    walk->head_size = at->size < INFLATED_HEAD ? at->size : INFLATED_HEAD;
    memcpy(walk->head, at->bytes, walk->head_size);
}

/* Steps over the bytes that a file begins with. False: they, or those that it ends with, may not be
 * all there. */
static bool enter_file(struct inflate_pass *at) {
    const struct framing *by = at->walk->scanner->framing;
    uint64_t header = by->file_header_size, end = at->origin + at->size;
    if (!bytes_fit(header, by->file_footer_size, end)) return false;
    if (!at->state.is_lost && at->state.position < header) at->state.position = header;
    return true;
}

static void walk_to_end(struct inflate_pass *at) {
    const struct scanner *scanner = at->walk->scanner;
    if (enter_file(at))
        scan_rest(scanner, at->findings, &at->state, at->bytes,
                  at->size - (size_t)scanner->framing->file_footer_size, at->origin);
    else scan_from(scanner, at->findings, &at->state, at->bytes, at->size, at->size);
}

/* Walks as far as frames are good and all there. What is not good is damaged, or not all there: to
 * tell, more bytes are waited for, at last all of them. */
static void walk_some(struct inflate_pass *at) {
    const struct scanner *scanner = at->walk->scanner;
    if (at->state.is_lost || !enter_file(at)) return;
    /* What comes last may be what the file ends with. */
    size_t size = at->size - (size_t)scanner->framing->file_footer_size;
    size_t left = (size_t)(at->origin + size - at->state.position);
    if (left < at->wait_size) return;
    frame_verdict verdict =
        scan_good(scanner, at->findings, &at->state, at->bytes, size, at->origin);
    left = (size_t)(at->origin + size - at->state.position);
    at->wait_size = left > CHUNK ? 2 * left : 0;
    if (scanner->on_corrupt != RECMAP_ON_CORRUPT_RAISE || left < SURE_SIZE) return;
    const struct framing *by = scanner->framing;
    const uint8_t *bytes = at->bytes + (at->size - left);
    if (framing_is_tfrecord(by) &&
        (verdict == FRAME_BAD_DATA ||
         (verdict == FRAME_BAD_LENGTH && !by->begins_frame(by, bytes, left))))
        walk_to_end(at);
}

static bool has_known_point(const struct inflate_pass *at) {
    const struct point_list *known = at->walk->known;
    return known && at->next_known < known->count;
}

/* Where the next read ends: at the point that comes next. Whether the inflater is right where a
 * member begins can be told by one byte more. */
static uint64_t read_limit(const struct inflate_pass *at) {
    const struct stored_point *next = &at->walk->known->at[at->next_known];
    return next->offset + !next->window_size;
}

static size_t room_to_read(const struct inflate_pass *at) {
    uint64_t end = at->origin + at->size;
    return has_known_point(at) ? (size_t)min_u64(CHUNK, read_limit(at) - end) : CHUNK;
}

/* Starts at a point of the index. False where it cannot be used. */
static bool start_at_known(struct inflate_pass *at, const struct stored_point *point,
                           bool goes_on) {
    uint8_t window[INFLATE_WINDOW_MAX];
    struct seek_point from = {point->bit, point->offset, window, point->window_size};
    points_verdict verdict = points_unpack(window, point);
    if (verdict == POINTS_NO_MEMORY) at->findings->status = fail_memory(&at->findings->error);
    if (verdict != POINTS_OK) return false;
    return goes_on ? inflater_go_on_at(at->in, &from) : inflater_start_at(at->in, &from);
}

/* Records without a check of their own are only as good as the checksum of their member: what came
 * out of a damaged one may have been wrong before that was seen. */
static void doubt(struct inflate_pass *at, uint64_t from, uint64_t end, const char *reason) {
    if (at->walk->scanner->framing->check_payload) return;
    if (!unsure_add(&at->unsure, from, end, reason))
        at->findings->status = fail_memory(&at->findings->error);
}

/* Damage can leave a stream that inflates on, to other bytes or to another number of them. Readers
 * begin at points, and so does this: what holds in the end, check by check or by the checksum of a
 * member, is what they get. Where one begins, that before was checked, unless its end was not met.
 */
static recmap_status meet_known_point(struct inflate_pass *at, recmap_error *error) {
    if (!has_known_point(at) || at->origin + at->size < read_limit(at)) return RECMAP_OK;
    const struct stored_point *point = &at->walk->known->at[at->next_known++];
    bool begins_here = inflater_member_size(at->in) == 1;
    if (!point->window_size && !begins_here)
        doubt(at, inflater_unsure_from(at->in), point->offset, wrong_sum);
    at->size = (size_t)(point->offset - at->origin);
    return start_at_known(at, point, true) || at->findings->status != RECMAP_OK
               ? RECMAP_OK
               : fail_point(at, error);
}

/* Where the index has the next point behind damage, everything that lies behind it is known. */
static bool resume_at_point(struct inflate_pass *at, uint64_t end) {
    const struct point_list *known = at->walk->known;
    while (at->next_known < known->count) {
        const struct stored_point *point = &known->at[at->next_known++];
        if (point->offset < end || !start_at_known(at, point, false)) continue;
        at->origin = point->offset;
        return true;
    }
    return false;
}

/* The next member behind damage, which may have run over its beginning. */
static uint64_t find_member(struct inflate_pass *at, uint64_t bad_at) {
    uint64_t from = bad_at > SEARCH_BACK ? bad_at - SEARCH_BACK : 0;
    /* Members before this one were read. */
    if (from <= inflater_member_at(at->in)) from = inflater_member_at(at->in) + 1;
    if (from < at->tried_from) from = at->tried_from;
    return inflater_find_member(at->in, from);
}

static bool resume_at_member(struct inflate_pass *at, uint64_t end, uint64_t bad_at) {
    uint64_t found = find_member(at, bad_at);
    if (found == UINT64_MAX) return false;
    at->tried_from = found + 1;
    at->origin = end + (found > bad_at ? found - bad_at : 1);
    inflater_start(at->in, found, at->origin);
    return true;
}

/* Whether records can be found behind a lost stretch of unknown length: not where they lie by
 * arithmetic, or where a user's function would look at what was lost. */
static bool can_find_back(const struct framing *framing) {
    return framing->find && !framing->record_size && !framing->custom;
}

/* From where on what came out before damage cannot be believed. Where only what follows is missing,
 * that is a record that reaches to there; and no footer stood there. */
static uint64_t doubtful_from(const struct inflate_pass *at) {
    uint64_t end = at->origin + at->size, from = inflater_unsure_from(at->in);
    uint64_t footer = at->walk->scanner->framing->file_footer_size;
    if (!inflater_fault(at->in)->is_cut && from < end) return from;
    return end > footer ? end - footer : 0;
}

/* Behind a wrong checksum lines are lines again, but for one that begins there by an LF that may be
 * wrong; and records of one size where the size held. */
static void doubt_sum(struct inflate_pass *at) {
    const struct framing *by = at->walk->scanner->framing;
    uint64_t end = at->origin + at->size;
    if (by->begins_behind) end++;
    else if (!by->record_size || !inflater_fault(at->in)->has_size) end = UINT64_MAX;
    doubt(at, inflater_unsure_from(at->in), end, wrong_sum);
}

/* The stream is damaged here: what came before it is walked to its end, and what follows is looked
 * for. The lost stretch takes as many bytes of the image as it has compressed ones, since what it
 * was cannot be known. */
static bool pass_damage(struct inflate_pass *at) {
    const struct inflate_fault fault = *inflater_fault(at->in);
    uint64_t end = at->origin + at->size;
    char reason[REASON_MAX];
    snprintf(reason, sizeof reason, "the %s stream is damaged at its byte %llu: %s",
             compression_name(at->walk->kind), (unsigned long long)fault.at, fault.reason);
    walk_to_end(at);
    if (at->findings->status != RECMAP_OK) return false;
    /* What ended the records, an archive's zeros for one, would be its last bytes, but is not. */
    uint64_t lost_since = min_u64(at->state.position, end);
    uint64_t from = doubtful_from(at), member_from = inflater_unsure_from(at->in);
    const struct framing *by = at->walk->scanner->framing;
    bool resumed = false, ran_over;
    if (can_find_back(by)) {
        resumed = at->walk->known ? resume_at_point(at, end) : resume_at_member(at, end, fault.at);
        ran_over = resumed;
    } else {
        ran_over = fault.is_cut && find_member(at, fault.at) != UINT64_MAX;
    }
    /* A stream that ran over the next member was not cut, but went wrong. */
    doubt(at, ran_over && fault.is_cut ? member_from : from, end, reason);
    at->size = 0;
    at->wait_size = 0;
    if (resumed) {
        at->state = (struct scan_cursor){
            .position = at->origin + by->begins_behind, .is_lost = true, .lost_since = lost_since};
        snprintf(at->state.reason, sizeof at->state.reason, "%s", reason);
        at->needs_point = true;
        return true;
    }
    uint64_t behind = at->walk->source.size > fault.at ? at->walk->source.size - fault.at : 1;
    at->origin = end + behind;
    if (at->walk->known) at->origin = at->walk->known_size;
    at->state = (struct scan_cursor){.position = at->origin};
    if (at->origin > lost_since)
        scan_add_damage(at->findings, lost_since, at->origin - lost_since, reason);
    return false;
}

/* It takes nothing, and stands at the end, where it lies within no frame. */
static void add_wrong_sum(struct inflate_pass *at) {
    char reason[REASON_MAX];
    snprintf(reason, sizeof reason, "%s (byte %llu of the file)", wrong_sum,
             (unsigned long long)at->wrong_sum_at);
    scan_add_damage(at->findings, at->origin + at->size, 0, reason);
}

/* Takes what one read came to. False: the walk is at its end. */
static bool take(struct inflate_pass *at, inflate_verdict verdict, recmap_status *status,
                 recmap_error *error) {
    bool skips = at->walk->scanner->on_corrupt != RECMAP_ON_CORRUPT_RAISE;
    const struct inflate_fault *fault = inflater_fault(at->in);
    keep_head(at);
    if (at->findings->run.count > INFLATED_RECORDS_MAX) {
        *status = fail_limit(at, "holds more than 2^28 records", error);
        return false;
    }
    switch (verdict) {
    case INFLATE_OK: walk_some(at); return true;
    case INFLATE_AT_POINT: *status = take_point(at, error); return *status == RECMAP_OK;
    case INFLATE_END:
        walk_to_end(at);
        /* Damage that was found says more. */
        if (skips && at->wrong_sum_at && !at->findings->damage_count) add_wrong_sum(at);
        return false;
    case INFLATE_WRONG_SUM:
        walk_some(at);
        if (!at->wrong_sum_at) at->wrong_sum_at = fault->at;
        if (skips) doubt_sum(at);
        else if (at->findings->status == RECMAP_OK) *status = fail_stream(at, fault, error);
        return *status == RECMAP_OK;
    case INFLATE_BAD:
        if (skips) return pass_damage(at);
        walk_some(at);
        if (at->findings->status == RECMAP_OK) *status = fail_stream(at, fault, error);
        return false;
    case INFLATE_UNREADABLE: break;
    }
    if (error) *error = fault->error;
    *status = fault->error.status;
    return false;
}

recmap_status inflate_walk_shard(struct inflate_scan *walk, struct scan_findings *findings,
                                 recmap_error *error) {
    struct inflate_pass at = {.walk = walk, .findings = findings};
    at.in = inflater_create(walk->kind, &walk->source);
    recmap_status status = at.in ? RECMAP_OK : fail_memory(error);
    findings_clear(findings);
    for (bool goes_on = true; goes_on && status == RECMAP_OK;) {
        status = make_room(&at, error);
        if (status != RECMAP_OK) break;
        ask_for_point(&at);
        size_t size, room = (size_t)min_u64(room_to_read(&at), at.unasked_size);
        inflate_verdict verdict =
            inflater_read(&size, at.in, at.bytes + at.size, room, at.is_point_due);
        at.size += size;
        at.unasked_size = verdict == INFLATE_OK ? at.unasked_size - size : 0;
        if (verdict == INFLATE_OK) status = meet_known_point(&at, error);
        if (status != RECMAP_OK) break;
        goes_on = take(&at, verdict, &status, error) && findings->status == RECMAP_OK;
    }
    walk->size = at.origin + at.size;
    points_end(&walk->points, walk->size);
    walk->end_of_records = at.state.position;
    if (status == RECMAP_OK && findings->status == RECMAP_OK)
        unsure_take_back(findings, &at.unsure, walk->scanner->framing, walk->size);
    unsure_free(&at.unsure);
    free(at.bytes);
    inflater_destroy(at.in);
    return status;
}
