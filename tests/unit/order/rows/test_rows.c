/* What row orders promise, over random counts and options: every element comes exactly once, no row
 * breaks its rules, positions can be asked for in any order, and ranks that stop and resume with
 * other worlds see the rows of the uninterrupted run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/permutation/random.h"
#include "make_rows.h"
#include "order/rows/stream.h"
#include "unit/order/kinds/check.h"

#include <cmocka.h>

/* A random number below `n`, different at each call. */
static uint64_t draw_state;
static uint64_t draw(uint64_t n) {
    return random_below(random_word(0x5eed, draw_state++), n);
}

static size_t rounds(void) {
    return is_long() ? 5000 : 60;
}

/* Random counts of a small data set, in an array and packed. */
struct sample {
    uint64_t *values;
    size_t count;
};

static struct sample make_sample(void) {
    struct sample sample;
    sample.count = draw(4) ? draw(400) : draw(5);
    uint64_t max = (uint64_t)1 << draw(10);
    sample.values = make_values(sample.count, max, draw(4), draw(1000));
    return sample;
}

static recmap_counts *pack(const struct sample *sample) {
    return make_counts(sample->values, sample->count);
}

static uint64_t length_of(const struct sample *sample, uint64_t record, uint64_t add) {
    return sample->values[record] ? sample->values[record] + add : 0;
}

static uint64_t total_of(const struct sample *sample, uint64_t add) {
    uint64_t total = 0;
    for (size_t i = 0; i < sample->count; i++) total += length_of(sample, i, add);
    return total;
}

/* How often each element comes, of all documents one after the other. */
static unsigned *count_elements(const struct sample *sample, uint64_t add,
                                const recmap_pieces *pieces) {
    uint64_t *starts = make_array(sample->count + 1, sizeof *starts);
    for (size_t i = 0; i < sample->count; i++)
        starts[i + 1] = starts[i] + length_of(sample, i, add);
    unsigned *times = make_array(starts[sample->count], sizeof *times);
    for (size_t i = 0; i < pieces->count; i++) {
        const recmap_piece *piece = &pieces->items[i];
        assert_true(piece->first + piece->count <= length_of(sample, piece->record, add));
        for (uint64_t e = 0; e < piece->count; e++)
            times[starts[piece->record] + piece->first + e]++;
    }
    free(starts);
    return times;
}

/* Epochs that orders are asked for: neighbours, and ones that replace each other's tables. */
static const uint64_t epochs[] = {0, 1, 3, 1, UINT64_MAX};
enum { EPOCHS = sizeof epochs / sizeof *epochs };

static void check_order(const recmap_order *order) {
    for (int e = 0; e < EPOCHS; e++) {
        uint64_t *numbers = whole_epoch(order, epochs[e]);
        assert_true(
            is_permutation(numbers, recmap_order_count(order), recmap_order_number_limit(order)));
        free(numbers);
        check_rows(order, epochs[e]);
    }
    check_access(order, 2);
    check_inverse(order, 2);
}

/* ---- Chunked. */

static recmap_chunked_options random_chunked(void) {
    recmap_chunked_options options = RECMAP_CHUNKED_OPTIONS_INIT;
    options.size = 1 + draw((uint64_t)1 << draw(9));
    options.overlap = draw(2) ? draw(options.size < 4 ? options.size : 4) : 0;
    options.add = draw(3);
    options.documents = draw(2) ? RECMAP_DOCUMENTS_STORED : RECMAP_DOCUMENTS_SHUFFLED;
    options.last = draw(2) ? RECMAP_TAIL_PAD : RECMAP_TAIL_DROP;
    options.seed = draw(1000);
    return options;
}

/* A row of the stream is full, but for a padded last one; its pieces follow each other. */
static void check_chunked_row(const recmap_order *order, const recmap_piece *items, size_t count,
                              bool is_full) {
    uint64_t place = 0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(items[i].place, place);
        if (i) assert_int_equal(items[i].first, 0);
        place += items[i].count;
    }
    if (is_full) assert_int_equal(place, recmap_order_row_width(order));
}

/* Counts in how many rows each element occurs. Elements in overlaps occur once more, and only a
 * dropped last row may leave elements out. */
static void check_chunked(const struct sample *sample, const recmap_chunked_options *options,
                          const recmap_order *order, uint64_t epoch) {
    recmap_pieces pieces = all_pieces(order, epoch);
    uint64_t *numbers = whole_epoch(order, epoch);
    uint64_t rows = recmap_order_count(order), total = total_of(sample, options->add);
    for (size_t i = 0; i < rows; i++) {
        size_t count;
        const recmap_piece *items = row_items(&pieces, i, &count);
        bool is_last = numbers[i] == rows - 1;
        check_chunked_row(order, items, count, options->last == RECMAP_TAIL_DROP || !is_last);
    }
    unsigned *times = count_elements(sample, options->add, &pieces);
    uint64_t absent = 0, extra = 0;
    for (uint64_t i = 0; i < total; i++) {
        absent += times[i] == 0;
        extra += times[i] ? times[i] - 1 : 0;
    }
    if (options->last == RECMAP_TAIL_PAD) assert_int_equal(absent, 0);
    else assert_true(absent < options->size + (rows ? 0 : options->overlap));
    assert_int_equal(extra, rows ? (rows - 1) * options->overlap : 0);
    free(times);
    free(numbers);
    recmap_pieces_deinit(&pieces);
}

static void test_chunked_rows_equal_a_plain_model(void **state) {
    (void)state;
    for (size_t i = 0; i < rounds(); i++) {
        struct sample sample = make_sample();
        recmap_chunked_options options = random_chunked();
        recmap_order *order = chunked(pack(&sample), &options);
        for (int e = 0; e < EPOCHS; e++) check_chunked(&sample, &options, order, epochs[e]);
        check_order(order);
        recmap_order_release(order);
        free(sample.values);
    }
}

static void assert_equal_pieces(const recmap_pieces *pieces, const recmap_pieces *expected) {
    assert_int_equal(pieces->count, expected->count);
    assert_memory_equal(pieces->items, expected->items, expected->count * sizeof *expected->items);
}

/* With this many documents, several threads compute the table of an epoch. Both paths by which they
 * do so, and all sizes of blocks, give the same rows. */
static void test_chunked_on_threads(void **state) {
    (void)state;
    enum { DOCUMENTS = 50000 };
    recmap_pieces expected = RECMAP_PIECES_INIT;
    uint64_t *values = make_values(DOCUMENTS, 300, 5, 4);
    recmap_chunked_options options = RECMAP_CHUNKED_OPTIONS_INIT;
    options.size = 64;
    options.add = 2;
    for (unsigned i = 0; i < 8; i++) {
        stream_force_scatter_min(i % 2 ? 1 : UINT64_MAX);
        stream_force_block_shift(STREAM_BLOCK_SHIFT_MIN + i / 2);
        recmap_order *order = chunked(make_counts(values, DOCUMENTS), &options);
        recmap_pieces pieces = all_pieces(order, 3);
        recmap_order_release(order);
        if (i) assert_equal_pieces(&pieces, &expected);
        else expected = pieces;
        if (i) recmap_pieces_deinit(&pieces);
    }
    stream_force_scatter_min(0);
    stream_force_block_shift(0);
    recmap_pieces_deinit(&expected);
    free(values);
}

/* ---- Packed. */

static recmap_packed_options random_packed(void) {
    recmap_packed_options options = RECMAP_PACKED_OPTIONS_INIT;
    const uint32_t groups[] = {1, 3, 64, 500, 4096, 65536};
    options.size = 1 + draw((uint64_t)1 << draw(12));
    options.add = draw(3);
    options.group = groups[draw(6)];
    options.long_documents = (recmap_long)draw(3);
    options.seed = draw(1000);
    return options;
}

/* Checks that a document may be cut at this piece. */
static void check_packed_piece(const struct sample *sample, const recmap_packed_options *options,
                               const recmap_piece *piece) {
    uint64_t length = length_of(sample, piece->record, options->add);
    if (length <= options->size) {
        assert_int_equal(piece->first, 0);
        assert_int_equal(piece->count, length);
        return;
    }
    assert_int_not_equal(options->long_documents, RECMAP_LONG_DROP);
    assert_int_equal(piece->first % options->size, 0);
    if (options->long_documents == RECMAP_LONG_TRUNCATE) assert_int_equal(piece->first, 0);
    else if (piece->first + piece->count < length) assert_int_equal(piece->count, options->size);
}

/* Each element once, or not at all by the rule for long documents. */
static void check_packed_elements(const struct sample *sample, const recmap_packed_options *options,
                                  const recmap_pieces *pieces) {
    unsigned *times = count_elements(sample, options->add, pieces);
    uint64_t next = 0;
    for (size_t i = 0; i < sample->count; i++) {
        uint64_t length = length_of(sample, i, options->add), used = length;
        if (length > options->size && options->long_documents == RECMAP_LONG_DROP) used = 0;
        if (length > options->size && options->long_documents == RECMAP_LONG_TRUNCATE)
            used = options->size;
        for (uint64_t e = 0; e < length; e++) assert_int_equal(times[next++], e < used);
    }
    free(times);
}

static void check_fill(const recmap_order *order, const recmap_pieces *pieces) {
    uint64_t elements = 0, places = recmap_order_count(order) * recmap_order_row_width(order);
    for (size_t i = 0; i < pieces->count; i++) elements += pieces->items[i].count;
    double expected = places ? (double)elements / (double)places : 0,
           fill = recmap_order_fill(order);
    assert_true(fill > expected - 1e-12 && fill < expected + 1e-12);
    assert_int_equal(recmap_order_left_out(order), recmap_order_element_count(order) - elements);
}

static void check_packed(const struct sample *sample, const recmap_packed_options *options,
                         const recmap_order *order, uint64_t epoch) {
    recmap_pieces pieces = all_pieces(order, epoch);
    for (size_t i = 0; i < pieces.count; i++) check_packed_piece(sample, options, &pieces.items[i]);
    for (size_t i = 0; i < pieces.row_count; i++) {
        size_t count;
        const recmap_piece *items = row_items(&pieces, i, &count);
        check_chunked_row(order, items, count > 1 ? 1 : count, false);
        for (size_t p = 1; p < count; p++)
            assert_int_equal(items[p].place, items[p - 1].place + items[p - 1].count);
    }
    check_packed_elements(sample, options, &pieces);
    check_fill(order, &pieces);
    recmap_pieces_deinit(&pieces);
}

static void test_packed_rows_equal_a_plain_model(void **state) {
    (void)state;
    for (size_t i = 0; i < rounds(); i++) {
        struct sample sample = make_sample();
        recmap_packed_options options = random_packed();
        recmap_order *order = packed(pack(&sample), &options);
        for (int e = 0; e < EPOCHS; e++) check_packed(&sample, &options, order, epochs[e]);
        check_order(order);
        recmap_order_release(order);
        free(sample.values);
    }
}

/* The rows of an epoch have the same contents in every epoch. */
static void test_packed_rows_are_the_same_in_every_epoch(void **state) {
    (void)state;
    struct sample sample = {make_values(5000, 300, 5, 8), 5000};
    recmap_packed_options options = RECMAP_PACKED_OPTIONS_INIT;
    options.size = 256;
    options.group = 512;
    recmap_order *order = packed(pack(&sample), &options);
    recmap_pieces first = all_pieces(order, 0), second = all_pieces(order, 1);
    size_t rows = recmap_order_count(order), moved = 0;
    for (size_t i = 0; i < rows; i++) {
        uint64_t position = i, number, other;
        size_t count, other_count;
        MUST(recmap_order_at(&number, order, 0, &position, 1, &error));
        MUST(recmap_order_position_of(&other, order, 1, number, &error));
        const recmap_piece *items = row_items(&first, i, &count);
        const recmap_piece *others = row_items(&second, other, &other_count);
        assert_int_equal(count, other_count);
        assert_memory_equal(items, others, count * sizeof *items);
        moved += other != i;
    }
    assert_true(moved > rows / 2);
    recmap_pieces_deinit(&first);
    recmap_pieces_deinit(&second);
    recmap_order_release(order);
    free(sample.values);
}

/* ---- Windows. */

static recmap_windows_options random_windows(void) {
    recmap_windows_options options = RECMAP_WINDOWS_OPTIONS_INIT;
    options.size = 1 + draw((uint64_t)1 << draw(7));
    options.stride = draw(2) ? 1 : 1 + draw(2 * options.size);
    options.pad_before = draw(2) ? draw(options.size) : 0;
    options.pad_after = draw(2) ? draw(options.size) : 0;
    options.seed = draw(1000);
    return options;
}

/* Row `number` of the stored order is window `start` of a record. */
static void check_window(const recmap_pieces *pieces, const recmap_order *order, uint64_t number,
                         uint64_t record, uint64_t length, int64_t start) {
    uint64_t position;
    size_t count;
    MUST(recmap_order_position_of(&position, order, 6, number, &error));
    const recmap_piece *piece = row_items(pieces, position, &count);
    int64_t end = start + (int64_t)recmap_order_row_width(order);
    int64_t first = start > 0 ? start : 0, stop = end < (int64_t)length ? end : (int64_t)length;
    assert_int_equal(count, 1);
    assert_int_equal(piece->record, record);
    assert_int_equal(piece->first, first);
    assert_int_equal(piece->count, stop - first);
    assert_int_equal(piece->place, first - start);
}

static void check_windows(const struct sample *sample, const recmap_windows_options *options,
                          const recmap_order *order) {
    recmap_pieces pieces = all_pieces(order, 6);
    uint64_t number = 0;
    for (size_t i = 0; i < sample->count; i++) {
        int64_t last = (int64_t)(sample->values[i] + options->pad_after - options->size);
        if (!sample->values[i]) continue;
        for (int64_t start = -(int64_t)options->pad_before; start <= last;
             start += (int64_t)options->stride)
            check_window(&pieces, order, number++, i, sample->values[i], start);
    }
    assert_int_equal(number, recmap_order_count(order));
    recmap_pieces_deinit(&pieces);
}

static void test_windows_equal_a_plain_model(void **state) {
    (void)state;
    for (size_t i = 0; i < rounds(); i++) {
        struct sample sample = make_sample();
        recmap_windows_options options = random_windows();
        recmap_order *order = windows(pack(&sample), &options);
        check_windows(&sample, &options, order);
        check_order(order);
        recmap_order_release(order);
        free(sample.values);
    }
}

/* ---- Mixtures, views, ranks. */

/* An order of rows of the given width, of any kind, for mixtures: their sources must have one
 * width. The options are random, but for those that affect the width or may leave no rows. */
static recmap_order *random_order(uint64_t width) {
    struct sample sample;
    do sample = make_sample();
    while (total_of(&sample, 0) < 4 * width && (free(sample.values), true));
    recmap_chunked_options chunks = random_chunked();
    recmap_packed_options packs = random_packed();
    recmap_windows_options slices = random_windows();
    chunks.overlap = width > 2;
    chunks.size = width - chunks.overlap;
    chunks.last = RECMAP_TAIL_PAD;
    packs.size = slices.size = width;
    packs.long_documents = RECMAP_LONG_SPLIT;
    slices.pad_before = slices.pad_after = width - 1;
    recmap_counts *counts = pack(&sample);
    free(sample.values);
    switch (draw(3)) {
    case 0: return chunked(counts, &chunks);
    case 1: return packed(counts, &packs);
    default: return windows(counts, &slices);
    }
}

/* Row i of the mixture is the row of its source, with numbers that follow the earlier sources. */
static void check_mixture(const recmap_order *mixture, recmap_order **sources, size_t count,
                          uint64_t epoch) {
    recmap_pieces all = all_pieces(mixture, epoch);
    for (uint64_t i = 0; i < all.row_count; i++) {
        uint64_t number, first_number = 0, first_record = 0;
        MUST(recmap_order_at(&number, mixture, epoch, &i, 1, &error));
        size_t s = 0;
        for (; s < count && number >= first_number + recmap_order_number_limit(sources[s]); s++) {
            first_number += recmap_order_number_limit(sources[s]);
            first_record += recmap_order_record_limit(sources[s]);
        }
        size_t piece_count;
        const recmap_piece *items = row_items(&all, i, &piece_count);
        for (size_t p = 0; p < piece_count; p++) {
            assert_true(items[p].record >= first_record);
            assert_true(items[p].record - first_record < recmap_order_record_limit(sources[s]));
        }
    }
    recmap_pieces_deinit(&all);
}

static void test_mixtures_of_rows_equal_a_plain_model(void **state) {
    (void)state;
    for (size_t i = 0; i < rounds() / 3; i++) {
        uint64_t width = 1 + draw(40);
        recmap_order *sources[] = {random_order(width), random_order(width), random_order(width)};
        const double weights[] = {1 + (double)draw(5), 1, 2};
        recmap_order *mixture = NULL;
        MUST(recmap_order_mixture(&mixture, sources, weights, 3, RECMAP_STOP_LAST, &error));
        assert_int_equal(recmap_order_row_width(mixture), width);
        for (uint64_t e = 0; e < 3; e++) {
            MUST(recmap_order_prepare(mixture, e + 1, &error));
            check_mixture(mixture, sources, 3, e);
            check_rows(mixture, e);
        }
        recmap_order_release(mixture);
        for (int s = 0; s < 3; s++) recmap_order_release(sources[s]);
    }
}

/* A mixture of one source is that source, on and on. */
static void test_mixture_of_one(void **state) {
    (void)state;
    recmap_order *source = random_order(9), *mixture = NULL;
    const double weight = 1;
    MUST(recmap_order_mixture(&mixture, &source, &weight, 1, RECMAP_STOP_FIRST, &error));
    for (uint64_t e = 0; e < 3; e++) {
        recmap_pieces expected = all_pieces(source, e), found = all_pieces(mixture, e);
        assert_int_equal(expected.count, found.count);
        assert_memory_equal(expected.items, found.items, found.count * sizeof *found.items);
        recmap_pieces_deinit(&expected);
        recmap_pieces_deinit(&found);
    }
    recmap_order_release(source);
    recmap_order_release(mixture);
}

static void check_view(recmap_order *base, recmap_order *view, const uint64_t *records) {
    recmap_pieces expected = all_pieces(base, 2), found = all_pieces(view, 2);
    assert_int_equal(expected.count, found.count);
    for (size_t i = 0; i < found.count; i++) {
        assert_int_equal(found.items[i].record, records[expected.items[i].record]);
        assert_int_equal(found.items[i].first, expected.items[i].first);
    }
    check_rows(view, 2);
    check_inverse(view, 2);
    recmap_pieces_deinit(&expected);
    recmap_pieces_deinit(&found);
    recmap_order_release(view);
}

static void test_views_of_rows_equal_a_plain_model(void **state) {
    (void)state;
    for (size_t round = 0; round < 30; round++) {
        recmap_order *base = random_order(1 + draw(40)), *view = NULL;
        size_t count = recmap_order_record_limit(base);
        uint64_t *records = make_array(count, sizeof *records);
        for (size_t i = 0; i < count; i++) records[i] = draw(10000);
        MUST(recmap_order_view_list(&view, base, records, count, &error));
        check_view(base, view, records);
        for (size_t i = 0; i < count; i++) records[i] = 3 * count - 2 * i;
        MUST(recmap_order_view_range(&view, base, 3 * count, count, -2, &error));
        check_view(base, view, records);
        if (count)
            MUST_FAIL(RECMAP_INVALID, "record number",
                      recmap_order_view_list(&view, base, records, count - 1, &error));
        free(records);
        recmap_order_release(base);
    }
}

/* Ranks of changing worlds, stopped after random numbers of steps, get every position once. */
static void test_changing_worlds_use_each_row_once(void **state) {
    (void)state;
    for (size_t round = 0; round < rounds(); round++) {
        recmap_order *order = random_order(1 + draw(40));
        uint64_t count = recmap_order_count(order), position = 0, epoch = 0;
        uint64_t *whole = whole_epoch(order, 0), *numbers = make_array(count, sizeof *numbers);
        while (epoch == 0) {
            recmap_deal_options options = RECMAP_DEAL_OPTIONS_INIT;
            recmap_deal deal;
            options.world_size = 1 + (uint32_t)draw(5);
            options.batch_size = 1 + draw(6);
            MUST(recmap_deal_init(&deal, order, 0, position, &options, &error));
            uint64_t steps = deal.step_count < 3 ? deal.step_count : 1 + draw(deal.step_count);
            for (uint64_t step = 0; step < steps; step++)
                for (uint32_t rank = 0; rank < options.world_size; rank++) {
                    recmap_share share;
                    MUST(recmap_deal_share(&share, &deal, step, rank, &error));
                    MUST(recmap_deal_numbers(numbers + share.first, &deal, &share, &error));
                }
            MUST(recmap_deal_state(&epoch, &position, &deal, steps, &error));
        }
        assert_memory_equal(numbers, whole, count * sizeof *whole);
        free(numbers);
        free(whole);
        recmap_order_release(order);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunked_rows_equal_a_plain_model),
        cmocka_unit_test(test_chunked_on_threads),
        cmocka_unit_test(test_packed_rows_equal_a_plain_model),
        cmocka_unit_test(test_packed_rows_are_the_same_in_every_epoch),
        cmocka_unit_test(test_windows_equal_a_plain_model),
        cmocka_unit_test(test_mixtures_of_rows_equal_a_plain_model),
        cmocka_unit_test(test_mixture_of_one),
        cmocka_unit_test(test_views_of_rows_equal_a_plain_model),
        cmocka_unit_test(test_changing_worlds_use_each_row_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
