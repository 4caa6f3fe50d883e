#include "order/rows/stream.h"

#include <assert.h>
#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/permutation/random.h"

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

/* Documents that a thread measures together: of 8 to 64 blocks. */
enum { MEASURED_DOCUMENTS = 8 << STREAM_BLOCK_SHIFT_MAX };
_Static_assert(MEASURED_DOCUMENTS >> STREAM_BLOCK_SHIFT_MIN <= SUMS_STRETCH,
               "a call measures at most SUMS_STRETCH blocks");

static size_t measured_blocks(const struct stream *stream) {
    return (size_t)MEASURED_DOCUMENTS >> stream->block_shift;
}

/* The first of the documents of `count` blocks from `first` on, and how many there are. */
static uint64_t documents_of(size_t *here, const struct stream *stream, uint64_t first,
                             size_t count) {
    uint64_t begin = first << stream->block_shift;
    *here = (size_t)min_u64((uint64_t)count << stream->block_shift, stream->document_count - begin);
    assert(*here <= MEASURED_DOCUMENTS);
    return begin;
}

static recmap_status measure_blocks(uint64_t *sizes, const void *context, uint64_t first,
                                    size_t count, recmap_error *error) {
    (void)error;
    const struct epoch_documents *epoch = context;
    const struct stream *stream = epoch->stream;
    uint64_t records[MEASURED_DOCUMENTS], lengths[MEASURED_DOCUMENTS];
    size_t here;
    uint64_t begin = documents_of(&here, stream, first, count);
    read_documents(records, lengths, stream, &epoch->documents, begin, here);
    for (size_t block = 0, i = 0; block < count; block++) {
        size_t end = (size_t)min_u64((block + 1) << stream->block_shift, here);
        uint64_t size = 0;
        for (; i < end; i++) size += lengths[i];
        sizes[block] = size;
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
    const struct stream *stream = epoch->stream;
    const unsigned shift = stream->block_shift;
    uint64_t places[MEASURED_DOCUMENTS], lengths[MEASURED_DOCUMENTS];
    size_t here;
    uint64_t begin = documents_of(&here, stream, first, count);
    for (size_t i = 0; i < MEASURED_DOCUMENTS; i++) places[i] = begin + i;
    permutation_inverse(&epoch->documents, places, places, here);
    lengths_run(lengths, &stream->lengths, begin, here);
    for (size_t i = 0; i < here; i++) {
        if (i + PREFETCH_AHEAD < here)
            __builtin_prefetch((void *)&sizes[places[i + PREFETCH_AHEAD] >> shift], 1);
        atomic_fetch_add_explicit(&sizes[places[i] >> shift], lengths[i], memory_order_release);
    }
}

static recmap_status compute_sums(atomic_sum *sums, const void *context, uint64_t epoch,
                                  recmap_error *error) {
    const struct stream *stream = context;
    struct epoch_documents documents = {.stream = stream};
    if (!stream->stored_sums) init_documents(&documents.documents, stream, epoch);
    struct sums_input input = {&documents, stream->block_count, measure_blocks,
                               measured_blocks(stream), scatters(stream) ? scatter_blocks : NULL};
    return sums_compute(sums, &input, error);
}

static struct epoch_source source_of(const struct stream *stream) {
    return (struct epoch_source){stream, stream->block_count, compute_sums};
}

/* With this many sums, the tables of two epochs take 12.6 MB, up to 10^8 documents. */
enum { SUMS_MAX = 3 << 18 };

static atomic_uint forced_block_shift;

void stream_force_block_shift(unsigned shift) {
    atomic_store(&forced_block_shift, shift);
}

static unsigned choose_block_shift(uint64_t document_count) {
    unsigned shift = atomic_load(&forced_block_shift);
    if (shift) return shift;
    shift = STREAM_BLOCK_SHIFT_MIN;
    while (shift < STREAM_BLOCK_SHIFT_MAX && document_count >> shift > SUMS_MAX) shift++;
    return shift;
}

recmap_status stream_init(struct stream *stream, const struct lengths *lengths, uint64_t seed,
                          bool is_stored, recmap_error *error) {
    stream->lengths = *lengths;
    stream->seed = seed;
    stream->document_count = lengths->counts->record_count;
    stream->block_shift = choose_block_shift(stream->document_count);
    stream->block_count = stream->document_count >> stream->block_shift;
    stream->block_count += stream->block_count << stream->block_shift < stream->document_count;
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
    cursor->block = block;
    uint64_t first = documents_of(&cursor->count, cursor->stream, block, 1);
    read_documents(cursor->records, cursor->lengths, cursor->stream, &cursor->documents, first,
                   cursor->count);
}
