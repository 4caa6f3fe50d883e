/* Files of other projects, where they are there: each has the records that its manifest counts, and
 * its records come back byte for byte as a plain reader reads them, a compressed file's out of what
 * zlib inflates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/oracle.h"

struct row {
    char file[512];
    char compression[16];
    unsigned long long file_bytes, stream_bytes, records, min, max;
};

/* The columns of the manifest that are of interest. */
static bool read_row(struct row *read, const char *line) {
    return sscanf(line, "%511[^\t]\t%*[^\t]\t%*[^\t]\t%15[^\t]\t%llu\t%llu\t%llu\t%llu\t%llu",
                  read->file, read->compression, &read->file_bytes, &read->stream_bytes,
                  &read->records, &read->min, &read->max) == 7;
}

/* The content of all streams of a GZIP or ZLIB file, concatenated. */
static struct buffer inflate_by_zlib(const struct buffer *file) {
    enum { EITHER = 32 }; /* what zlib tells GZIP from ZLIB by */
    static uint8_t block[1 << 16];
    struct buffer content = BUFFER_INIT;
    z_stream stream = {.next_in = file->data, .avail_in = (uInt)file->size};
    while (stream.avail_in) {
        int verdict = inflateInit2(&stream, MAX_WBITS + EITHER);
        while (verdict == Z_OK) {
            stream.next_out = block;
            stream.avail_out = sizeof block;
            verdict = inflate(&stream, Z_NO_FLUSH);
            buffer_add(&content, block, sizeof block - stream.avail_out);
        }
        assert_int_equal(verdict, Z_STREAM_END);
        inflateEnd(&stream);
    }
    return content;
}

/* Every record is what a plain reader finds in `bytes`, in file order and in any other. */
static void assert_records(recmap_dataset *dataset, const struct buffer *bytes) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct oracle_file due = oracle_read(bytes->data, bytes->size, false);
    assert_int_equal(due.damage_count, 0);
    assert_int_equal(due.record_count, recmap_dataset_count(dataset));
    struct rng random = {due.record_count};
    for (size_t n = 0; n < 2 * due.record_count; n++) {
        size_t i = n < due.record_count ? n : (size_t)rng_below(&random, due.record_count);
        recmap_record record;
        ASSERT_OK(recmap_dataset_get(&record, dataset, i, &error), &error);
        assert_int_equal(record.size, due.records[i].size);
        assert_memory_equal(record.data, bytes->data + due.records[i].offset + 12, record.size);
        recmap_record_release(&record);
    }
    oracle_deinit(&due);
}

static void assert_file(recmap_dataset *dataset, const char *path, bool is_compressed) {
    struct buffer file = file_read(path);
    struct buffer content = is_compressed ? inflate_by_zlib(&file) : (struct buffer)BUFFER_INIT;
    assert_records(dataset, is_compressed ? &content : &file);
    buffer_deinit(&content);
    buffer_deinit(&file);
}

/* The smallest, the largest and the total size of the records must be those in the manifest. */
static void assert_sizes(recmap_dataset *dataset, const struct row *about) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch;
    size_t count = (size_t)about->records;
    ASSERT_OK(recmap_batch_create(&batch, &error), &error);
    ASSERT_OK(recmap_dataset_read(batch, dataset, 0, count, &error), &error);
    size_t min = SIZE_MAX, max = 0;
    unsigned long long total = 0;
    for (size_t i = 0; i < count; i++) {
        size_t size = recmap_batch_records(batch)[i].size;
        if (size < min) min = size;
        if (size > max) max = size;
        total += size + 16;
    }
    recmap_batch_destroy(batch);
    if (!count) return;
    assert_int_equal(min, about->min);
    assert_int_equal(max, about->max);
    assert_int_equal(total, about->stream_bytes);
}

/* Opens one real file mapped and unmapped, and compares count and sizes with the manifest. */
static void check_file(const struct row *about, const char *path) {
    recmap_index_summary summary = index_build("set.rmx", NULL, &path, 1);
    assert_int_equal(summary.record_count, about->records);
    assert_int_equal(summary.damage_count, 0);
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.allow_absolute_paths = 1;
    recmap_error error = RECMAP_ERROR_INIT;
    for (int access = 0; access < 2; access++) {
        options.access = (recmap_access)access;
        recmap_dataset *dataset = dataset_open("set.rmx", &options);
        recmap_shard_info info;
        ASSERT_OK(recmap_dataset_get_shard(&info, dataset, 0, &error), &error);
        assert_string_equal(info.compression, about->compression);
        assert_int_equal(info.size, about->file_bytes);
        assert_sizes(dataset, about);
        assert_file(dataset, path, strcmp(about->compression, "none") != 0);
        recmap_report *report;
        ASSERT_OK(recmap_dataset_verify(&report, dataset, NULL, &error), &error);
        assert_int_equal(recmap_report_damage_count(report), 0);
        assert_int_equal(recmap_report_record_count(report), about->records);
        recmap_report_destroy(report);
        recmap_dataset_close(dataset);
    }
}

/* Tests each file listed in the manifest of shared test data. Skipped if the data is not installed.
 * */
static void test_files_of_manifest(void **state) {
    (void)state;
    const char *folder = shared_data();
    if (!folder) skip();
    char path[PATH_ROOM], line[4096];
    snprintf(path, sizeof path, "%s/tfrecord/MANIFEST.tsv", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t files = 0, compressed_files = 0;
    while (fgets(line, sizeof line, file)) {
        struct row about;
        if (!read_row(&about, line)) continue;
        snprintf(path, sizeof path, "%.300s/tfrecord/%s", folder, about.file);
        check_file(&about, path);
        files++;
        compressed_files += strcmp(about.compression, "none") != 0;
    }
    fclose(file);
    print_message("%zu files, %zu of them compressed\n", files, compressed_files);
    assert_true(files >= 71);
    assert_true(compressed_files > 0);
}

/* The data set that ships with the repository. */
static void test_digits_are_read_as_they_are(void **state) {
    (void)state;
    unsigned long long records = 0;
    for (int i = 0; i < 4; i++) {
        char path[PATH_ROOM];
        snprintf(path, sizeof path, RECMAP_SOURCE_DIR "/data/digits/digits-%05d-of-00004.tfrecord",
                 i);
        const char *name = path;
        records += index_build("set.rmx", NULL, &name, 1).record_count;
        recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
        options.allow_absolute_paths = 1;
        recmap_dataset *dataset = dataset_open("set.rmx", &options);
        assert_file(dataset, path, false);
        recmap_dataset_close(dataset);
    }
    assert_int_equal(records, 1797);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {TEST(files_of_manifest), TEST(digits_are_read_as_they_are)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
