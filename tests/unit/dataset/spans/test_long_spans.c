/* Shards of a single deflate block, however much it holds: they have no points, and are inflated in
 * pieces from places within the block. Whoever reads them, one record, many, a loader, threads or
 * children of a fork, gets the right bytes, and no piece is inflated again for lack of a place. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/core/bytes.h"
#include "dataset/spans/span.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/sanitizers.h"

enum { LINES = 120000, THREADS = 4, CHILDREN = 3, ROUNDS = 300 };

/* One deflate block of fixed codes, however much it holds: lines of LINE bytes, of which eight are
 * their number and the rest repeats the line before. */
enum { LINE = 1000, DIGITS = 8, MATCH = 258 };

struct bit_writer {
    struct buffer *out;
    uint64_t bits;
    unsigned count;
};

static void put_bits(struct bit_writer *writer, uint64_t bits, unsigned count) {
    writer->bits |= bits << writer->count;
    for (writer->count += count; writer->count >= 8; writer->count -= 8, writer->bits >>= 8)
        buffer_add_byte(writer->out, (uint8_t)writer->bits);
}

/* Huffman codes are stored with their highest bit first. */
static void put_code(struct bit_writer *writer, unsigned code, unsigned count) {
    for (unsigned i = count; i-- > 0;) put_bits(writer, code >> i & 1, 1);
}

/* 3 to 10 bytes, or MATCH of them, from a line before. */
static void put_match(struct bit_writer *writer, unsigned length) {
    if (length == MATCH) put_code(writer, 0xc0 + 285 - 280, 8);
    else put_code(writer, length - 2, 7);
    put_code(writer, 19, 5); /* distances from 769 on, less that in 8 bits */
    put_bits(writer, LINE - 769, 8);
}

static void add_line(struct buffer *lines, size_t number) {
    char digits[DIGITS + 1];
    snprintf(digits, sizeof digits, "%08zu", number);
    buffer_add(lines, digits, DIGITS);
    for (size_t i = DIGITS; i < LINE; i++)
        buffer_add_byte(lines, i == LINE - 1 ? '\n' : (uint8_t)('a' + i % 23));
}

static void write_one_block(const char *path, size_t line_count) {
    struct buffer file = BUFFER_INIT, line = BUFFER_INIT;
    struct bit_writer at = {&file, 0, 0};
    uint32_t sum = (uint32_t)crc32(0, NULL, 0);
    buffer_add(&file, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    put_bits(&at, 3, 3);
    for (size_t i = 0; i < line_count; i++) {
        line.size = 0;
        add_line(&line, i);
        sum = (uint32_t)crc32(sum, line.data, LINE);
        for (size_t k = 0; k < (i ? DIGITS : LINE); k++) put_code(&at, 0x30u + line.data[k], 8);
        for (unsigned left = i ? LINE - DIGITS : 0; left;) {
            /* 992 = 3 * 258 + 21 * 10 + 8 */
            unsigned length = left > 3 * 10 + MATCH || left == 8 ? MATCH : 10;
            if (length > left) length = left;
            put_match(&at, length);
            left -= length;
        }
    }
    put_code(&at, 0, 7);
    put_bits(&at, 0, 7);
    uint8_t trailer[8];
    store32(trailer, sum);
    store32(trailer + 4, (uint32_t)(line_count * LINE));
    buffer_add(&file, trailer, sizeof trailer);
    file_write(path, file.data, file.size);
    buffer_deinit(&file);
    buffer_deinit(&line);
}

static bool holds_line(const recmap_record *record, size_t number) {
    struct buffer due = BUFFER_INIT;
    add_line(&due, number);
    bool holds = record->number == number && record->size == LINE - 1 &&
                 !memcmp(record->data, due.data, LINE - 1);
    buffer_deinit(&due);
    return holds;
}

static bool get_line(recmap_dataset *dataset, size_t number) {
    recmap_record record;
    if (recmap_dataset_get(&record, dataset, number, NULL) != RECMAP_OK) return false;
    bool holds = holds_line(&record, number);
    recmap_record_release(&record);
    return holds;
}

/* Any line, and often one that begins in one piece and ends in the next. */
static uint64_t draw(struct rng *random) {
    const uint64_t pieces = (uint64_t)LINES * LINE / SPAN_PIECE;
    if (rng_one_in(random, 4)) return (1 + rng_below(random, pieces)) * SPAN_PIECE / LINE;
    return rng_below(random, LINES);
}

static int enter(void **state) {
    const char *name = "a.gz";
    if (folder_enter(state)) return -1;
    write_one_block(name, LINES);
    recmap_index_options lines = RECMAP_INDEX_OPTIONS_INIT;
    lines.framing = "lines";
    return index_build("a.rmx", &lines, &name, 1).record_count == LINES ? 0 : -1;
}

static recmap_dataset *open_as(int access) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.access = (recmap_access)access;
    return dataset_open("a.rmx", &options);
}

/* All bytes that are inflated when the last line is read first and the others are passed on the
 * way. */
static const uint64_t all_twice = (uint64_t)LINES * LINE +
                                  (uint64_t)(LINES - 1) * LINE / SPAN_PIECE * SPAN_PIECE;

static void test_one_by_one(void **state) {
    (void)state;
    struct rng random = {12};
    for (int access = RECMAP_ACCESS_MAP; access <= RECMAP_ACCESS_READ; access++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_dataset *dataset = open_as(access);
        recmap_span_info info;
        ASSERT_OK(recmap_dataset_get_span_info(&info, dataset, &error), &error);
        assert_int_equal(info.span_count, 1);
        /* The last record costs all, but only a piece is held. */
        assert_true(get_line(dataset, LINES - 1));
        recmap_span_statistics spans = recmap_dataset_span_statistics(dataset);
        assert_int_equal(spans.inflated_size, (size_t)LINES * LINE);
        assert_true(spans.held_size <= SPAN_PIECE);
        /* From then on what lies between is found from places that were passed. */
        for (int i = 0; i < 1000; i++) assert_true(get_line(dataset, (size_t)draw(&random)));
        spans = recmap_dataset_span_statistics(dataset);
        assert_int_equal(spans.inflated_size, all_twice);
        assert_int_equal(spans.held_size, (size_t)LINES * LINE);
        recmap_dataset_close(dataset);
    }
}

/* From the first line to the last, each piece continues where the previous one ended. */
static void test_reading_in_order_continues_each_piece(void **state) {
    (void)state;
    for (int access = RECMAP_ACCESS_MAP; access <= RECMAP_ACCESS_READ; access++) {
        recmap_dataset *dataset = open_as(access);
        for (size_t i = 0; i < LINES; i += 499) assert_true(get_line(dataset, i));
        recmap_span_statistics spans = recmap_dataset_span_statistics(dataset);
        assert_int_equal(spans.inflated_size, (size_t)LINES * LINE);
        recmap_dataset_close(dataset);
    }
}

static void gather_lines(recmap_dataset *dataset, recmap_batch *batch, struct rng *random) {
    enum { LIMIT = 300 };
    uint64_t numbers[LIMIT];
    size_t count = 1 + (size_t)rng_below(random, LIMIT);
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t i = 0; i < count; i++) numbers[i] = draw(random);
    ASSERT_OK(recmap_dataset_gather(batch, dataset, numbers, count, &error), &error);
    assert_int_equal(recmap_batch_count(batch), count);
    for (size_t i = 0; i < count; i++)
        assert_true(holds_line(&recmap_batch_records(batch)[i], (size_t)numbers[i]));
    size_t range = count < LINES - numbers[0] ? count : (size_t)(LINES - numbers[0]);
    ASSERT_OK(recmap_dataset_read(batch, dataset, numbers[0], range, &error), &error);
    for (size_t i = 0; i < range; i++)
        assert_true(holds_line(&recmap_batch_records(batch)[i], (size_t)numbers[0] + i));
}

/* In the order of the file, so that a batch passes over each piece once, whatever was asked. */
static void test_a_gather_inflates_each_piece_once(void **state) {
    (void)state;
    struct rng random = {13};
    for (int access = RECMAP_ACCESS_MAP; access <= RECMAP_ACCESS_READ; access++) {
        recmap_dataset *dataset = open_as(access);
        recmap_batch *batch;
        assert_int_equal(recmap_batch_create(&batch, NULL), RECMAP_OK);
        for (int round = 0; round < 40; round++) gather_lines(dataset, batch, &random);
        recmap_batch_destroy(batch);
        recmap_span_statistics spans = recmap_dataset_span_statistics(dataset);
        assert_true(spans.inflated_size <= all_twice);
        recmap_dataset_close(dataset);
    }
}

static void take_batches(recmap_loader *loader, recmap_order *order, uint64_t epoch,
                         uint64_t position, size_t step_count) {
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_loader_seek(loader, epoch, position, &error), &error);
    for (size_t step = 0; step < step_count; step++) {
        recmap_batch *batch = NULL;
        ASSERT_OK(recmap_loader_next(&batch, loader, &error), &error);
        assert_non_null(batch);
        for (size_t i = 0; i < recmap_batch_count(batch); i++) {
            uint64_t number;
            ASSERT_OK(recmap_order_at(&number, order, epoch, &position, 1, &error), &error);
            assert_true(holds_line(&recmap_batch_records(batch)[i], (size_t)number));
            position++;
        }
        recmap_batch_destroy(batch);
    }
}

/* A shuffled loader with several threads over spans much longer than a batch, at positions in three
 * epochs. */
static void test_a_loader_delivers_records_of_long_spans(void **state) {
    (void)state;
    for (int access = RECMAP_ACCESS_MAP; access <= RECMAP_ACCESS_READ; access++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
        options.batch_size = 100;
        options.thread_count = 3;
        recmap_dataset *dataset = open_as(access);
        recmap_order *order;
        recmap_loader *loader;
        ASSERT_OK(recmap_order_shuffled(&order, LINES, 5, &error), &error);
        ASSERT_OK(recmap_loader_create(&loader, dataset, order, &options, &error), &error);
        take_batches(loader, order, 0, 0, 100);
        take_batches(loader, order, 3, 77777, 50);
        take_batches(loader, order, 1, LINES - 1000, 10);
        recmap_loader_destroy(loader);
        recmap_order_release(order);
        recmap_dataset_close(dataset);
    }
}

struct reader {
    recmap_dataset *dataset;
    uint64_t seed;
    bool failed;
};

static void *read_some(void *context) {
    struct reader *reader = context;
    struct rng random = {reader->seed};
    for (int i = 0; i < ROUNDS && !reader->failed; i++)
        reader->failed = !get_line(reader->dataset, (size_t)draw(&random));
    return NULL;
}

static void read_by_threads(recmap_dataset *dataset) {
    pthread_t threads[THREADS];
    struct reader readers[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        readers[i] = (struct reader){dataset, i, false};
        assert_int_equal(pthread_create(&threads[i], NULL, read_some, &readers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (size_t i = 0; i < THREADS; i++) assert_false(readers[i].failed);
}

static void test_threads_read_the_same_lines(void **state) {
    (void)state;
    for (int access = RECMAP_ACCESS_MAP; access <= RECMAP_ACCESS_READ; access++) {
        recmap_dataset *dataset = open_as(access);
        read_by_threads(dataset);
        assert_int_equal(recmap_dataset_span_statistics(dataset).held_size, (size_t)LINES * LINE);
        recmap_dataset_close(dataset);
    }
}

static void *fork_children(void *context) {
    struct reader *reader = context;
    pid_t children[CHILDREN];
    for (uint64_t i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] < 0) abort();
        if (children[i]) continue;
        alarm(120);
        struct reader mine = {reader->dataset, 100 + i, false};
        read_some(&mine);
        _exit(mine.failed);
    }
    for (uint64_t i = 0; i < CHILDREN; i++) {
        int status;
        if (waitpid(children[i], &status, 0) != children[i] || status) reader->failed = true;
    }
    return NULL;
}

/* A child is forked while other threads save positions and look them up. It continues with the
 * positions that were saved before. */
static void test_a_forked_child_continues_with_saved_positions(void **state) {
    (void)state;
    if (has_thread_sanitizer) skip();
    for (int access = RECMAP_ACCESS_MAP; access <= RECMAP_ACCESS_READ; access++) {
        recmap_dataset *dataset = open_as(access);
        struct reader forking = {dataset, 0, false};
        pthread_t forker;
        if (has_address_sanitizer) {
            fork_children(&forking);
        } else {
            assert_int_equal(pthread_create(&forker, NULL, fork_children, &forking), 0);
            read_by_threads(dataset);
            pthread_join(forker, NULL);
        }
        assert_false(forking.failed);
        recmap_dataset_close(dataset);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_by_one),
        cmocka_unit_test(test_reading_in_order_continues_each_piece),
        cmocka_unit_test(test_a_gather_inflates_each_piece_once),
        cmocka_unit_test(test_a_loader_delivers_records_of_long_spans),
        cmocka_unit_test(test_threads_read_the_same_lines),
        cmocka_unit_test(test_a_forked_child_continues_with_saved_positions),
    };
    return cmocka_run_group_tests(tests, enter, folder_leave);
}
