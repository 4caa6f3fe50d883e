/* Chunked orders: the documents of an epoch joined into a stream, which is cut into rows. */
#include <assert.h>
#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/pieces.h"
#include "base/permutation/random.h"
#include "order/rows/permuted_rows.h"
#include "order/rows/row_options.h"
#include "order/rows/stream.h"

struct chunked_order {
    struct permuted_rows rows;
    recmap_chunked_options options;
    uint64_t total; /* elements of a stream */
    struct stream stream;
};

static void chunked_destroy(recmap_order *order) {
    struct chunked_order *chunked = (struct chunked_order *)order;
    stream_deinit(&chunked->stream);
    recmap_counts_release(chunked->stream.lengths.counts);
}

/* A row that is being filled: the elements [next, end) of the stream are still to come. */
struct filling {
    uint64_t start;
    uint64_t next;
    uint64_t end;
};

/* Adds the pieces that are in the cursor's block. */
static recmap_status add_block(recmap_pieces *pieces, struct filling *row,
                               const struct stream_cursor *cursor, recmap_error *error) {
    uint64_t begin = cursor->start;
    for (size_t i = 0; i < cursor->count && row->next < row->end; i++) {
        uint64_t length = cursor->lengths[i], skipped = row->next - begin;
        begin += length;
        if (skipped >= length) continue;
        uint64_t count = min_u64(length - skipped, row->end - row->next);
        recmap_piece piece = {cursor->records[i], skipped, count, row->next - row->start, length};
        RETURN_IF_FAILED(pieces_add(pieces, piece, error));
        row->next += count;
    }
    return RECMAP_OK;
}

/* The block after the cursor's that holds the next element. Usually it is the following one, but a
 * block of documents without elements must not make the cursor read all blocks like it. */
static recmap_status next_place(struct epoch_place *place, const struct stream_cursor *cursor,
                                const struct filling *row, bool was_empty, recmap_error *error) {
    *place = (struct epoch_place){cursor->block + 1, row->next};
    if (was_empty) RETURN_IF_FAILED(stream_find(place, cursor, &row->next, 1, error));
    bool is_sound = place->block > cursor->block && place->block < cursor->stream->block_count;
    return is_sound ? RECMAP_OK : fail_changed(error);
}

static recmap_status add_row(recmap_pieces *pieces, struct stream_cursor *cursor,
                             struct epoch_place place, struct filling *row, recmap_error *error) {
    for (;;) {
        uint64_t before = row->next;
        stream_read_block(cursor, place.block, place.start);
        RETURN_IF_FAILED(add_block(pieces, row, cursor, error));
        if (row->next == row->end) break;
        RETURN_IF_FAILED(next_place(&place, cursor, row, row->next == before, error));
    }
    return pieces_end_row(pieces, error);
}

static struct filling filling_of(const struct chunked_order *chunked, uint64_t row) {
    uint64_t start = row * chunked->options.size;
    assert(start < chunked->total);
    uint64_t end = start + min_u64(chunked->rows.base.rows.width, chunked->total - start);
    return (struct filling){start, start, end};
}

/* Rows that are looked up together. */
enum { STRETCH = 64 };

static recmap_status add_rows(recmap_pieces *pieces, struct stream_cursor *cursor,
                              const struct chunked_order *chunked, const uint64_t *rows,
                              size_t count, recmap_error *error) {
    uint64_t offsets[STRETCH];
    struct epoch_place places[STRETCH];
    for (size_t i = 0; i < count; i++) offsets[i] = rows[i] * chunked->options.size;
    recmap_status status = stream_find(places, cursor, offsets, count, error);
    for (size_t i = 0; i < count && status == RECMAP_OK; i++) {
        struct filling row = filling_of(chunked, rows[i]);
        status = add_row(pieces, cursor, places[i], &row, error);
    }
    return status;
}

static recmap_status chunked_pieces(recmap_pieces *pieces, const recmap_order *order,
                                    uint64_t epoch, const uint64_t *positions, size_t count,
                                    recmap_error *error) {
    struct chunked_order *chunked = (struct chunked_order *)order;
    struct permutation rows;
    struct stream_cursor cursor;
    permuted_rows_init_epoch(&rows, order, epoch);
    stream_cursor_init(&cursor, &chunked->stream, epoch);
    recmap_status status = RECMAP_OK;
    for (size_t done = 0; done < count && status == RECMAP_OK; done += STRETCH) {
        uint64_t numbers[STRETCH];
        size_t here = (size_t)min_u64(STRETCH, count - done);
        permutation_at(&rows, numbers, positions + done, here);
        status = add_rows(pieces, &cursor, chunked, numbers, here, error);
    }
    return status;
}

static recmap_status chunked_prepare(const recmap_order *order, uint64_t epoch,
                                     recmap_error *error) {
    return stream_prepare(&((struct chunked_order *)order)->stream, epoch, error);
}

static void chunked_describe(struct json_writer *json, const recmap_order *order) {
    const struct chunked_order *chunked = (const struct chunked_order *)order;
    const recmap_chunked_options *options = &chunked->options;
    describe_number(json, "n", order->record_limit);
    describe_number(json, "seed", options->seed);
    describe_number(json, "size", options->size);
    if (options->overlap) describe_number(json, "overlap", options->overlap);
    if (options->add) describe_number(json, "add", options->add);
    if (options->documents == RECMAP_DOCUMENTS_STORED) describe_text(json, "documents", "stored");
    if (options->last == RECMAP_TAIL_PAD) describe_text(json, "last", "pad");
    describe_digest(json, "counts", chunked->stream.lengths.counts->digest);
    describe_number(json, "rows", order->count);
}

static const struct order_kind chunked_kind = {
    .name = "chunked",
    .destroy = chunked_destroy,
    .at = permuted_rows_at,
    .position_of = permuted_rows_position_of,
    .pieces = chunked_pieces,
    .prepare = chunked_prepare,
    .describe = chunked_describe,
};

static recmap_status check_options(const recmap_chunked_options *options, recmap_error *error) {
    RETURN_IF_FAILED(check_version(options->version, RECMAP_CHUNKED_OPTIONS_VERSION, error));
    RETURN_IF_FAILED(check_row_size(options->size, 1, "size", error));
    RETURN_IF_FAILED(check_row_size(options->add, 0, "added elements", error));
    RETURN_IF_FAILED(check_below_size(options->overlap, options->size, "an overlap", error));
    if (options->documents != RECMAP_DOCUMENTS_SHUFFLED &&
        options->documents != RECMAP_DOCUMENTS_STORED)
        return fail(error, RECMAP_INVALID, "invalid order of documents: %d",
                    (int)options->documents);
    if (options->last != RECMAP_TAIL_DROP && options->last != RECMAP_TAIL_PAD)
        return fail(error, RECMAP_INVALID, "invalid rule for the last row: %d", (int)options->last);
    return RECMAP_OK;
}

static uint64_t count_rows(const recmap_chunked_options *options, uint64_t total) {
    if (total <= options->overlap) return options->last == RECMAP_TAIL_PAD && total;
    uint64_t starts = total - options->overlap;
    bool has_tail = options->last == RECMAP_TAIL_PAD && starts % options->size;
    return starts / options->size + has_tail;
}

/* The elements that the rows have: all up to the end of the last row. */
static uint64_t count_used(const recmap_chunked_options *options, uint64_t total, uint64_t rows) {
    return rows ? min_u64(total, rows * options->size + options->overlap) : 0;
}

/* From the retain on, the order owns the counts: destroying it releases them. */
recmap_status recmap_order_chunked(recmap_order **order, recmap_counts *counts,
                                   const recmap_chunked_options *options, recmap_error *error) {
    struct lengths lengths = {counts, options->add};
    uint64_t total = 0;
    RETURN_IF_FAILED(check_options(options, error));
    RETURN_IF_FAILED(lengths_total(&total, &lengths, error));
    uint64_t rows = count_rows(options, total);
    struct chunked_order *chunked =
        order_allocate(sizeof *chunked, &chunked_kind, rows, rows, error);
    if (!chunked) return RECMAP_NO_MEMORY;
    chunked->options = *options;
    chunked->total = total;
    chunked->rows.seed = options->seed;
    chunked->rows.stream = stream_of(STREAM_CHUNKED_ROWS, 0);
    chunked->rows.base.record_limit = counts->record_count;
    chunked->rows.base.rows.width = options->size + options->overlap;
    chunked->rows.base.rows.add = options->add;
    order_rows_set_elements(&chunked->rows.base.rows, total, count_used(options, total, rows));
    recmap_counts_retain(counts);
    bool is_stored = options->documents == RECMAP_DOCUMENTS_STORED;
    recmap_status status = stream_init(&chunked->stream, &lengths, options->seed, is_stored, error);
    if (status != RECMAP_OK) {
        recmap_order_release(&chunked->rows.base);
        return status;
    }
    *order = &chunked->rows.base;
    return RECMAP_OK;
}
