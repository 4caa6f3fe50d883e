/* Windows: every stretch of `size` elements of each sequence. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/pieces.h"
#include "base/permutation/random.h"
#include "order/counts/counts.h"
#include "order/rows/permuted_rows.h"
#include "order/rows/row_options.h"
#include "order/rows/sums.h"

/* Records for which there is one sum. */
enum { BLOCK = 128 };

struct windows_order {
    struct permuted_rows rows;
    recmap_windows_options options;
    recmap_counts *counts;
    uint64_t block_count;
    atomic_sum *sums; /* windows before each block, and all */
};

static void windows_destroy(recmap_order *order) {
    struct windows_order *windows = (struct windows_order *)order;
    recmap_counts_release(windows->counts);
    free((void *)windows->sums);
}

/* Windows of a sequence. */
static uint64_t count_windows(const recmap_windows_options *options, uint64_t count) {
    uint64_t padded = options->pad_before + min_u64(count, RECMAP_COUNTS_MAX) + options->pad_after;
    if (!count || padded < options->size) return 0;
    return (padded - options->size) / options->stride + 1;
}

static size_t read_block(uint64_t counts[BLOCK], const struct windows_order *windows,
                         uint64_t block) {
    uint64_t first = block * BLOCK;
    size_t count = (size_t)min_u64(BLOCK, windows->counts->record_count - first);
    windows->counts->source->run(counts, windows->counts, first, count);
    return count;
}

/* Adds the pieces of a window: number `turn` among the windows of the block. */
static recmap_status add_window(recmap_pieces *pieces, const struct windows_order *windows,
                                uint64_t block, uint64_t turn, recmap_error *error) {
    const recmap_windows_options *options = &windows->options;
    uint64_t counts[BLOCK];
    size_t count = read_block(counts, windows, block), i = 0;
    for (; i < count; i++) {
        uint64_t here = count_windows(options, counts[i]);
        if (turn < here) break;
        turn -= here;
    }
    if (i == count) return fail_changed(error);
    /* From the start of the padding. */
    uint64_t start = turn * options->stride, end = start + options->size;
    uint64_t first = start > options->pad_before ? start : options->pad_before;
    uint64_t stop = min_u64(end, options->pad_before + counts[i]);
    recmap_piece piece = {block * BLOCK + i, first - options->pad_before, stop - first,
                          first - start, counts[i]};
    RETURN_IF_FAILED(pieces_add(pieces, piece, error));
    return pieces_end_row(pieces, error);
}

static recmap_status windows_pieces(recmap_pieces *pieces, const recmap_order *order,
                                    uint64_t epoch, const uint64_t *positions, size_t count,
                                    recmap_error *error) {
    const struct windows_order *windows = (const struct windows_order *)order;
    struct permutation rows;
    permuted_rows_init_epoch(&rows, order, epoch);
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; i < count && status == RECMAP_OK; i++) {
        uint64_t row = permutation_at_one(&rows, positions[i]);
        uint64_t block = sums_find(windows->sums, windows->block_count, row);
        status = add_window(pieces, windows, block, row - sums_at(windows->sums, block), error);
    }
    return status;
}

static void windows_describe(struct json_writer *json, const recmap_order *order) {
    const struct windows_order *windows = (const struct windows_order *)order;
    describe_number(json, "n", order->record_limit);
    describe_number(json, "seed", windows->options.seed);
    describe_number(json, "size", windows->options.size);
    if (windows->options.stride != 1) describe_number(json, "stride", windows->options.stride);
    if (windows->options.pad_before) describe_number(json, "before", windows->options.pad_before);
    if (windows->options.pad_after) describe_number(json, "after", windows->options.pad_after);
    describe_digest(json, "counts", windows->counts->digest);
    describe_number(json, "rows", order->count);
}

static const struct order_kind windows_kind = {
    .name = "windows",
    .destroy = windows_destroy,
    .at = permuted_rows_at,
    .position_of = permuted_rows_position_of,
    .pieces = windows_pieces,
    .describe = windows_describe,
};

/* The elements of a sequence that its windows reach. Positions here include the padding. Windows
 * that overlap or touch reach all from the first element on. Of windows with gaps between them,
 * only the first begins in the padding before, which is shorter than a window. */
static uint64_t count_reached(const recmap_windows_options *options, uint64_t count,
                              uint64_t windows) {
    if (!windows) return 0;
    uint64_t before = options->pad_before, stop = before + count;
    uint64_t last = (windows - 1) * options->stride, end = last + options->size;
    if (options->stride < options->size) return min_u64(end, stop) - before;
    return windows * options->size - before - (end > stop ? end - stop : 0);
}

struct measured_windows {
    const struct windows_order *windows;
    _Atomic(uint64_t) reached;
};

static recmap_status measure_blocks(uint64_t *sizes, const void *context, uint64_t first,
                                    size_t count, recmap_error *error) {
    (void)error;
    struct measured_windows *measured = (struct measured_windows *)context;
    const recmap_windows_options *options = &measured->windows->options;
    uint64_t reached = 0;
    for (size_t block = 0; block < count; block++) {
        uint64_t counts[BLOCK];
        size_t here = read_block(counts, measured->windows, first + block);
        sizes[block] = 0;
        for (size_t i = 0; i < here; i++) {
            uint64_t windows = count_windows(options, counts[i]);
            sizes[block] += windows;
            reached += count_reached(options, counts[i], windows);
        }
    }
    atomic_fetch_add_explicit(&measured->reached, reached, memory_order_relaxed);
    return RECMAP_OK;
}

/* The number of windows is at most the sum of all counts, paddings included. */
static recmap_status check_total(const recmap_windows_options *options, const recmap_counts *counts,
                                 recmap_error *error) {
    uint64_t padding = options->pad_before + options->pad_after;
    uint64_t room = RECMAP_COUNTS_MAX - counts->total;
    if (!padding || counts->filled <= room / padding) return RECMAP_OK;
    return fail(error, RECMAP_INVALID, "%" PRIu64 " records, padded, have more than 2^62 elements",
                counts->filled);
}

static recmap_status check_options(const recmap_windows_options *options, recmap_error *error) {
    RETURN_IF_FAILED(check_version(options->version, RECMAP_WINDOWS_OPTIONS_VERSION, error));
    RETURN_IF_FAILED(check_row_size(options->size, 1, "size", error));
    RETURN_IF_FAILED(check_row_size(options->stride, 1, "stride", error));
    RETURN_IF_FAILED(check_below_size(options->pad_before, options->size, "a pad", error));
    return check_below_size(options->pad_after, options->size, "a pad", error);
}

static recmap_status count_rows(struct windows_order *windows, recmap_error *error) {
    windows->block_count = (windows->counts->record_count + BLOCK - 1) / BLOCK;
    windows->sums = calloc(windows->block_count + 1, sizeof *windows->sums);
    if (!windows->sums) return fail_memory(error);
    struct measured_windows measured = {.windows = windows};
    struct sums_input input = {&measured, windows->block_count, measure_blocks, SUMS_STRETCH, NULL};
    recmap_status status = sums_compute(windows->sums, &input, error);
    windows->rows.base.count = windows->rows.base.limit =
        sums_at(windows->sums, windows->block_count);
    order_rows_set_elements(&windows->rows.base.rows, windows->counts->total,
                            atomic_load(&measured.reached));
    return status;
}

/* How many windows there are is known only after all records were counted, so the order is created
 * with none. From the retain on, it owns the counts: releasing it releases them. */
recmap_status recmap_order_windows(recmap_order **order, recmap_counts *counts,
                                   const recmap_windows_options *options, recmap_error *error) {
    RETURN_IF_FAILED(check_options(options, error));
    RETURN_IF_FAILED(check_total(options, counts, error));
    struct windows_order *windows = order_allocate(sizeof *windows, &windows_kind, 0, 0, error);
    if (!windows) return RECMAP_NO_MEMORY;
    windows->options = *options;
    windows->counts = recmap_counts_retain(counts);
    windows->rows.seed = options->seed;
    windows->rows.stream = stream_of(STREAM_WINDOWS, 0);
    windows->rows.base.record_limit = counts->record_count;
    windows->rows.base.rows.width = options->size;
    windows->rows.base.rows.has_windows = true;
    recmap_status status = count_rows(windows, error);
    if (status != RECMAP_OK) {
        recmap_order_release(&windows->rows.base);
        return status;
    }
    *order = &windows->rows.base;
    return RECMAP_OK;
}
