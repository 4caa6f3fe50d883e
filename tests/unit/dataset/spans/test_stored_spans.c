/* Spans that are stored on the local disk: where they are in the file, when they are inflated, and
 * what happens if the cache is full, another process fills a span, or the index lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/file.h"
#include "base/os/private_file.h"
#include "dataset/spans/span_read.h"
#include "storage/cache/cache_file.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/stored_blocks.h"

enum { SPANS = 9, BLOCK = CACHE_BLOCK };

/* Sizes that end at, before and after the end of a block. */
static const size_t sizes[SPANS] = {5000,  BLOCK, 1, 2 * BLOCK - 1, 3 * BLOCK, BLOCK + 1,
                                    60000, 12345, 7};

struct shard {
    struct buffer content, file;
    struct shard_entry entry;
    struct point_list points;
    struct file_map map;
    struct disk_cache *disk;
    struct span_reader reader;
};

static void open_stored(struct shard *shard, bool maps, bool checks_blocks) {
    struct stored_spans_options options = {maps, checks_blocks};
    shard->reader.cache = span_cache_create((uint64_t)1 << 30);
    shard->reader.stored = stored_spans_open(shard->disk, &shard->reader.source, &options);
}

static void close_stored(struct shard *shard) {
    stored_spans_close(shard->reader.stored);
    span_cache_destroy(shard->reader.cache);
    shard->reader.stored = NULL;
    shard->reader.cache = NULL;
}

/* Given, because a full disk would else have no room: see disk_cache.h. */
static const uint64_t CACHE_SIZE = (uint64_t)1 << 30;

static void make(struct shard *shard, uint64_t cache_size) {
    struct rng random = {1};
    size_t total = 0;
    recmap_error error = RECMAP_ERROR_INIT;
    *shard = (struct shard){.entry = {.compression = COMPRESSION_GZIP}};
    for (size_t i = 0; i < SPANS; i++) total += sizes[i];
    buffer_add_random(&shard->content, total, &random);
    add_stored_blocks(&shard->file, &shard->points, &shard->content, sizes, SPANS);
    shard->entry.size = total;
    shard->entry.file_size = shard->file.size;
    shard->entry.point_count = shard->points.count;
    shard->map = (struct file_map){.data = shard->file.data, .size = shard->file.size};
    shard->reader.source = (struct span_source){.entry = &shard->entry,
                                                .path = "folder/a.gz",
                                                .points = &shard->points,
                                                .map = &shard->map,
                                                .waypoints = waypoints_create()};
    ASSERT_OK(disk_cache_open(&shard->disk, "cache", cache_size, &error), &error);
}

static void end(struct shard *shard) {
    close_stored(shard);
    disk_cache_close(shard->disk);
    waypoints_destroy(shard->reader.source.waypoints);
    points_deinit(&shard->points);
    buffer_deinit(&shard->content);
    buffer_deinit(&shard->file);
}

/* From here on, inflating fails. */
static void lose_file(struct shard *shard) {
    memset(shard->file.data, 0xff, shard->file.size);
}

static bool range_is_right(const struct shard *shard, size_t offset, size_t size) {
    uint8_t *data = malloc(size);
    assert_non_null(data);
    recmap_status status = span_read(&shard->reader, data, size, offset, NULL);
    bool is_right = status == RECMAP_OK && !memcmp(data, shard->content.data + offset, size);
    free(data);
    return is_right;
}

static bool frames_are_right(const struct shard *shard, struct rng *random) {
    enum { COUNT = 40, FRAME_MAX = 9000 };
    struct index_place places[COUNT];
    static uint8_t data[COUNT * FRAME_MAX];
    const uint8_t *frame = data;
    for (size_t i = 0; i < COUNT; i++) {
        places[i].frame_size = 1 + rng_below(random, FRAME_MAX - 1);
        places[i].offset = rng_below(random, shard->content.size - places[i].frame_size);
    }
    bool is_right = span_read_frames(&shard->reader, data, places, COUNT, NULL) == RECMAP_OK;
    for (size_t i = 0; is_right && i < COUNT; frame += places[i++].frame_size)
        is_right = !memcmp(frame, shard->content.data + places[i].offset, places[i].frame_size);
    return is_right;
}

static uint64_t inflated(const struct shard *shard) {
    return span_cache_statistics(shard->reader.cache).inflate_count;
}

/* Each span is inflated once, whatever is read; then the file of the shard is not needed. */
static void test_spans_are_stored_whole(void **state) {
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct rng random = {(uint64_t)way + 1};
        struct shard shard;
        make(&shard, CACHE_SIZE);
        open_stored(&shard, way & 1, way & 2);
        assert_non_null(shard.reader.stored);
        for (int i = 0; i < 20; i++) assert_true(frames_are_right(&shard, &random));
        assert_true(range_is_right(&shard, 0, shard.content.size));
        assert_int_equal(inflated(&shard), way ? 0 : SPANS); /* later ways find what is stored */
        assert_int_equal(span_cache_statistics(shard.reader.cache).held_size, 0);
        lose_file(&shard);
        for (int i = 0; i < 20; i++) assert_true(frames_are_right(&shard, &random));
        close_stored(&shard);
        open_stored(&shard, way & 1, way & 2);
        assert_true(range_is_right(&shard, 0, shard.content.size));
        assert_true(range_is_right(&shard, 4999, 2));
        end(&shard);
    }
}

static void test_positions_do_not_overlap(void **state) {
    (void)state;
    struct shard shard;
    make(&shard, CACHE_SIZE);
    const struct span_source *source = &shard.reader.source;
    uint64_t free_from = 0;
    for (uint64_t i = 0; i < SPANS; i++) {
        uint64_t begin = stored_spans_position(source, i, span_begin(source, i));
        assert_int_equal(begin % BLOCK, 0);
        assert_true(begin >= free_from);
        free_from = begin + span_end(source, i) - span_begin(source, i);
    }
    assert_true(free_from <= (shard.content.size / BLOCK + SPANS) * BLOCK);
    end(&shard);
}

static void test_forgotten_bytes_are_inflated_again(void **state) {
    (void)state;
    struct shard shard;
    make(&shard, CACHE_SIZE);
    open_stored(&shard, true, false);
    assert_true(range_is_right(&shard, 0, shard.content.size));
    uint64_t before = inflated(&shard);
    assert_true(stored_spans_forget(shard.reader.stored, &shard.reader.source, 4990, 20));
    assert_false(stored_spans_forget(shard.reader.stored, &shard.reader.source, 4990, 20));
    assert_true(range_is_right(&shard, 0, shard.content.size));
    assert_int_equal(inflated(&shard), before + 2); /* the range is in two spans */
    end(&shard);
}

/* What has no room is kept in memory, as without a cache. */
static void test_a_full_cache(void **state) {
    (void)state;
    struct shard shard;
    make(&shard, (uint64_t)10 * BLOCK);
    open_stored(&shard, true, true);
    assert_non_null(shard.reader.stored);
    for (int i = 0; i < 3; i++) assert_true(range_is_right(&shard, 0, shard.content.size));
    assert_int_equal(inflated(&shard), SPANS);
    uint64_t held = span_cache_statistics(shard.reader.cache).held_size;
    assert_true(held >= 60000 && held < shard.content.size);
    end(&shard);
}

static int stop_second(void *context) {
    return ++*(int *)context >= 2;
}

/* Another process that fills a span, as its lock says. */
static int lock_span(const struct shard *shard, uint64_t span_index) {
    int fd;
    bool is_held = false;
    struct path_list files = PATH_LIST_INIT;
    const struct span_source *source = &shard->reader.source;
    assert_int_equal(list_folder(&files, "cache", cache_name_is_valid, NULL), RECMAP_OK);
    assert_int_equal(files.count, 1);
    assert_int_equal(private_open(&fd, files.paths[0], false, NULL), RECMAP_OK);
    path_list_deinit(&files);
    uint64_t position = stored_spans_position(source, span_index, span_begin(source, span_index));
    assert_int_equal(private_lock_byte(&is_held, fd, position, NULL), RECMAP_OK);
    assert_true(is_held);
    return fd;
}

static void test_waiting_for_another_process(void **state) {
    (void)state;
    struct shard shard;
    uint8_t byte;
    int asked = 0;
    make(&shard, CACHE_SIZE);
    open_stored(&shard, true, false);
    int fd = lock_span(&shard, 0);
    assert_true(range_is_right(&shard, 5000, 10)); /* the next span is not locked */
    recmap_thread_set_interrupt(stop_second, &asked);
    assert_int_equal(span_read(&shard.reader, &byte, 1, 0, NULL), RECMAP_CANCELLED);
    recmap_thread_set_interrupt(NULL, NULL);
    assert_int_equal(asked, 2);
    assert_true(range_is_right(&shard, 0, 10)); /* after ten seconds */
    file_close(fd);
    lose_file(&shard);
    assert_true(range_is_right(&shard, 0, 5010));
    end(&shard);
}

/* A file whose spans begin elsewhere is not used, and neither is an index that lies. */
static void test_other_layouts_and_sizes(void **state) {
    (void)state;
    struct shard shard;
    make(&shard, CACHE_SIZE);
    open_stored(&shard, true, false);
    assert_true(range_is_right(&shard, 0, shard.content.size));
    close_stored(&shard);
    shard.points.at[0].offset++;
    open_stored(&shard, true, false);
    assert_null(shard.reader.stored);
    close_stored(&shard);
    shard.points.at[0].offset--;
    shard.entry.size = (uint64_t)1 << 50;
    open_stored(&shard, true, false);
    assert_null(shard.reader.stored);
    shard.entry.size = shard.content.size;
    end(&shard);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_spans_are_stored_whole, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_positions_do_not_overlap, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_forgotten_bytes_are_inflated_again, folder_enter,
                                        folder_leave),
        cmocka_unit_test_setup_teardown(test_a_full_cache, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_waiting_for_another_process, folder_enter,
                                        folder_leave),
        cmocka_unit_test_setup_teardown(test_other_layouts_and_sizes, folder_enter, folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
