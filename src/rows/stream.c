#include "rows/stream.h"

#include <assert.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "permutation/random.h"

static void init_documents(struct permutation *permutation, const struct stream *stream,
                           uint64_t epoch) {
    permutation_init(permutation, stream->document_count, stream->seed, epoch,
                     stream_of(STREAM_CHUNKED_DOCUMENTS, 0));
}

/* The documents [first, first + count) of the stream, and their lengths. */
static void read_documents(uint64_t *records, uint64_t *lengths, const struct stream *stream,
                           const struct permutation *documents, uint64_t first, size_t count) {
    for (size_t i = 0; i < count; i++) records[i] = first + i;
    if (stream->stored_sums) {
        lengths_run(lengths, &stream->lengths, first, count);
    } else {
        permutation_at(documents, records, records, count);
        lengths_gather(lengths, &stream->lengths, records, count);
    }
}

/* What the threads that measure blocks share. */
struct epoch_documents {
    const struct stream *stream;
    struct permutation documents;
};

enum { MEASURED_BLOCKS = 8 };

static recmap_status measure_blocks(uint64_t *sizes, const void *context, uint64_t first,
                                    size_t count, recmap_error *error) {
    (void)error;
    const struct epoch_documents *epoch = context;
    uint64_t records[MEASURED_BLOCKS * STREAM_BLOCK], lengths[MEASURED_BLOCKS * STREAM_BLOCK];
    uint64_t begin = first * STREAM_BLOCK;
    size_t here = (size_t)min_u64(count * STREAM_BLOCK, epoch->stream->document_count - begin);
    read_documents(records, lengths, epoch->stream, &epoch->documents, begin, here);
    for (size_t block = 0; block < count; block++) {
        size_t end = (size_t)min_u64((block + 1) * STREAM_BLOCK, here);
        sizes[block] = 0;
        for (size_t i = block * STREAM_BLOCK; i < end; i++) sizes[block] += lengths[i];
    }
    return RECMAP_OK;
}

/* With many documents, nearly every count that is read at random has to come from memory. Then it
 * is faster to read the counts in their order, and to add each to the block that its document is
 * in: the sums are a small fraction of the counts, and stay in the cache. */
enum { SCATTER_MIN = 1 << 22 };

static _Atomic(uint64_t) forced_scatter_min;

void stream_force_scatter_min(uint64_t document_count) {
    atomic_store(&forced_scatter_min, document_count);
}

static bool scatters(const struct stream *stream) {
    uint64_t forced = atomic_load(&forced_scatter_min);
    return !stream->stored_sums && stream->document_count >= (forced ? forced : SCATTER_MIN);
}

enum { PREFETCH_AHEAD = 32 };

static void scatter_blocks(atomic_sum *sizes, const void *context, uint64_t first, size_t count) {
    const struct epoch_documents *epoch = context;
    enum { DOCUMENTS = MEASURED_BLOCKS * STREAM_BLOCK };
    uint64_t places[DOCUMENTS], lengths[DOCUMENTS];
    uint64_t begin = first * STREAM_BLOCK;
    size_t here = (size_t)min_u64(count * STREAM_BLOCK, epoch->stream->document_count - begin);
    for (size_t i = 0; i < DOCUMENTS; i++) places[i] = begin + i;
    permutation_inverse(&epoch->documents, places, places, here);
    lengths_run(lengths, &epoch->stream->lengths, begin, here);
    for (size_t i = 0; i < here; i++) {
        if (i + PREFETCH_AHEAD < here)
            __builtin_prefetch((void *)&sizes[places[i + PREFETCH_AHEAD] / STREAM_BLOCK], 1);
        atomic_fetch_add_explicit(&sizes[places[i] / STREAM_BLOCK], lengths[i],
                                  memory_order_release);
    }
}

static recmap_status compute_sums(atomic_sum *sums, const void *context, uint64_t epoch,
                                  recmap_error *error) {
    const struct stream *stream = context;
    struct epoch_documents documents = {.stream = stream};
    if (!stream->stored_sums) init_documents(&documents.documents, stream, epoch);
    struct sums_input input = {&documents, stream->block_count, measure_blocks, MEASURED_BLOCKS,
                               scatters(stream) ? scatter_blocks : NULL};
    return sums_compute(sums, &input, error);
}

static struct epoch_source source_of(const struct stream *stream) {
    return (struct epoch_source){stream, stream->block_count, compute_sums};
}

recmap_status stream_init(struct stream *stream, const struct lengths *lengths, uint64_t seed,
                          bool is_stored, recmap_error *error) {
    stream->lengths = *lengths;
    stream->seed = seed;
    stream->document_count = lengths->counts->record_count;
    stream->block_count = (stream->document_count + STREAM_BLOCK - 1) / STREAM_BLOCK;
    if (!is_stored) return RECMAP_OK;
    stream->stored_sums = calloc(stream->block_count + 1, sizeof *stream->stored_sums);
    if (!stream->stored_sums) return fail_memory(error);
    return compute_sums(stream->stored_sums, stream, 0, error);
}

void stream_deinit(struct stream *stream) {
    free((void *)stream->stored_sums);
    epoch_table_deinit(&stream->table);
}

recmap_status stream_prepare(struct stream *stream, uint64_t epoch, recmap_error *error) {
    if (stream->stored_sums) return RECMAP_OK;
    struct epoch_source source = source_of(stream);
    return epoch_table_prepare(&stream->table, epoch, &source, error);
}

void stream_cursor_init(struct stream_cursor *cursor, struct stream *stream, uint64_t epoch) {
    cursor->stream = stream;
    cursor->epoch = epoch;
    cursor->block = UINT64_MAX;
    if (!stream->stored_sums) init_documents(&cursor->documents, stream, epoch);
}

recmap_status stream_find(struct epoch_place *places, const struct stream_cursor *cursor,
                          const uint64_t *offsets, size_t count, recmap_error *error) {
    struct stream *stream = cursor->stream;
    struct epoch_source source = source_of(stream);
    if (!stream->stored_sums)
        return epoch_table_find(places, &stream->table, cursor->epoch, &source, offsets, count,
                                error);
    for (size_t i = 0; i < count; i++) {
        uint64_t block = sums_find(stream->stored_sums, stream->block_count, offsets[i]);
        places[i] = (struct epoch_place){block, sums_at(stream->stored_sums, block)};
    }
    return RECMAP_OK;
}

void stream_read_block(struct stream_cursor *cursor, uint64_t block, uint64_t start) {
    assert(block < cursor->stream->block_count);
    cursor->start = start;
    if (cursor->block == block) return;
    uint64_t first = block * STREAM_BLOCK;
    cursor->block = block;
    cursor->count = (size_t)min_u64(STREAM_BLOCK, cursor->stream->document_count - first);
    read_documents(cursor->records, cursor->lengths, cursor->stream, &cursor->documents, first,
                   cursor->count);
}
