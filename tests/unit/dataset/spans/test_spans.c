/* Spans that the index makes too large: bytes that the file does not hold are never returned and
 * take no memory, and the error names the span, not anything after it. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/crc32c.h"
#include "dataset/spans/span_read.h"
#include "support/index/build.h"
#include "support/shards/deflate.h"

enum { MB = 1 << 20, SIZE = 100000, SAID = 60 * MB };

/* A shard that holds SIZE bytes, and is said to hold SAID. */
struct shard {
    struct buffer content, file;
    struct shard_entry entry;
    struct point_list points;
    struct file_map map;
    struct span_reader reader;
};

static void make(struct shard *out, uint64_t stated_size) {
    struct rng random = {1};
    struct deflate_way way = {.level = 1, .memory = 8};
    static char path[] = "a.gz";
    *out = (struct shard){
        .entry = {.path = path, .compression = COMPRESSION_GZIP, .size = stated_size}};
    buffer_add_random(&out->content, SIZE, &random);
    add_deflated(&out->file, COMPRESSION_GZIP, &out->content, &way);
    out->entry.file_size = out->file.size;
    /* What the stream inflates to, and nothing after it. */
    uint32_t check = crc32c(out->content.data, SIZE);
    for (uint64_t i = 0; i < span_check_count(stated_size); i++)
        assert_true(points_add_check(&out->points, i ? 0 : check));
    out->map = (struct file_map){.data = out->file.data, .size = out->file.size};
    out->reader = (struct span_reader){
        .cache = span_cache_create((uint64_t)1 << 30),
        .source = {.entry = &out->entry,
                   .path = "folder/a.gz",
                   .points = &out->points,
                   .map = &out->map,
                   .waypoints = waypoints_create()},
    };
}

static void end(struct shard *shard) {
    span_cache_destroy(shard->reader.cache);
    waypoints_destroy(shard->reader.source.waypoints);
    points_deinit(&shard->points);
    buffer_deinit(&shard->content);
    buffer_deinit(&shard->file);
}

static void assert_says_span(recmap_status status, const recmap_error *error) {
    assert_int_equal(status, RECMAP_CORRUPT);
    assert_int_equal(error->status, RECMAP_CORRUPT);
    assert_string_equal(error->path, "folder/a.gz");
    assert_non_null(strstr(error->message, "ends earlier"));
}

static void test_memory_grows_with_the_inflated_bytes(void **state) {
    (void)state;
    struct shard shard;
    struct span filled = {.error = RECMAP_ERROR_INIT};
    make(&shard, SAID);
    struct span_piece piece = span_piece_at(&shard.reader.source, 0);
    assert_int_equal(piece.end - piece.begin, SAID);
    span_inflate(&filled, &shard.reader.source, piece);
    assert_int_equal(filled.size, SIZE);
    assert_memory_equal(filled.data, shard.content.data, SIZE);
    assert_says_span(filled.error.status, &filled.error);
    assert_true(malloc_usable_size(filled.data) < 10 * MB);
    free(filled.data);
    end(&shard);
}

/* From the beginning, across the end, and past it; in a span read whole and in one read in
 * pieces. */
static void test_ranges_past_the_end_are_not_returned(void **state) {
    (void)state;
    static const uint64_t said[] = {SAID, SPAN_WHOLE_MAX + SAID};
    static const struct {
        uint64_t offset;
        size_t size;
    } ranges[] = {{SIZE - 10, 11}, {SIZE, 1}, {SIZE - 1, 5000}, {5 * MB, 100}, {50 * MB, 100}};
    static uint8_t data[SIZE];
    for (size_t s = 0; s < 2; s++) {
        struct shard shard;
        make(&shard, said[s]);
        for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
            recmap_error error = RECMAP_ERROR_INIT;
            recmap_status status =
                span_read(&shard.reader, data, ranges[i].size, ranges[i].offset, &error);
            assert_says_span(status, &error);
            ASSERT_OK(span_read(&shard.reader, data, SIZE - i, i, &error), &error);
            assert_memory_equal(data, shard.content.data + i, SIZE - i);
        }
        end(&shard);
    }
}

static void test_a_bad_frame_is_named_among_many(void **state) {
    (void)state;
    enum { FRAMES = 40, FRAME = 100 };
    static uint8_t data[FRAMES * FRAME];
    for (size_t bad = 0; bad <= FRAMES; bad++) {
        struct shard shard;
        struct index_place places[FRAMES];
        recmap_error error = RECMAP_ERROR_INIT;
        make(&shard, 6 * MB);
        /* The bad frame and those after it extend past the end, or lie past it. */
        for (size_t i = 0; i < FRAMES; i++)
            places[i] = (struct index_place){
                0, i * FRAME + (i < bad ? 0 : SIZE - (i + 1) * FRAME / 2), FRAME};
        recmap_status status = span_read_frames(&shard.reader, data, places, FRAMES, &error);
        if (bad < FRAMES) {
            assert_says_span(status, &error);
        } else {
            ASSERT_OK(status, &error);
            assert_memory_equal(data, shard.content.data, sizeof data);
        }
        end(&shard);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_grows_with_the_inflated_bytes),
        cmocka_unit_test(test_ranges_past_the_end_are_not_returned),
        cmocka_unit_test(test_a_bad_frame_is_named_among_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
