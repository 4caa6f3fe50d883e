/* What follows from the pieces of rows alone: segments, positions, masks, and the offsets of
 * sequences. */
#include <recmap/rows.h>

#include <assert.h>
#include <string.h>

#include "base/core/bytes.h"

/* A piece in its row, cut off at the width. */
struct span {
    uint64_t place;
    uint64_t count;
};

static struct span span_of(const recmap_piece *piece, uint64_t width) {
    uint64_t place = min_u64(piece->place, width);
    return (struct span){place, min_u64(piece->count, width - place)};
}

static size_t first_piece(const recmap_pieces *pieces, size_t row) {
    assert(row < pieces->row_count && pieces->ends[row] <= pieces->count);
    return row ? pieces->ends[row - 1] : 0;
}

void recmap_pieces_segments(int32_t *segments, const recmap_pieces *pieces, uint64_t width) {
    memset(segments, 0, pieces->row_count * (size_t)width * sizeof *segments);
    for (size_t row = 0; row < pieces->row_count; row++, segments += width) {
        size_t first = first_piece(pieces, row);
        for (size_t i = first; i < pieces->ends[row]; i++) {
            struct span span = span_of(&pieces->items[i], width);
            for (uint64_t j = 0; j < span.count; j++)
                segments[span.place + j] = (int32_t)(i - first + 1);
        }
    }
}

void recmap_pieces_positions(int32_t *positions, const recmap_pieces *pieces, uint64_t width,
                             recmap_position_kind kind) {
    memset(positions, 0, pieces->row_count * (size_t)width * sizeof *positions);
    for (size_t row = 0; row < pieces->row_count; row++, positions += width) {
        for (size_t i = first_piece(pieces, row); i < pieces->ends[row]; i++) {
            struct span span = span_of(&pieces->items[i], width);
            uint64_t start = kind == RECMAP_POSITION_IN_RECORD ? pieces->items[i].first : 0;
            for (uint64_t j = 0; j < span.count; j++)
                positions[span.place + j] = (int32_t)(start + j);
        }
    }
}

void recmap_pieces_mask(uint8_t *mask, const recmap_pieces *pieces, uint64_t width) {
    memset(mask, 0, pieces->row_count * (size_t)width);
    for (size_t row = 0; row < pieces->row_count; row++, mask += width) {
        for (size_t i = first_piece(pieces, row); i < pieces->ends[row]; i++) {
            struct span span = span_of(&pieces->items[i], width);
            memset(mask + span.place, 1, (size_t)span.count);
        }
    }
}

size_t recmap_pieces_sequence_max(const recmap_pieces *pieces) {
    return 2 * pieces->count + pieces->row_count;
}

/* The offsets that are being listed. */
struct sequences {
    int32_t *offsets;
    size_t count;
    int32_t longest;
};

static void end_sequence(struct sequences *sequences, uint64_t end) {
    int32_t length = (int32_t)end - sequences->offsets[sequences->count];
    if (!length) return;
    sequences->offsets[++sequences->count] = (int32_t)end;
    if (length > sequences->longest) sequences->longest = length;
}

size_t recmap_pieces_sequences(int32_t *offsets, int32_t *longest, const recmap_pieces *pieces,
                               uint64_t width) {
    struct sequences sequences = {.offsets = offsets};
    offsets[0] = 0;
    for (size_t row = 0; row < pieces->row_count; row++) {
        uint64_t start = row * width;
        for (size_t i = first_piece(pieces, row); i < pieces->ends[row]; i++) {
            struct span span = span_of(&pieces->items[i], width);
            end_sequence(&sequences, start + span.place);
            end_sequence(&sequences, start + span.place + span.count);
        }
        end_sequence(&sequences, start + width);
    }
    *longest = sequences.longest;
    return sequences.count;
}
