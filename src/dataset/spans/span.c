#include "dataset/spans/span.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/crc32c.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/file.h"
#include "base/os/read_again.h"
#include "dataset/spans/span_input.h"

uint64_t span_begin(const struct span_source *source, uint64_t span_index) {
    assert(span_index <= source->points->count);
    return span_index ? source->points->at[span_index - 1].offset : 0;
}

uint64_t span_end(const struct span_source *source, uint64_t span_index) {
    assert(span_index <= source->points->count);
    return span_index < source->points->count ? source->points->at[span_index].offset
                                              : source->entry->size;
}

uint64_t span_at(const struct span_source *source, uint64_t offset) {
    return points_find(source->points, offset) + 1;
}

struct span_piece span_piece_at(const struct span_source *source, uint64_t offset) {
    uint64_t index = span_at(source, offset);
    uint64_t begin = span_begin(source, index), end = span_end(source, index);
    assert(begin <= offset);
    if (end - begin <= SPAN_WHOLE_MAX) return (struct span_piece){index, begin, end};
    begin += (offset - begin) / SPAN_PIECE * SPAN_PIECE;
    return (struct span_piece){index, begin, min_u64(end, begin + SPAN_PIECE)};
}

uint64_t span_file_begin(const struct span_source *source, uint64_t span_index) {
    return span_index ? source->points->at[span_index - 1].bit / 8 : 0;
}

uint64_t span_file_end(const struct span_source *source, uint64_t span_index) {
    return span_index < source->points->count ? source->points->at[span_index].bit / 8 + 1
                                              : source->entry->file_size;
}

/* Reports why a piece is not what was indexed: the file could not be read, was truncated, or its
 * stream is damaged. The inflater may not notice damage, or only later. Then the bytes are wrong
 * anywhere between the span's seek points, and its start is named. */
static recmap_status fail_span(const struct span_source *source, enum inflate_verdict verdict,
                               const struct inflate_fault *fault, struct span_piece piece,
                               recmap_error *error) {
    const struct shard_entry *entry = source->entry;
    const char *kind = compression_name(entry->compression);
    uint64_t begin = span_file_begin(source, piece.span_index);
    if (verdict == INFLATE_UNREADABLE) {
        *error = fault->error;
        return fault->error.status;
    }
    recmap_status status;
    if (source->map && source->map->was_cut) {
        status = fail(error, RECMAP_IO, "the file was truncated after it was opened");
        fail_advise(error, "restore the indexed file and open the data set again");
    } else if (verdict == INFLATE_BAD || verdict == INFLATE_END) {
        status = fail(error, RECMAP_CORRUPT, "the %s stream is damaged: %s", kind,
                      verdict == INFLATE_END ? "it ends earlier than when it was indexed"
                                             : fault->reason);
    } else {
        status = fail(error, RECMAP_CORRUPT,
                      "the %s stream is damaged: its bytes %" PRIu64 " to %" PRIu64
                      " inflate to other data than when they were indexed",
                      kind, begin, span_file_end(source, piece.span_index));
    }
    if (status == RECMAP_CORRUPT)
        fail_advise(error, "restore the file from its source; this index still reads the rest, "
                           "`recmap verify` lists what is lost, and a loader can skip bad records");
    bool has_place = status == RECMAP_CORRUPT && verdict != INFLATE_END;
    fail_at(error, source->path, RECMAP_NO_RECORD,
            verdict == INFLATE_BAD ? fault->at
            : has_place            ? begin
                                   : RECMAP_NO_OFFSET);
    return status;
}

/* Moves a new inflater to the seek point at which the span begins. */
static enum points_verdict start(struct inflater *inflater, const struct span_source *source,
                                 uint64_t span_index) {
    if (!span_index) return POINTS_OK;
    const struct stored_point *point = &source->points->at[span_index - 1];
    uint8_t window[INFLATE_WINDOW_MAX];
    struct seek_point seek = {point->bit, point->offset, window, point->window_size};
    enum points_verdict verdict = points_unpack(window, point);
    if (verdict != POINTS_OK) return verdict;
    return inflater_start_at(inflater, &seek) ? POINTS_OK : POINTS_BAD;
}

/* Grows the span's memory, up to `piece_size` bytes. Memory grows with the bytes that were
 * inflated, not with a size from the index, which may be forged. */
static bool grow(struct span *span, size_t *capacity, uint64_t piece_size) {
    enum { FIRST = 8 << 20 };
    uint64_t grown = *capacity ? (uint64_t)*capacity * 2 : FIRST;
    if (grown > piece_size) grown = piece_size;
    if (grown > SIZE_MAX) return false;
    uint8_t *data = realloc(span->data, (size_t)grown + 1);
    if (!data) return false;
    span->data = data;
    *capacity = (size_t)grown;
    return true;
}

static void fail_without_memory(struct span *span) {
    fail_memory(&span->error);
    span->is_transient = true;
}

/* Counts bytes that were inflated. Returns false, with the span's error, if the call was
 * interrupted. */
static bool continues(struct span *span, size_t size) {
    if (interrupt_continues(thread_interrupt(), size)) return true;
    interrupt_fail(&span->error);
    span->is_transient = true;
    return false;
}

static void fail_point(struct span *span, const struct span_source *source) {
    fail(&span->error, RECMAP_CORRUPT,
         "the index is damaged or forged: a seek point of this shard is invalid");
    fail_file(&span->error, source->path);
    fail_advise(&span->error, "build the index again with `recmap index`");
}

/* Returns an inflater positioned in the span, at or before the piece: only a strict one always at
 * its beginning. On failure it sets the span's error and returns NULL. */
static struct inflater *start_before(struct span *span, struct span_input *input,
                                     struct span_piece piece, bool is_strict) {
    const struct span_source *source = input->source;
    struct inflate_source bytes = span_input_source(input);
    uint64_t begin = span_begin(source, piece.span_index);
    struct inflater *inflater =
        piece.begin > begin && !is_strict
            ? waypoints_resume(source->waypoints, begin, piece.begin, &bytes)
            : NULL;
    if (inflater) return inflater;
    enum compression kind = source->entry->compression;
    inflater = is_strict ? inflater_create_strict(kind, &bytes) : inflater_create(kind, &bytes);
    enum points_verdict started = inflater ? start(inflater, source, piece.span_index)
                                           : POINTS_NO_MEMORY;
    if (started == POINTS_OK) return inflater;
    if (started == POINTS_BAD) fail_point(span, source);
    else fail_without_memory(span);
    inflater_destroy(inflater);
    return NULL;
}

static bool can_continue(enum inflate_verdict verdict) {
    return verdict == INFLATE_OK || verdict == INFLATE_WRONG_SUM;
}

static void add_waypoint(const struct span_source *source, const struct inflater *inflater) {
    if (!inflater_is_strict(inflater)) waypoints_add(source->waypoints, inflater);
}

/* Inflates and discards the bytes of the span that precede the piece. */
static enum inflate_verdict skip_to_piece(struct span *span, struct inflater *inflater,
                                          const struct span_source *source,
                                          struct span_piece piece) {
    enum inflate_verdict verdict = INFLATE_OK;
    if (inflater_offset(inflater) >= piece.begin) return verdict;
    span->data = malloc(SPAN_PIECE + 1);
    if (!span->data) fail_without_memory(span);
    while (span->data && can_continue(verdict) && inflater_offset(inflater) < piece.begin) {
        uint64_t at = inflater_offset(inflater) - span_begin(source, piece.span_index);
        size_t room =
            (size_t)min_u64(piece.begin - inflater_offset(inflater), SPAN_PIECE - at % SPAN_PIECE);
        size_t size;
        verdict = inflater_read(&size, inflater, span->data, room, false);
        span->passed_size += size;
        if (size == room) add_waypoint(source, inflater);
        if (!continues(span, size)) break;
    }
    return verdict;
}

static enum inflate_verdict fill(struct span *span, struct inflater *inflater,
                                 uint64_t piece_size) {
    size_t capacity = span->data ? SPAN_PIECE : 0;
    enum inflate_verdict verdict = INFLATE_OK;
    while (span->size < piece_size && can_continue(verdict)) {
        size_t size;
        if (span->size == capacity && !grow(span, &capacity, piece_size)) {
            fail_without_memory(span);
            break;
        }
        verdict = inflater_read(&size, inflater, span->data + span->size,
                                (size_t)min_u64(capacity, piece_size) - span->size, false);
        span->size += size;
        if (!continues(span, size)) break;
    }
    return verdict;
}

/* Returns true if the piece inflated to the bytes that were indexed. Where the stream was damaged
 * already, these are the bytes before the damage. */
static bool is_intact(const struct span *span, const struct span_source *source,
                      struct span_piece piece) {
    uint64_t first = (piece.begin - span_begin(source, piece.span_index)) / SPAN_CHECKED_SIZE;
    uint64_t count = span_check_count(piece.end - piece.begin);
    const uint32_t *checks = points_checks(source->points, (size_t)piece.span_index) + first;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t begin = i * SPAN_CHECKED_SIZE;
        size_t size = begin < span->size ? (size_t)min_u64(SPAN_CHECKED_SIZE, span->size - begin)
                                         : 0;
        if ((size ? crc32c(span->data + begin, size) : 0) != checks[i]) return false;
    }
    return true;
}

/* Inflates the piece and checks it. On failure sets the span's error; its size stays above 0 only
 * if its data can be used. */
static void inflate_piece(struct span *span, struct inflater *inflater,
                          const struct span_source *source, struct span_piece piece) {
    uint64_t piece_size = piece.end - piece.begin;
    assert(!span->size && inflater_offset(inflater) <= piece.begin);
    enum inflate_verdict verdict = skip_to_piece(span, inflater, source, piece);
    if (span->error.status == RECMAP_OK && can_continue(verdict))
        verdict = fill(span, inflater, piece_size);
    if (span->size == piece_size && piece.end < span_end(source, piece.span_index))
        add_waypoint(source, inflater);
    if (span->size == piece_size) verdict = INFLATE_OK; /* whatever follows the piece */
    bool can_use = span->error.status == RECMAP_OK && verdict != INFLATE_UNREADABLE &&
                   is_intact(span, source, piece);
    if (can_use && span->size == piece_size) return;
    if (span->error.status == RECMAP_OK) {
        recmap_status status =
            fail_span(source, verdict, inflater_fault(inflater), piece, &span->error);
        /* Bytes of a remote object may have been changed on the way here. */
        bool is_remote = source->source && source->source->fd < 0;
        span->is_transient = status != RECMAP_CORRUPT || is_remote;
    }
    if (can_use) return;
    span->failed_check = crc32c(span->data, span->size);
    span->size = 0;
}

/* Forgets what was inflated. */
static void span_clear(struct span *span) {
    free(span->data);
    *span = (struct span){.error = RECMAP_ERROR_INIT, .passed_size = span->passed_size};
}

static void inflate_from(struct span *span, struct span_input *input, struct span_piece piece,
                         bool is_strict) {
    struct inflater *inflater = start_before(span, input, piece, is_strict);
    if (inflater) inflate_piece(span, inflater, input->source, piece);
    inflater_destroy(inflater);
    if (span->size) return;
    free(span->data);
    span->data = NULL;
}

/* What a damaged stream inflates to is the same everywhere only if it is inflated strictly. If that
 * gives what was indexed, the index knows of the damage. */
static void inflate_once(struct span *span, const struct span_source *source,
                         struct span_piece piece, bool is_again) {
    struct span_input input;
    span_input_init(&input, source, piece);
    input.is_again = is_again;
    inflate_from(span, &input, piece, false);
    if (span->error.status == RECMAP_CORRUPT && !span->size) {
        span_clear(span);
        inflate_from(span, &input, piece, true);
    }
    span_input_deinit(&input);
}

/* Returns true if compressed bytes are the same when they are read once more. */
static bool is_same_piece(const struct span_source *source, uint8_t *first, uint8_t *second,
                          size_t size, uint64_t offset) {
    bool is_possible;
    if (source->map) memcpy(first, source->map->data + offset, size);
    else if (source_read(source->source, first, size, offset, NULL) != RECMAP_OK) return true;
    recmap_status status =
        source->read_again(&is_possible, source->context, second, size, offset, NULL);
    return status != RECMAP_OK || !is_possible || !memcmp(first, second, size);
}

/* The same for all compressed bytes of a span. */
static bool has_same_bytes(const struct span_source *source, uint64_t span_index) {
    enum { PIECE = 1 << 18 };
    uint64_t begin = span_file_begin(source, span_index), end = span_file_end(source, span_index);
    uint8_t *pieces = malloc((size_t)2 * PIECE);
    bool is_same = true;
    for (; pieces && is_same && begin < end; begin += PIECE)
        is_same = is_same_piece(source, pieces, pieces + PIECE, (size_t)min_u64(PIECE, end - begin),
                                begin);
    free(pieces);
    return is_same;
}

/* What may have been read wrongly is inflated once more. What fails twice in the same way, of bytes
 * that are the same when they are read again, is damaged in the file. */
void span_inflate(struct span *span, const struct span_source *source, struct span_piece piece) {
    inflate_once(span, source, piece, false);
    if (span->error.status != RECMAP_CORRUPT || span->size || !source->read_again) return;
    uint32_t check = span->failed_check;
    uint64_t offset = span->error.offset;
    span_clear(span);
    inflate_once(span, source, piece, true);
    if (span->error.status != RECMAP_CORRUPT || span->size) return;
    if (span->failed_check == check && span->error.offset == offset &&
        has_same_bytes(source, piece.span_index))
        return;
    fail_differing(&span->error, source->path, "a span of the compressed stream");
    fail_at(&span->error, NULL, RECMAP_NO_RECORD, span_file_begin(source, piece.span_index));
    span->is_transient = true;
}
