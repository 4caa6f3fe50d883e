/* Windowed orders: blocks of consecutive records are shuffled, then records are shuffled within
 * windows of a few blocks. */
#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/permutation/permutation.h"
#include "base/permutation/random.h"
#include "order/kinds/order.h"

struct windowed_order {
    recmap_order base;
    uint64_t block, window; /* as given */
    uint64_t seed;
    uint64_t block_size;  /* records per block: `block`, or n if that is less */
    uint64_t block_count; /* the last block may be short */
    uint64_t missing;     /* records that the last block lacks */
    uint64_t window_size; /* records per window if all its blocks are full */
    uint64_t window_blocks;
};

/* An epoch: the permutation of its blocks, and the place of the short last block. */
struct windowed_epoch {
    const struct windowed_order *order;
    uint64_t epoch;
    struct permutation blocks;
    uint64_t short_place; /* of the last block */
};

/* A window, with the permutation of its records. */
struct window {
    uint64_t first; /* position */
    uint64_t size;
    uint64_t first_place; /* of its blocks */
    uint64_t short_start; /* record of the window at which the short block starts, or its size */
    struct permutation records;
};

static struct windowed_epoch begin_epoch(const recmap_order *order, uint64_t epoch) {
    struct windowed_epoch fresh = {.order = (const struct windowed_order *)order, .epoch = epoch};
    uint64_t blocks = fresh.order->block_count;
    permutation_init(&fresh.blocks, blocks, fresh.order->seed, epoch,
                     stream_of(STREAM_WINDOWED_BLOCKS, 0));
    fresh.short_place = permutation_inverse_one(&fresh.blocks, blocks - 1);
    return fresh;
}

/* Computes the window that begins at block place `index * window_blocks`. */
static void open_window(struct window *window, const struct windowed_epoch *windowed,
                        uint64_t index) {
    const struct windowed_order *order = windowed->order;
    uint64_t short_window = windowed->short_place / order->window_blocks;
    uint64_t places =
        min_u64(order->window_blocks, order->block_count - index * order->window_blocks);
    window->first_place = index * order->window_blocks;
    window->first = index * order->window_size - (index > short_window ? order->missing : 0);
    window->size = places * order->block_size - (index == short_window ? order->missing : 0);
    window->short_start = window->size;
    if (index == short_window)
        window->short_start = (windowed->short_place - window->first_place) * order->block_size;
    permutation_init(&window->records, window->size, order->seed, windowed->epoch,
                     stream_of(STREAM_WINDOWED_INSIDE, index));
}

static uint64_t window_at(const struct windowed_epoch *windowed, uint64_t position) {
    const struct windowed_order *order = windowed->order;
    uint64_t short_window = windowed->short_place / order->window_blocks;
    uint64_t index = position / order->window_size;
    if (index < short_window) return index;
    /* Windows after the one with the short block begin earlier by the records that it lacks. */
    return (position + order->missing) / order->window_size;
}

enum { PIECE = 256 };

/* Up to PIECE positions of one window. */
static void window_numbers(uint64_t *numbers, const struct windowed_epoch *windowed,
                           const struct window *window, const uint64_t *positions, size_t count) {
    const struct windowed_order *order = windowed->order;
    uint64_t records[PIECE], places[PIECE];
    for (size_t i = 0; i < count; i++) records[i] = positions[i] - window->first;
    permutation_at(&window->records, records, records, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t whole = records[i];
        /* After the short block, continue as if it were complete. */
        if (whole >= window->short_start + order->block_size - order->missing)
            whole += order->missing;
        places[i] = window->first_place + whole / order->block_size;
        records[i] = whole % order->block_size;
    }
    permutation_at(&windowed->blocks, places, places, count);
    for (size_t i = 0; i < count; i++) numbers[i] = places[i] * order->block_size + records[i];
}

static recmap_status windowed_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                                 const uint64_t *positions, size_t count, recmap_error *error) {
    (void)error;
    struct windowed_epoch e = begin_epoch(order, epoch);
    struct window w = {.size = 0};
    for (size_t i = 0; i < count;) {
        if (positions[i] - w.first >= w.size) open_window(&w, &e, window_at(&e, positions[i]));
        size_t end = i + 1;
        while (end < count && end - i < PIECE && positions[end] - w.first < w.size) end++;
        window_numbers(numbers + i, &e, &w, positions + i, end - i);
        i = end;
    }
    return RECMAP_OK;
}

static recmap_status windowed_position_of(uint64_t *position, const recmap_order *order,
                                          uint64_t epoch, uint64_t number, recmap_error *error) {
    (void)error;
    struct windowed_epoch e = begin_epoch(order, epoch);
    const struct windowed_order *windowed = e.order;
    uint64_t place = permutation_inverse_one(&e.blocks, number / windowed->block_size);
    struct window w;
    open_window(&w, &e, place / windowed->window_blocks);
    uint64_t record = (place - w.first_place) * windowed->block_size +
                      number % windowed->block_size;
    if (record >= w.short_start + windowed->block_size) record -= windowed->missing;
    *position = w.first + permutation_inverse_one(&w.records, record);
    return RECMAP_OK;
}

static void windowed_describe(struct json_writer *json, const recmap_order *order) {
    const struct windowed_order *windowed = (const struct windowed_order *)order;
    describe_number(json, "n", order->limit);
    describe_number(json, "block", windowed->block);
    describe_number(json, "window", windowed->window);
    describe_number(json, "seed", windowed->seed);
}

static const struct order_kind windowed_kind = {
    .name = "windowed",
    .at = windowed_at,
    .position_of = windowed_position_of,
    .describe = windowed_describe,
};

/* The last block may be short. `missing` is what it lacks, so that positions can be computed as if
 * all blocks were whole. */
recmap_status recmap_order_windowed(recmap_order **order, uint64_t n, uint64_t block,
                                    uint64_t window_blocks, uint64_t seed, recmap_error *error) {
    RETURN_IF_FAILED(check_count(n, "records", error));
    if (!block) return fail(error, RECMAP_INVALID, "a block must hold at least 1 record");
    if (!window_blocks) return fail(error, RECMAP_INVALID, "a window must hold at least 1 block");
    struct windowed_order *fresh = order_allocate(sizeof *fresh, &windowed_kind, n, n, error);
    if (!fresh) return RECMAP_NO_MEMORY;
    fresh->block = block;
    fresh->window = window_blocks;
    fresh->seed = seed;
    if (n) {
        fresh->block_size = min_u64(block, n);
        fresh->block_count = (n - 1) / fresh->block_size + 1;
        fresh->missing = fresh->block_count * fresh->block_size - n;
        fresh->window_blocks = min_u64(window_blocks, fresh->block_count);
        fresh->window_size = fresh->window_blocks * fresh->block_size;
    }
    *order = &fresh->base;
    return RECMAP_OK;
}
