/* Compressed writers: the stream inflates to what a plain writer writes, is the same with any
 * number of threads, and its index equals one built by a scan. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/known.h"
#include "support/shards/inflate_all.h"

/* Records, as the payloads that are written. */
struct payloads {
    struct buffer *at;
    size_t count;
};

static void payloads_deinit(struct payloads *payloads) {
    for (size_t i = 0; i < payloads->count; i++) buffer_deinit(&payloads->at[i]);
    free(payloads->at);
}

/* Some payloads repeat one byte, some are random, some are text: a shard of `size` bytes or more.
 */
static struct payloads make_payloads(size_t size, size_t record_size, struct rng *random) {
    struct payloads payloads = {0};
    for (size_t done = 0; done < size;) {
        struct buffer payload = BUFFER_INIT;
        size_t length = (size_t)rng_below(random, 2 * record_size + 1);
        uint64_t kind = rng_below(random, 4);
        if (kind == 0) buffer_add_random(&payload, length, random);
        while (payload.size < length) {
            char word[32];
            snprintf(word, sizeof word, "%u ", kind == 1 ? 7 : (unsigned)rng_below(random, 5000));
            buffer_add(&payload, word, strlen(word));
        }
        done += payload.size + 16;
        payloads.at = must_realloc(payloads.at, (payloads.count + 1) * sizeof *payloads.at);
        payloads.at[payloads.count++] = payload;
    }
    return payloads;
}

static recmap_writer *create(const char *path, recmap_compression compression, unsigned threads) {
    char index[64];
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_writer *writer;
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.compression = compression;
    options.thread_count = threads;
    snprintf(index, sizeof index, "%s.rmx", path);
    options.index_path = index;
    ASSERT_OK(recmap_writer_create(&writer, path, &options, &error), &error);
    return writer;
}

static void add_all(recmap_writer *writer, const struct payloads *payloads) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t i = 0; i < payloads->count; i++)
        ASSERT_OK(recmap_writer_write(writer, payloads->at[i].data, payloads->at[i].size, &error),
                  &error);
}

static void write_shard(const char *path, recmap_compression compression, unsigned threads,
                        const struct payloads *payloads) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_writer *writer = create(path, compression, threads);
    bool is_plain = !strcmp(path, "plain");
    assert_int_equal(recmap_writer_get_compression(writer) == RECMAP_COMPRESSION_NONE, is_plain);
    add_all(writer, payloads);
    ASSERT_OK(recmap_writer_finish(writer, &error), &error);
    recmap_writer_destroy(writer);
}

static void check_inflates(const char *path, enum compression kind, const char *plain) {
    struct buffer stream = file_read(path), image = BUFFER_INIT, due = file_read(plain);
    uint64_t bad_at;
    assert_int_equal(inflate_all(&image, &bad_at, kind, &stream, false), INFLATE_END);
    assert_int_equal(image.size, due.size);
    assert_true(!image.size || !memcmp(image.data, due.data, image.size));
    buffer_deinit(&due);
    buffer_deinit(&image);
    buffer_deinit(&stream);
}

/* The index names its shard and has the time of its last change, so both are given to the file
 * that is indexed afresh. */
static void check_index(const char *path) {
    char index[64];
    snprintf(index, sizeof index, "%s.rmx", path);
    index_build("scanned.rmx", NULL, &path, 1);
    assert_same_file(index, "scanned.rmx");
}

static void check_all(const struct payloads *payloads) {
    static const struct {
        const char *path;
        recmap_compression compression;
        enum compression kind;
    } forms[] = {{"a.gz", RECMAP_COMPRESSION_AUTO, COMPRESSION_GZIP},
                 {"a.zlib", RECMAP_COMPRESSION_AUTO, COMPRESSION_ZLIB},
                 {"gzip", RECMAP_COMPRESSION_GZIP, COMPRESSION_GZIP},
                 {"zlib", RECMAP_COMPRESSION_ZLIB, COMPRESSION_ZLIB}};
    write_shard("plain", RECMAP_COMPRESSION_AUTO, 1, payloads);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        write_shard(forms[i].path, forms[i].compression, (unsigned)i % 3, payloads);
        check_inflates(forms[i].path, forms[i].kind, "plain");
        check_index(forms[i].path);
    }
    for (unsigned threads = 1; threads < 6; threads++) {
        write_shard("again.gz", RECMAP_COMPRESSION_AUTO, threads, payloads);
        assert_same_file("a.gz", "again.gz");
    }
}

static void test_streams_and_indexes(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 100, 1 << 20, 9 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct rng random = {i};
        struct payloads payloads = make_payloads(sizes[i], i % 2 ? 200 : 20000, &random);
        check_all(&payloads);
        payloads_deinit(&payloads);
    }
}

/* Records that are larger than all buffers, of bytes that cannot be compressed and of zeros. */
static void test_records_larger_than_buffers_are_written(void **state) {
    (void)state;
    struct rng random = {3};
    struct buffer at[2] = {BUFFER_INIT, BUFFER_INIT};
    static const uint8_t zeros[5 << 20];
    buffer_add_random(&at[0], (13 << 20) + 1, &random);
    buffer_add(&at[1], zeros, sizeof zeros);
    struct payloads payloads = {at, 2};
    check_all(&payloads);
    buffer_deinit(&at[0]);
    buffer_deinit(&at[1]);
}

static recmap_status try_name(const char *path, recmap_compression compression,
                              recmap_error *error) {
    recmap_writer *writer = NULL;
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.compression = compression;
    recmap_status status = recmap_writer_create(&writer, path, &options, error);
    recmap_writer_destroy(writer);
    return status;
}

/* A name that states another compression than the file's, or ends as an index or a selection does,
 * is refused before anything is written. */
static void test_names_that_contradict_the_compression_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *path;
        recmap_compression compression;
        bool is_valid;
    } names[] = {
        {"x.gz", RECMAP_COMPRESSION_AUTO, true},
        {"x.gzip", RECMAP_COMPRESSION_GZIP, true},
        {"x.gz", RECMAP_COMPRESSION_NONE, false},
        {"x.gz", RECMAP_COMPRESSION_ZLIB, false},
        {"x.zlib", RECMAP_COMPRESSION_AUTO, true},
        {"x.zlib", RECMAP_COMPRESSION_GZIP, false},
        {"x.bz2", RECMAP_COMPRESSION_AUTO, false},
        {"x.xz", RECMAP_COMPRESSION_GZIP, false},
        {"x.zst", RECMAP_COMPRESSION_NONE, false},
        {"x.lz4", RECMAP_COMPRESSION_AUTO, false},
        {"x.tfrecord", RECMAP_COMPRESSION_GZIP, true},
        {"x.gz.tfrecord", 0, true},
        {"x", (recmap_compression)4, false},
        {"x.rmx", RECMAP_COMPRESSION_AUTO, false},
        {"x.tgz", RECMAP_COMPRESSION_GZIP, false},
        {"x.zip", RECMAP_COMPRESSION_AUTO, false},
        {"x.zst-1-of-2", 0, false},
        {"x.gz-1-of-2", 1, false},
        {"x.gz-1-of-2.tfrecord", 1, true},
        {"x.gz-1-of-1", 1, false}, /* numbers may count from 1 */
        {"x.gz-1-of-", 1, true},
        {"x.rmv", RECMAP_COMPRESSION_GZIP, false},
        {"x.rmx.gz", RECMAP_COMPRESSION_AUTO, true},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = try_name(names[i].path, names[i].compression, &error);
        assert_int_equal(status, names[i].is_valid ? RECMAP_OK : RECMAP_INVALID);
        assert_int_equal(folder_count(), 0);
    }
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(try_name("x.gz", RECMAP_COMPRESSION_ZLIB, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "the name ends in .gz, but the compression is zlib");
    assert_string_equal(error.path, "x.gz");
    assert_int_equal(try_name("x.GZ-00000-of-00002", RECMAP_COMPRESSION_ZLIB, &error),
                     RECMAP_INVALID);
    assert_string_equal(error.message, "the name ends in .GZ, but the compression is zlib");
    assert_non_null(strstr(error.advice, ".gz for GZIP"));
    assert_int_equal(try_name("x.rmx", RECMAP_COMPRESSION_AUTO, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "is the name of an index or a selection, not of a shard");
    assert_string_equal(error.path, "x.rmx");
}

/* The first file in the folder whose name has this part. */
static void find_file(char path[256], const char *part) {
    DIR *folder = opendir(".");
    assert_non_null(folder);
    struct dirent *entry;
    while ((entry = readdir(folder)) && !strstr(entry->d_name, part)) {
    }
    assert_non_null(entry);
    snprintf(path, 256, "%s", entry->d_name);
    closedir(folder);
}

/* What a device or memory did to the file is noticed before the file gets its name. */
static void test_changed_while_written(void **state) {
    (void)state;
    struct rng random = {5};
    struct payloads payloads = make_payloads(5 << 20, 2000, &random);
    recmap_writer *writer = create("x.gz", RECMAP_COMPRESSION_AUTO, 1);
    add_all(writer, &payloads);
    char path[256];
    find_file(path, "x.gz.tmp-");
    static const uint8_t wrong[64] = {0};
    file_alter(path, 300000, wrong, sizeof wrong);
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_writer_finish(writer, &error), RECMAP_CORRUPT);
    assert_non_null(strstr(error.message, "the file cannot be read as it was written"));
    assert_non_null(strstr(error.path, "/x.gz"));
    recmap_writer_destroy(writer);
    assert_int_equal(folder_count(), 0);
    payloads_deinit(&payloads);
}

/* A child that writes more than any buffer holds, and then closes its copy. */
static int use_in_child(recmap_writer *writer) {
    static const uint8_t record[1 << 20];
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    for (int i = 0; i < 20 && status == RECMAP_OK; i++)
        status = recmap_writer_write(writer, record, sizeof record, &error);
    recmap_writer_destroy(writer);
    return status == RECMAP_INVALID ? 0 : 1;
}

static void test_a_forked_child_leaves_the_file_alone(void **state) {
    (void)state;
    struct rng random = {6};
    struct payloads payloads = make_payloads(6 << 20, 2000, &random);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_writer *writer = create("x.gz", RECMAP_COMPRESSION_AUTO, 3);
    add_all(writer, &payloads);
    pid_t process = fork();
    if (!process) _exit(use_in_child(writer));
    int end;
    assert_int_equal(waitpid(process, &end, 0), process);
    assert_int_equal(end, 0);
    ASSERT_OK(recmap_writer_finish(writer, &error), &error);
    recmap_writer_destroy(writer);
    write_shard("plain", RECMAP_COMPRESSION_AUTO, 1, &payloads);
    check_inflates("x.gz", COMPRESSION_GZIP, "plain");
    check_index("x.gz");
    payloads_deinit(&payloads);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(streams_and_indexes),
        TEST(records_larger_than_buffers_are_written),
        TEST(names_that_contradict_the_compression_are_refused),
        TEST(changed_while_written),
        TEST(a_forked_child_leaves_the_file_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
