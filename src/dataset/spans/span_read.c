#include "dataset/spans/span_read.h"

#include <assert.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"

enum {
    AHEAD = 8,                     /* frames whose bytes are prefetched before they are copied */
    LINE = 64,                     /* bytes of a cache line */
    COPY_PREFETCH_MAX = 16 * LINE, /* the hardware prefetcher loads the rest of a longer frame */
};

/* Larger spans are not pinned in advance: they would hold too much memory. */
#define PINNED_AHEAD_MAX ((uint64_t)8 << 20)

struct span_request {
    const struct span_reader *reader;
    struct span_piece piece;
};

static void fill_span(struct span *span, void *context) {
    const struct span_request *request = context;
    const struct span_reader *reader = request->reader;
    if (reader->stored) stored_spans_fill(span, reader->stored, &reader->source, request->piece);
    else span_inflate(span, &reader->source, request->piece);
}

static const struct span *pin_piece(const struct span_reader *reader, struct span_piece piece) {
    struct span_request request = {reader, piece};
    struct span_key key = {reader->shard_index, piece.begin};
    const struct span *pinned = span_cache_pin(reader->cache, key, fill_span, &request);
    if (reader->stored) stored_spans_warn(reader->stored);
    return pinned;
}

/* Copies the part of the bytes that lies in one span, if it is stored. */
static bool read_stored(size_t *copy_size, const struct span_reader *reader,
                        struct span_piece piece, uint8_t *data, size_t size, uint64_t offset) {
    size_t part_size = (size_t)min_u64(size, piece.end - offset);
    if (!reader->stored || !stored_spans_read(reader->stored, &reader->source, piece.span_index,
                                              data, part_size, offset))
        return false;
    stored_spans_count(reader->stored, 1);
    *copy_size = part_size;
    return true;
}

/* Copies the part of the bytes that lies in one span. */
static recmap_status read_piece(size_t *copy_size, const struct span_reader *reader, uint8_t *data,
                                size_t size, uint64_t offset, recmap_error *error) {
    struct span_piece piece = span_piece_at(&reader->source, offset);
    if (read_stored(copy_size, reader, piece, data, size, offset)) return RECMAP_OK;
    const struct span *pinned = pin_piece(reader, piece);
    if (!pinned) return thread_interrupt()->is_stopped ? interrupt_fail(error) : fail_memory(error);
    assert(offset < piece.end);
    uint64_t within = offset - piece.begin;
    size_t part_size = (size_t)min_u64(size, piece.end - offset);
    recmap_status status = RECMAP_OK;
    if (bytes_fit(within, part_size, pinned->size)) {
        memcpy(data, pinned->data + within, part_size);
        *copy_size = part_size;
    } else {
        status = pinned->error.status;
        if (error) *error = pinned->error;
    }
    span_cache_unpin(reader->cache, pinned);
    return status;
}

recmap_status span_read(const struct span_reader *reader, uint8_t *data, size_t size,
                        uint64_t offset, recmap_error *error) {
    for (size_t done = 0, copy_size = 0; done < size; done += copy_size) {
        RETURN_IF_FAILED(
            read_piece(&copy_size, reader, data + done, size - done, offset + done, error));
    }
    return RECMAP_OK;
}

/* A frame that will be copied soon: its span is pinned, or its bytes are stored, and its bytes are
 * being prefetched. */
struct upcoming_frame {
    const struct span *pinned; /* NULL: not pinned in advance */
    struct span_piece piece;
    uint64_t within;
    bool owns_pin; /* false: the next frame, in the same span, took over the pin */
    bool is_stored;
    const uint8_t *stored; /* its mapped bytes, if it is stored in a mapped file */
};

static bool is_whole(const struct upcoming_frame *upcoming, const struct index_place *place) {
    return upcoming->pinned &&
           bytes_fit(upcoming->within, place->frame_size, upcoming->pinned->size);
}

static void prefetch_frame(const uint8_t *bytes, const struct index_place *place) {
    const uint8_t *end = bytes + min_u64(place->frame_size, COPY_PREFETCH_MAX);
    for (; bytes < end; bytes += LINE) __builtin_prefetch(bytes);
}

static bool ends_in_span(const struct upcoming_frame *upcoming, const struct span_reader *reader,
                         const struct index_place *place) {
    return place->offset + place->frame_size <=
           span_end(&reader->source, upcoming->piece.span_index);
}

/* Returns true if the frame is stored. `bytes` are the mapped bytes of the stored spans, or NULL.
 */
static bool begin_stored(struct upcoming_frame *upcoming, const struct span_reader *reader,
                         const uint8_t *bytes, const struct index_place *place) {
    const struct span_source *source = &reader->source;
    uint64_t span_index = upcoming->piece.span_index;
    upcoming->is_stored =
        stored_spans_has(reader->stored, source, span_index, place->offset, place->frame_size);
    if (upcoming->is_stored && bytes) {
        upcoming->stored = bytes + stored_spans_position(source, span_index, place->offset);
        prefetch_frame(upcoming->stored, place);
    }
    return upcoming->is_stored;
}

static void begin_frame(struct upcoming_frame *upcoming, struct upcoming_frame *previous,
                        const struct span_reader *reader, const uint8_t *stored_bytes,
                        const struct index_place *place) {
    struct span_piece piece = span_piece_at(&reader->source, place->offset);
    *upcoming = (struct upcoming_frame){.piece = piece, .within = place->offset - piece.begin};
    if (reader->stored) {
        /* A frame that continues in the next span is copied in parts, each from where it is. */
        if (!ends_in_span(upcoming, reader, place)) return;
        if (begin_stored(upcoming, reader, stored_bytes, place)) return;
    }
    if (previous && previous->pinned && previous->piece.begin == piece.begin) {
        upcoming->pinned = previous->pinned;
        previous->owns_pin = false;
    } else if (piece.end - piece.begin <= PINNED_AHEAD_MAX) {
        upcoming->pinned = pin_piece(reader, piece);
    }
    upcoming->owns_pin = upcoming->pinned != NULL;
    if (!is_whole(upcoming, place)) return;
    prefetch_frame(upcoming->pinned->data + upcoming->within, place);
}

static void end_frame(struct upcoming_frame *upcoming, const struct span_reader *reader) {
    if (upcoming->owns_pin) span_cache_unpin(reader->cache, upcoming->pinned);
    upcoming->owns_pin = false;
}

/* The error of a span that was pinned in advance and has no byte of the frame, or NULL. To ask for
 * the span once more would request it again from a store that fails. */
static const recmap_error *failure_of(const struct upcoming_frame *upcoming) {
    const struct span *pinned = upcoming->pinned;
    bool has_failed = pinned && upcoming->within >= pinned->size && pinned->error.status;
    return has_failed ? &pinned->error : NULL;
}

/* Copies a frame that is stored. Returns false if it cannot be read, or is damaged. */
static bool copy_stored(const struct upcoming_frame *upcoming, const struct span_reader *reader,
                        uint8_t *data, const struct index_place *place) {
    size_t size = (size_t)place->frame_size;
    if (!upcoming->stored)
        return stored_spans_read(reader->stored, &reader->source, upcoming->piece.span_index, data,
                                 size, place->offset);
    memcpy(data, upcoming->stored, size);
    return true;
}

/* A frame that is not complete in its span continues in the next one, or is damaged. */
static recmap_status copy_frame(const struct upcoming_frame *upcoming,
                                const struct span_reader *reader, uint8_t *data,
                                const struct index_place *place, recmap_error *error) {
    size_t size = (size_t)place->frame_size;
    const recmap_error *failure = failure_of(upcoming);
    if (upcoming->is_stored && copy_stored(upcoming, reader, data, place)) return RECMAP_OK;
    if (failure) {
        if (error) *error = *failure;
        return failure->status;
    }
    if (!is_whole(upcoming, place)) return span_read(reader, data, size, place->offset, error);
    memcpy(data, upcoming->pinned->data + upcoming->within, size);
    return RECMAP_OK;
}

recmap_status span_read_frames(const struct span_reader *reader, uint8_t *data,
                               const struct index_place *places, size_t count,
                               recmap_error *error) {
    enum { SLOTS = AHEAD + 1 };
    struct upcoming_frame upcoming[SLOTS] = {{0}};
    const uint8_t *stored = reader->stored ? stored_spans_bytes(reader->stored) : NULL;
    uint64_t hit_count = 0;
    recmap_status status = RECMAP_OK;
    for (size_t turn = 0; turn < count + AHEAD && status == RECMAP_OK; turn++) {
        struct upcoming_frame *previous = turn ? &upcoming[(turn - 1) % SLOTS] : NULL;
        if (turn < count)
            begin_frame(&upcoming[turn % SLOTS], previous, reader, stored, &places[turn]);
        if (turn < AHEAD) continue;
        size_t i = turn - AHEAD;
        status = copy_frame(&upcoming[i % SLOTS], reader, data, &places[i], error);
        data += places[i].frame_size;
        hit_count += upcoming[i % SLOTS].is_stored;
        end_frame(&upcoming[i % SLOTS], reader);
    }
    for (size_t i = 0; i < SLOTS; i++) end_frame(&upcoming[i], reader);
    if (hit_count) stored_spans_count(reader->stored, hit_count);
    return status;
}
