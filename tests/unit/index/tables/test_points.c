/* The table of seek points: written points are read back. Bytes that no writer produces are
 * refused, by the table's reader or, if the window is wrong, by the code that uses the window. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <malloc.h>
#include <sys/mman.h>
#include <zlib.h>

#include "base/core/bytes.h"
#include "base/core/crc32c.h"
#include "index/tables/points.h"
#include "support/emulation.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/forged.h"
#include "support/rounds.h"
#include "support/shards/deflate.h"
#include "support/shards/oracle.h"
#include "support/vector_file.h"

enum { COUNT = 50, FILE_SIZE = 1 << 24, IMAGE_SIZE = 1 << 26, HEAD = 8, ENTRY = 24, CHECK = 4 };

static uint8_t windows[COUNT][INFLATE_WINDOW_MAX];

static struct point_list make_points(struct rng *random) {
    struct point_list made = {0};
    uint64_t bit = 80, offset = 0;
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t b = 0; b < INFLATE_WINDOW_MAX; b++)
            windows[i][b] = (uint8_t)(i % 2 ? rng_next(random) : rng_below(random, 4));
        bit += 1 + rng_below(random, 2000000);
        offset += 1 + rng_below(random, 1000000);
        uint32_t size = i % 7 == 0 ? 0 : 1 + (uint32_t)rng_below(random, INFLATE_WINDOW_MAX);
        if (size > offset) size = (uint32_t)offset;
        assert_true(points_add(&made, &(struct seek_point){bit, offset, windows[i], size}));
    }
    uint64_t begin = 0;
    for (size_t i = 0; i <= COUNT; i++) {
        uint64_t end = i < COUNT ? made.at[i].offset : IMAGE_SIZE;
        for (uint64_t c = 0; c < span_check_count(end - begin); c++)
            assert_true(points_add_check(&made, (uint32_t)rng_next(random)));
        begin = end;
    }
    assert_true(points_divide_checks(&made, IMAGE_SIZE));
    return made;
}

/* Points decode to the same positions and windows, and a search for a byte finds the last point at
 * or before it. */
static void test_points_survive_a_round_trip(void **state) {
    (void)state;
    struct rng random = {1};
    struct point_list made = make_points(&random), read = {0};
    size_t size;
    uint8_t *bytes = points_encode(&size, &made, 0, COUNT);
    assert_int_equal(points_decode(&read, bytes, size, COUNT, FILE_SIZE, IMAGE_SIZE), POINTS_OK);
    assert_true(points_divide_checks(&read, IMAGE_SIZE));
    assert_int_equal(read.check_count, made.check_count);
    assert_memory_equal(read.checks, made.checks, made.check_count * sizeof *made.checks);
    for (size_t i = 0; i < COUNT; i++) {
        uint8_t window[INFLATE_WINDOW_MAX];
        assert_int_equal(read.at[i].first_check, made.at[i].first_check);
        assert_int_equal(read.at[i].bit, made.at[i].bit);
        assert_int_equal(read.at[i].offset, made.at[i].offset);
        assert_int_equal(points_unpack(window, &read.at[i]), POINTS_OK);
        assert_memory_equal(window, windows[i], read.at[i].window_size);
        assert_int_equal(points_find(&read, read.at[i].offset), i);
        assert_int_equal(points_find(&read, read.at[i].offset - 1), i - 1);
    }
    points_deinit(&read);
    points_deinit(&made);
    free(bytes);
}

/* The points of a shard in several values: each has the checks of the spans that start in it. */
static void test_points_are_read_from_several_values(void **state) {
    (void)state;
    struct rng random = {6};
    struct point_list made = make_points(&random), read = {0};
    for (size_t first = 0; first < COUNT; first += COUNT / 5) {
        size_t size;
        uint8_t *bytes = points_encode(&size, &made, first, COUNT / 5);
        assert_int_equal(points_decode(&read, bytes, size, COUNT / 5, FILE_SIZE, IMAGE_SIZE),
                         POINTS_OK);
        const struct stored_point *last = &read.at[read.count - 1];
        size_t due = read.count < COUNT ? made.at[read.count].first_check : made.check_count;
        assert_int_equal(read.check_count, due);
        assert_memory_equal(last->packed ? last->packed : bytes,
                            last->packed ? made.at[read.count - 1].packed : bytes,
                            last->packed_size);
        free(bytes);
    }
    assert_true(points_divide_checks(&read, IMAGE_SIZE));
    assert_memory_equal(read.checks, made.checks, made.check_count * sizeof *made.checks);
    points_deinit(&read);
    points_deinit(&made);
}

static void test_number_of_checks(void **state) {
    (void)state;
    enum { UNIT = SPAN_CHECKED_SIZE };
    assert_int_equal(span_check_count(0), 1);
    assert_int_equal(span_check_count(1), 1);
    assert_int_equal(span_check_count(UNIT), 1);
    assert_int_equal(span_check_count(UNIT + 1), 2);
    assert_int_equal(span_check_count(UINT64_MAX), (uint64_t)1 << 40);
    struct rng random = {7};
    struct point_list made = make_points(&random);
    size_t count = made.check_count;
    made.check_count--;
    assert_false(points_divide_checks(&made, IMAGE_SIZE));
    made.check_count = count;
    assert_true(points_add_check(&made, 1));
    assert_false(points_divide_checks(&made, IMAGE_SIZE));
    assert_false(points_divide_checks(&made, (uint64_t)1 << 61));
    made.check_count = 1;
    assert_false(points_divide_checks(&made, IMAGE_SIZE));
    made.check_count = 0;
    assert_false(points_divide_checks(&made, IMAGE_SIZE));
    points_deinit(&made);
}

/* Deflating a window does not depend on the content of earlier windows. */
static void test_windows_are_apart(void **state) {
    (void)state;
    struct rng random = {2};
    struct point_list made = make_points(&random);
    for (size_t i = 0; i < COUNT; i++) {
        const struct stored_point *one = &made.at[i];
        struct point_list alone = {0};
        struct seek_point same = {one->bit, one->offset, windows[i], one->window_size};
        assert_true(points_add(&alone, &same));
        assert_int_equal(alone.at[0].packed_size, one->packed_size);
        if (one->packed_size)
            assert_memory_equal(alone.at[0].packed, one->packed, one->packed_size);
        points_deinit(&alone);
    }
    points_deinit(&made);
}

/* Deflating a window does not depend on the address of the memory that it uses, so two builds of an
 * index are equal. Spacers of up to 64 GiB, which are never touched, move that memory. */
static void test_addresses_do_not_matter(void **state) {
    (void)state;
    if (is_emulated(__func__, "each page that was ever mapped takes memory")) skip();
    enum { SIZE = 200, ROUNDS = 20000 };
    struct rng random = {9};
    for (size_t b = 0; b < SIZE; b++) windows[0][b] = (uint8_t)rng_below(&random, 4);
    struct seek_point point = {80, SIZE, windows[0], SIZE};
    struct point_list first = {0};
    assert_true(points_add(&first, &point));
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 1 << 16);
#endif
    for (size_t i = 0; i < ROUNDS; i++) {
        struct point_list other = {0};
        size_t size = (size_t)1 + rng_below(&random, (uint64_t)1 << 36);
        void *spacer = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(spacer != MAP_FAILED);
        assert_true(points_add(&other, &point));
        assert_int_equal(other.at[0].packed_size, first.at[0].packed_size);
        assert_memory_equal(other.at[0].packed, first.at[0].packed, first.at[0].packed_size);
        points_deinit(&other);
        munmap(spacer, size);
    }
    points_deinit(&first);
}

/* Writes a number over one of an encoded list, and holds what comes of it against what is due. */
static void check_forged(const struct point_list *points, size_t position, size_t width,
                         uint64_t number) {
    size_t size;
    struct point_list read = {0};
    uint8_t *bytes = points_encode(&size, points, 0, COUNT);
    if (width == 8) store64(bytes + position, number);
    else store32(bytes + position, (uint32_t)number);
    assert_int_equal(points_decode(&read, bytes, size, COUNT, FILE_SIZE, IMAGE_SIZE), POINTS_BAD);
    points_deinit(&read);
    free(bytes);
}

/* Replaces one number at a time by one that contradicts its neighbours or the sizes of the file and
 * the image. Each must be refused, because inflating would start from it. */
static void test_contradicting_numbers_are_refused(void **state) {
    (void)state;
    struct rng random = {2};
    struct point_list made = make_points(&random);
    check_forged(&made, 0, 4, COUNT - 1);
    check_forged(&made, 0, 4, UINT32_MAX);
    check_forged(&made, 4, 4, 1);
    check_forged(&made, 4, 4, (uint32_t)made.check_count + 1);
    check_forged(&made, 4, 4, UINT32_MAX);
    for (size_t i = 1; i + 1 < COUNT; i++) {
        size_t entry = HEAD + i * ENTRY;
        check_forged(&made, entry, 8, (uint64_t)FILE_SIZE * 8);
        check_forged(&made, entry, 8, UINT64_MAX);
        check_forged(&made, entry, 8, made.at[i - 1].bit);
        check_forged(&made, entry, 8, made.at[i + 1].bit);
        check_forged(&made, entry + 8, 8, IMAGE_SIZE);
        check_forged(&made, entry + 8, 8, UINT64_MAX);
        check_forged(&made, entry + 8, 8, made.at[i - 1].offset);
        check_forged(&made, entry + 8, 8, made.at[i + 1].offset);
        check_forged(&made, entry + 16, 4, INFLATE_WINDOW_MAX + 1);
        check_forged(&made, entry + 16, 4, UINT32_MAX);
        check_forged(&made, entry + 16, 4, made.at[i].window_size ? 0 : 1);
        check_forged(&made, entry + 20, 4, UINT32_MAX);
    }
    points_deinit(&made);
}

/* Cut or grown anywhere. */
static void test_cut_or_grown_values_are_refused(void **state) {
    (void)state;
    struct rng random = {3};
    struct point_list made = make_points(&random);
    size_t size;
    uint8_t *bytes = points_encode(&size, &made, 0, COUNT);
    for (size_t cut = 0; cut < size; cut += cut < 2000 ? 1 : 997) {
        struct point_list read = {0};
        uint8_t *exact = must_copy(bytes, cut);
        assert_int_equal(points_decode(&read, exact, cut, COUNT, FILE_SIZE, IMAGE_SIZE),
                         POINTS_BAD);
        points_deinit(&read);
        free(exact);
    }
    points_deinit(&made);
    free(bytes);
}

/* What precedes the windows of a value. */
static size_t size_of_heads(const struct forged_value *value) {
    return HEAD + load32(value->data) * (size_t)ENTRY + load32(value->data + 4) * (size_t)CHECK;
}

/* An index whose seal holds but whose windows lie: their spans cannot be read, or give records that
 * fail their check; all others can. */
static void test_forged_windows_give_no_wrong_record(void **state) {
    (void)state;
    struct rng random = {4};
    const char *name = "a.gz";
    struct buffer content = BUFFER_INIT, file = BUFFER_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    while (content.size < (8 << 20)) {
        uint8_t text[3000];
        for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)('a' + rng_below(&random, 20));
        oracle_add_record(&content, text, sizeof text);
    }
    struct deflate_way way = {.level = 6, .memory = 8};
    add_deflated(&file, COMPRESSION_GZIP, &content, &way);
    file_write(name, file.data, file.size);
    index_build("a.rmx", NULL, &name, 1);
    for (int round = 0; round < (int)some_rounds(20); round++) {
        struct forged index = forged_read("a.rmx");
        struct forged_table *table = &index.tables[STORE_POINTS];
        assert_int_equal(table->count, 1);
        size_t count = load32(table->values[0].data), heads = size_of_heads(&table->values[0]);
        assert_true(count > 2);
        size_t at = heads + (size_t)rng_below(&random, table->values[0].size - heads);
        table->values[0].data[at] ^= (uint8_t)(1u << rng_below(&random, 8));
        forged_write(&index, "forged.rmx");
        forged_deinit(&index);
        recmap_dataset *dataset = dataset_open("forged.rmx", NULL);
        uint64_t records = recmap_dataset_count(dataset), lost = 0;
        for (uint64_t i = 0; i < records; i++) {
            recmap_record record;
            if (recmap_dataset_get(&record, dataset, i, &error) != RECMAP_OK) {
                assert_true(error.message[0] && error.record == i);
                lost++;
                continue;
            }
            assert_memory_equal(record.data, content.data + i * 3016 + 12, 3000);
            recmap_record_release(&record);
        }
        assert_true(lost < records * 3 / 4);
        recmap_dataset_close(dataset);
    }
    buffer_deinit(&content);
    buffer_deinit(&file);
}

/* The value of the points of an index, with windows that unpack but belong to no stream, or with
 * bits at which nothing begins. */
static void forge_points(struct forged *index, bool forges_bits) {
    struct forged_value *value = &index->tables[STORE_POINTS].values[0];
    struct point_list read = {0}, made = {0};
    size_t count = load32(value->data);
    uint8_t window[INFLATE_WINDOW_MAX];
    assert_int_equal(points_decode(&read, value->data, value->size, count, FILE_SIZE, IMAGE_SIZE),
                     POINTS_OK);
    for (size_t i = 0; i < count; i++) {
        const struct stored_point *stored = &read.at[i];
        assert_int_equal(points_unpack(window, stored), POINTS_OK);
        if (!forges_bits) memset(window, 'x', sizeof window);
        struct seek_point point = {stored->bit + forges_bits, stored->offset, window,
                                   stored->window_size};
        assert_true(points_add(&made, &point));
    }
    for (size_t i = 0; i < read.check_count; i++)
        assert_true(points_add_check(&made, read.checks[i]));
    points_deinit(&read);
    free(value->data);
    value->data = points_encode(&value->size, &made, 0, count);
    points_deinit(&made);
}

static size_t count_damage(const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_report *report;
    recmap_dataset *dataset = dataset_open(path, NULL);
    ASSERT_OK(recmap_dataset_verify(&report, dataset, NULL, &error), &error);
    size_t count = recmap_report_damage_count(report);
    recmap_report_destroy(report);
    recmap_dataset_close(dataset);
    return count;
}

static void assert_says_index(const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_report *report;
    recmap_dataset *dataset = dataset_open(path, NULL);
    ASSERT_OK(recmap_dataset_verify(&report, dataset, NULL, &error), &error);
    assert_int_equal(recmap_report_damage_count(report), 1);
    assert_non_null(
        strstr(recmap_report_damage(report, 0).reason, "the index is damaged or forged"));
    recmap_report_destroy(report);
    recmap_dataset_close(dataset);
}

/* Records that have no check of their own: verify reads them from the points, as readers do. */
static void test_verify_proves_points(void **state) {
    (void)state;
    static const char *const framings[] = {"lines", "fixed:0,64,0", "ofrecord", "tfrecord"};
    const char *name = "a.gz";
    for (size_t f = 0; f < sizeof framings / sizeof *framings; f++) {
        struct rng random = {5 + f};
        struct buffer content = BUFFER_INIT, file = BUFFER_INIT;
        while (content.size % 4 || content.size < (8 << 20)) {
            uint8_t text[64], length[8] = {sizeof text};
            for (size_t i = 0; i < sizeof text; i++)
                text[i] = (uint8_t)('a' + rng_below(&random, 4));
            text[sizeof text - 1] = '\n';
            if (f == 2) buffer_add(&content, length, sizeof length);
            if (f == 3) oracle_add_record(&content, text, sizeof text);
            else buffer_add(&content, text, sizeof text);
        }
        struct deflate_way way = {.level = 6, .memory = 8};
        for (size_t done = 0; done < content.size; done += content.size / 4) {
            struct buffer member = {content.data + done, content.size / 4, 0};
            add_deflated(&file, COMPRESSION_GZIP, &member, &way);
        }
        file_write(name, file.data, file.size);
        recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
        options.framing = framings[f];
        index_build("a.rmx", &options, &name, 1);
        assert_int_equal(count_damage("a.rmx"), 0);
        struct forged index = forged_read("a.rmx");
        forge_points(&index, true);
        forged_write(&index, "forged.rmx");
        assert_true(count_damage("forged.rmx") > 0);
        forged_deinit(&index);
        index = forged_read("a.rmx");
        forge_points(&index, false);
        forged_write(&index, "forged.rmx");
        assert_true(count_damage("forged.rmx") > 0);
        /* One that does not unpack. */
        struct forged_value *value = &index.tables[STORE_POINTS].values[0];
        memset(value->data + size_of_heads(value), 0xff, 8);
        forged_write(&index, "forged.rmx");
        assert_says_index("forged.rmx");
        forged_deinit(&index);
        buffer_deinit(&content);
        buffer_deinit(&file);
    }
}

/* Inflated by zlib, member after member. */
static struct buffer inflate_file(const uint8_t *file, size_t size,
                                  const struct vector_case *vector) {
    struct buffer image = BUFFER_INIT;
    uint8_t out[4096];
    z_stream stream = {.next_in = (uint8_t *)file, .avail_in = (uInt)size};
    assert_int_equal(inflateInit2(&stream, 47), Z_OK);
    for (int result = Z_OK; result != Z_STREAM_END || stream.avail_in;) {
        if (result == Z_STREAM_END) inflateReset(&stream);
        stream.next_out = out;
        stream.avail_out = sizeof out;
        result = inflate(&stream, Z_NO_FLUSH);
        assert_true(result == Z_OK || result == Z_STREAM_END);
        buffer_add(&image, out, sizeof out - stream.avail_out);
    }
    inflateEnd(&stream);
    assert_int_equal(image.size, vector_number(vector, "image_size"));
    assert_int_equal(crc32(0, image.data, (uInt)image.size), vector_number(vector, "image_crc32"));
    return image;
}

/* Where a point is wanted, one of the vector is found. Small streams may be inflated ahead of
 * that. How many were found. */
static size_t expect_found(struct inflater *inflater, const struct point_list *due,
                           const struct buffer *image, size_t step) {
    uint8_t *out = must_realloc(NULL, image->size + step);
    size_t got = 0, found = 0, size;
    enum inflate_verdict verdict = INFLATE_OK;
    for (bool wants = false; verdict != INFLATE_END; wants = verdict == INFLATE_OK && !wants) {
        verdict = inflater_read(&size, inflater, out + got, step, wants);
        got += size;
        assert_true(verdict == INFLATE_END || verdict == INFLATE_OK || verdict == INFLATE_AT_POINT);
        if (verdict != INFLATE_AT_POINT) continue;
        struct seek_point point = inflater_point(inflater);
        size_t i = points_find(due, point.offset);
        assert_true(i < due->count && point.bit == due->at[i].bit);
        assert_int_equal(point.offset, due->at[i].offset);
        assert_int_equal(point.window_size, due->at[i].window_size);
        found++;
    }
    assert_int_equal(got, image->size);
    free(out);
    return found;
}

static void expect_resumes(struct inflater *inflater, const struct stored_point *stored,
                           const struct buffer *image) {
    uint8_t window[INFLATE_WINDOW_MAX], *out = must_realloc(NULL, image->size + 1);
    size_t size, due = image->size - (size_t)stored->offset;
    assert_int_equal(points_unpack(window, stored), POINTS_OK);
    assert_memory_equal(window, image->data + stored->offset - stored->window_size,
                        stored->window_size);
    assert_true(inflater_start_at(
        inflater, &(struct seek_point){stored->bit, stored->offset, window, stored->window_size}));
    assert_int_equal(inflater_read(&size, inflater, out, due + 1, false), INFLATE_END);
    assert_int_equal(size, due);
    assert_memory_equal(out, image->data + stored->offset, due);
    free(out);
}

static void expect_numbers(const struct vector_case *vector, const struct point_list *points) {
    size_t counts[3];
    uint64_t *bits = vector_numbers(vector, "bits", &counts[0]),
             *offsets = vector_numbers(vector, "offsets", &counts[1]),
             *sizes = vector_numbers(vector, "window_sizes", &counts[2]);
    for (int i = 0; i < 3; i++) assert_int_equal(counts[i], points->count);
    for (size_t i = 0; i < points->count; i++) {
        assert_int_equal(points->at[i].bit, bits[i]);
        assert_int_equal(points->at[i].offset, offsets[i]);
        assert_int_equal(points->at[i].window_size, sizes[i]);
    }
    free(bits);
    free(offsets);
    free(sizes);
}

static void expect_checks(const struct vector_case *vector, struct point_list *points,
                          const struct buffer *image) {
    size_t count;
    uint64_t *checks = vector_numbers(vector, "checks", &count);
    assert_true(points_divide_checks(points, image->size));
    assert_int_equal(count, points->count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t begin = i ? (size_t)points->at[i - 1].offset : 0;
        size_t end = i < points->count ? (size_t)points->at[i].offset : image->size;
        assert_int_equal(*points_checks(points, i), checks[i]);
        assert_int_equal(crc32c(image->data + begin, end - begin), checks[i]);
    }
    free(checks);
}

/* docs/formats/vectors was made without the library. */
static void test_points_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("points.txt");
    size_t found = 0;
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        size_t stream_size, value_size, size, count;
        uint8_t *stream = vector_bytes(vector, "file", &stream_size),
                *value = vector_bytes(vector, "value", &value_size);
        struct buffer image = inflate_file(stream, stream_size, vector);
        struct inflate_source source = {.bytes = stream, .size = stream_size};
        struct inflater *in =
            inflater_create((enum compression)vector_number(vector, "compression"), &source);
        struct point_list points = {0};
        free(vector_numbers(vector, "bits", &count));
        assert_int_equal(points_decode(&points, value, value_size, count, stream_size, image.size),
                         POINTS_OK);
        expect_numbers(vector, &points);
        expect_checks(vector, &points, &image);
        for (size_t step = 1; step < 64; step += 7) {
            inflater_start(in, 0, 0);
            found += expect_found(in, &points, &image, step);
        }
        for (size_t k = 0; k < count; k++) expect_resumes(in, &points.at[k], &image);
        uint8_t *again = points_encode(&size, &points, 0, count);
        vector_expect(vector, "value", again, size);
        free(again);
        free(stream);
        free(value);
        points_deinit(&points);
        inflater_destroy(in);
        buffer_deinit(&image);
    }
    assert_true(found > 0);
    vectors_deinit(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points_match_their_vectors),
        cmocka_unit_test(test_points_survive_a_round_trip),
        cmocka_unit_test(test_points_are_read_from_several_values),
        cmocka_unit_test(test_number_of_checks),
        cmocka_unit_test(test_windows_are_apart),
        cmocka_unit_test(test_addresses_do_not_matter),
        cmocka_unit_test(test_contradicting_numbers_are_refused),
        cmocka_unit_test(test_cut_or_grown_values_are_refused),
        cmocka_unit_test_setup_teardown(test_forged_windows_give_no_wrong_record, folder_enter,
                                        folder_leave),
        cmocka_unit_test_setup_teardown(test_verify_proves_points, folder_enter, folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
