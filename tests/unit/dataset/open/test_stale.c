/* Shards that are not what was indexed: changed, cut, replaced, gone. The right bytes come, or an
 * error that names the file. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/compress.h"
#include "support/shards/oracle.h"

enum { RECORDS = 100, SHARDS = 3 };

/* Shards of 100 records of 50 bytes, each byte telling record and generation. */
static void write_shard(const char *name, int generation) {
    struct buffer bytes = BUFFER_INIT;
    for (int i = 0; i < RECORDS; i++) {
        uint8_t payload[50];
        memset(payload, i + generation, sizeof payload);
        oracle_add_record(&bytes, payload, sizeof payload);
    }
    file_write(name, bytes.data, bytes.size);
    buffer_deinit(&bytes);
}

enum { FRAME = 66 };

static int enter(void **state) {
    if (folder_enter(state)) return -1;
    for (size_t i = 0; i < SHARDS; i++) write_shard(shard_names(SHARDS)[i], 0);
    index_build("set.rmx", NULL, shard_names(SHARDS), SHARDS);
    return 0;
}

static recmap_dataset *open_access(int access) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.access = (recmap_access)access;
    return dataset_open("set.rmx", &options);
}

/* Shard 1 cannot be read, by get nor gather, and the others can. */
static void assert_refused(recmap_status due, const char *message) {
    for (int access = 0; access < 2; access++) {
        recmap_dataset *dataset = open_access(access);
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record record = {.size = 99};
        assert_int_equal(recmap_dataset_get(&record, dataset, 150, &error), due);
        assert_string_equal(error.path, "s00001");
        assert_int_equal(error.record, 150);
        assert_non_null(strstr(error.message, message));
        assert_true(error.advice[0]);
        assert_int_equal(record.size, 99);
        recmap_batch *batch;
        ASSERT_OK(recmap_batch_create(&batch, &error), &error);
        uint64_t numbers[] = {250, 160, 20};
        recmap_error again = RECMAP_ERROR_INIT;
        assert_int_equal(recmap_dataset_gather(batch, dataset, numbers, 3, &again), due);
        assert_string_equal(again.path, "s00001");
        assert_int_equal(again.record, 160);
        assert_int_equal(recmap_batch_count(batch), 0);
        numbers[1] = 99;
        ASSERT_OK(recmap_dataset_gather(batch, dataset, numbers, 3, &error), &error);
        assert_int_equal(recmap_batch_records(batch)[0].data[0], 50);
        recmap_batch_destroy(batch);
        recmap_dataset_close(dataset);
    }
}

static recmap_report *verify(recmap_dataset **dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_report *report;
    *dataset = dataset_open("set.rmx", NULL);
    ASSERT_OK(recmap_dataset_verify(&report, *dataset, NULL, &error), &error);
    return report;
}

/* Verify has findings in shard 1 alone, and one about the whole of it, unless `reason` is NULL. */
static void assert_verify_names_shard(uint64_t good_count, const char *reason) {
    recmap_dataset *dataset;
    recmap_report *report = verify(&dataset);
    size_t whole_count = 0;
    assert_true(recmap_report_damage_count(report) > 0);
    for (size_t i = 0; i < recmap_report_damage_count(report); i++) {
        recmap_damage damage = recmap_report_damage(report, i);
        assert_int_equal(damage.shard_index, 1);
        assert_string_equal(damage.path, "s00001");
        if (damage.size) continue;
        assert_true(reason && strstr(damage.reason, reason));
        whole_count++;
    }
    assert_int_equal(whole_count, reason != NULL);
    assert_int_equal(recmap_report_record_count(report), good_count);
    recmap_report_destroy(report);
    recmap_dataset_close(dataset);
}

static void test_a_shard_of_another_size_is_stale(void **state) {
    (void)state;
    struct buffer bytes = file_read("s00001");
    oracle_add_record(&bytes, "more", 4);
    file_write("s00001", bytes.data, bytes.size);
    file_write("s00001", bytes.data, 3300);
    assert_refused(RECMAP_STALE, "it has 3300 bytes, it had 6600");
    assert_verify_names_shard(250, "3300 bytes");
    file_write("s00001", NULL, 0);
    assert_refused(RECMAP_STALE, "it has 0 bytes");
    assert_verify_names_shard(200, "0 bytes");
    buffer_deinit(&bytes);
}

/* Reads the record before the last of shard 1, and returns the status. */
static recmap_status read_near_end(int access, recmap_error *error) {
    recmap_dataset *dataset = open_access(access);
    recmap_record record;
    recmap_status status = recmap_dataset_get(&record, dataset, 198, error);
    if (status == RECMAP_OK) {
        assert_int_equal(record.data[0], 98);
        recmap_record_release(&record);
    }
    recmap_dataset_close(dataset);
    return status;
}

/* A record was added: those that were indexed stay readable, unless the last of them changed. */
static void test_a_grown_shard_keeps_its_indexed_records(void **state) {
    (void)state;
    struct buffer bytes = file_read("s00001");
    oracle_add_record(&bytes, "more", 4);
    file_write("s00001", bytes.data, bytes.size);
    recmap_error error = RECMAP_ERROR_INIT;
    for (int access = 0; access < 3; access++) ASSERT_OK(read_near_end(access, &error), &error);
    assert_verify_names_shard(300, "6620 bytes");
    bytes.data[6600 - 8] ^= 1;
    file_write("s00001", bytes.data, bytes.size);
    for (int access = 0; access < 3; access++) {
        assert_int_equal(read_near_end(access, &error), RECMAP_STALE);
        assert_string_equal(error.message,
                            "the shard changed since it was indexed: it has 6620 bytes, it had "
                            "6600, and its content differs");
        assert_non_null(strstr(error.advice, "restore the indexed file"));
    }
    buffer_deinit(&bytes);
}

static void test_other_content_and_time(void **state) {
    (void)state;
    int64_t time_ns = file_time("s00001");
    write_shard("s00001", 1);
    file_set_time("s00001", time_ns + 5);
    assert_refused(RECMAP_STALE, "its content differs");
    assert_verify_names_shard(200, "not the one that was indexed");
}

/* The same bytes at another time: a copy. */
static void test_same_content_at_another_time(void **state) {
    (void)state;
    file_set_time("s00001", file_time("s00001") - 1000000007);
    for (int access = 0; access < 2; access++) {
        recmap_dataset *dataset = open_access(access);
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record record;
        ASSERT_OK(recmap_dataset_get(&record, dataset, 150, &error), &error);
        assert_int_equal(record.data[0], 50);
        recmap_record_release(&record);
        recmap_dataset_close(dataset);
    }
    recmap_dataset *dataset;
    recmap_report *report = verify(&dataset);
    assert_int_equal(recmap_report_damage_count(report), 0);
    assert_int_equal(recmap_report_record_count(report), 300);
    recmap_report_destroy(report);
    recmap_dataset_close(dataset);
}

/* Nothing shows from outside: the CRC finds a flipped byte, and verify a record that was replaced
 * whole. */
static void test_other_content_at_the_same_time(void **state) {
    (void)state;
    file_alter("s00001", 50 * FRAME + 30, "\x77", 1);
    recmap_error error = RECMAP_ERROR_INIT;
    for (int access = 0; access < 2; access++) {
        recmap_dataset *dataset = open_access(access);
        recmap_record record;
        assert_int_equal(recmap_dataset_get(&record, dataset, 150, &error), RECMAP_CORRUPT);
        assert_string_equal(error.path, "s00001");
        assert_int_equal(error.record, 150);
        assert_int_equal(error.offset, 50 * FRAME);
        assert_non_null(strstr(error.message, "data CRC is 0x"));
        ASSERT_OK(recmap_dataset_get(&record, dataset, 151, &error), &error);
        recmap_record_release(&record);
        recmap_dataset_close(dataset);
    }
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.check = RECMAP_CHECK_HEADER;
    recmap_dataset *dataset = dataset_open("set.rmx", &options);
    recmap_record record;
    ASSERT_OK(recmap_dataset_get(&record, dataset, 150, &error), &error);
    recmap_record_release(&record);
    recmap_dataset_close(dataset);
    write_shard("other", 1);
    struct buffer other = file_read("other");
    file_alter("s00001", 50 * FRAME, other.data + 50 * FRAME, FRAME);
    assert_verify_names_shard(200, "not those that were indexed");
    buffer_deinit(&other);
}

/* A record of another length where one was: stale, not damaged. */
static void test_other_boundaries_at_the_same_time(void **state) {
    (void)state;
    struct buffer bytes = BUFFER_INIT;
    uint8_t payload[2 * 50 + 16] = {0};
    for (int i = 0; i < RECORDS / 2; i++) oracle_add_record(&bytes, payload, sizeof payload);
    assert_int_equal(bytes.size, RECORDS * FRAME);
    file_alter("s00001", 0, bytes.data, bytes.size);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record record;
    assert_int_equal(recmap_dataset_get(&record, dataset, 100, &error), RECMAP_STALE);
    assert_string_equal(error.path, "s00001");
    assert_int_equal(recmap_dataset_get(&record, dataset, 101, &error), RECMAP_STALE);
    recmap_dataset_close(dataset);
    assert_verify_names_shard(200, NULL);
    buffer_deinit(&bytes);
}

/* Reads all records of shard 1, and returns how many are damaged. All others must hold, and their
 * shard must be the indexed one. */
static size_t count_damaged(recmap_access access) {
    recmap_dataset *dataset = open_access((int)access);
    size_t damaged = 0;
    for (uint64_t number = RECORDS; number < 2 * (uint64_t)RECORDS; number++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record record;
        recmap_status status = recmap_dataset_get(&record, dataset, number, &error);
        if (status == RECMAP_OK) {
            assert_int_equal(record.data[0], number - RECORDS);
            recmap_record_release(&record);
            continue;
        }
        assert_int_equal(status, RECMAP_CORRUPT);
        assert_int_equal(error.record, number);
        damaged++;
    }
    recmap_dataset_close(dataset);
    return damaged;
}

/* Damage in a sampled record of a shard with another time, wherever it is: the other samples show
 * that the shard is the indexed one. So only records that it hits cannot be read. */
static void test_damage_in_sampled_records(void **state) {
    (void)state;
    struct buffer bytes = file_read("s00001");
    for (size_t i = 0; i < 4 * FRAME; i++) { /* records 48 and 52 are sampled */
        uint8_t changed = bytes.data[48 * FRAME + i] ^ (uint8_t)(1 + i % 255);
        file_alter("s00001", 48 * FRAME + i, &changed, 1);
        file_set_time("s00001", file_time("s00001") + 1000);
        assert_int_equal(count_damaged(i % 2 ? RECMAP_ACCESS_READ : RECMAP_ACCESS_MAP), 1);
        file_alter("s00001", 48 * FRAME + i, bytes.data + 48 * FRAME + i, 1);
    }
    static const uint8_t zeros[90 * FRAME];
    file_alter("s00001", 10 * FRAME, zeros, sizeof zeros);
    file_set_time("s00001", 5000);
    assert_int_equal(count_damaged(RECMAP_ACCESS_MAP), 90);
    assert_int_equal(count_damaged(RECMAP_ACCESS_READ), 90);
    buffer_deinit(&bytes);
}

/* A shard none of whose bytes are left, with the indexed or another time: it is damaged, not
 * another file, and the advice says that nothing of it can be read. */
static void test_an_unreadable_shard_is_damaged_not_stale(void **state) {
    (void)state;
    int64_t time = file_time("s00001");
    for (int other = 0; other < 4; other++) {
        uint8_t bytes[RECORDS * FRAME];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = other % 2 ? (uint8_t)(i * 7919 >> 3) : 0;
        file_write("s00001", bytes, sizeof bytes);
        file_set_time("s00001", time + (other / 2) * 1000);
        assert_int_equal(count_damaged(RECMAP_ACCESS_MAP), RECORDS);
        assert_int_equal(count_damaged(RECMAP_ACCESS_READ), RECORDS);
        assert_refused(RECMAP_CORRUPT, "");
        recmap_dataset *dataset = dataset_open("set.rmx", NULL);
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record record;
        assert_int_equal(recmap_dataset_get(&record, dataset, 150, &error), RECMAP_CORRUPT);
        assert_non_null(strstr(error.advice, "restore the whole file"));
        recmap_dataset_close(dataset);
    }
}

/* The start of a shard was damaged when it was indexed. A valid file that replaces it, of which no
 * indexed place can be read, starts with a record that was not indexed: it is another file. */
static void test_other_file_of_a_damaged_shard(void **state) {
    (void)state;
    static const uint8_t zeros[3 * FRAME];
    file_alter("s00001", 0, zeros, sizeof zeros);
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    index_build("set.rmx", &options, shard_names(SHARDS), SHARDS);
    struct buffer other = BUFFER_INIT;
    static const uint8_t payload[RECORDS * FRAME - 16];
    oracle_add_record(&other, payload, sizeof payload);
    file_write("s00001", other.data, other.size);
    for (int access = 0; access < 2; access++) {
        recmap_dataset *dataset = open_access(access);
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record record;
        assert_int_equal(recmap_dataset_get(&record, dataset, 150, &error), RECMAP_STALE);
        assert_string_equal(error.path, "s00001");
        recmap_dataset_close(dataset);
    }
    buffer_deinit(&other);
}

/* A shard written anew whose first records are the indexed ones, but whose later ones lie
 * elsewhere: no sample after them can be read, yet it is not damage. */
static void test_later_boundaries_differ(void **state) {
    (void)state;
    struct buffer bytes = file_read("s00001");
    for (size_t first = 1; first < RECORDS - 3; first += 7) {
        struct buffer other = BUFFER_INIT;
        uint8_t payload[3 * 50 + 2 * 16] = {0};
        buffer_add(&other, bytes.data, first * FRAME);
        while (other.size + sizeof payload + 16 <= bytes.size)
            oracle_add_record(&other, payload, sizeof payload);
        while (other.size < bytes.size) oracle_add_record(&other, payload, 50);
        assert_int_equal(other.size, bytes.size);
        file_write("s00001", other.data, other.size);
        file_set_time("s00001", 1000 + (int64_t)first);
        assert_refused(RECMAP_STALE, "its content differs");
        buffer_deinit(&other);
    }
    buffer_deinit(&bytes);
}

static void test_gone_or_replaced(void **state) {
    (void)state;
    assert_int_equal(unlink("s00001"), 0);
    assert_refused(RECMAP_IO, "No such file");
    assert_verify_names_shard(200, "No such file");
    assert_int_equal(mkfifo("s00001", 0777), 0);
    assert_refused(RECMAP_IO, "FIFO");
    assert_verify_names_shard(200, "FIFO");
    assert_int_equal(unlink("s00001"), 0);
    assert_int_equal(mkdir("s00001", 0777), 0);
    assert_refused(RECMAP_IO, "folder");
    assert_verify_names_shard(200, "folder");
    assert_int_equal(rmdir("s00001"), 0);
}

/* A link may take the place of a shard that was moved. What it leads to must be the shard. */
static void test_replaced_by_a_link(void **state) {
    (void)state;
    assert_int_equal(rename("s00001", "elsewhere"), 0);
    assert_int_equal(symlink("elsewhere", "s00001"), 0);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record record;
    ASSERT_OK(recmap_dataset_get(&record, dataset, 150, &error), &error);
    recmap_record_release(&record);
    recmap_dataset_close(dataset);
    write_shard("elsewhere", 100);
    file_set_time("elsewhere", 1000);
    assert_refused(RECMAP_STALE, "changed");
    assert_int_equal(unlink("elsewhere"), 0);
    assert_refused(RECMAP_IO, "No such file");
}

/* Two shards of one size that change places. */
static void test_swapped_shards_are_stale(void **state) {
    (void)state;
    write_shard("s00001", 100);
    file_set_time("s00001", 1000);
    file_set_time("s00000", 2000);
    index_build("set.rmx", NULL, shard_names(SHARDS), SHARDS);
    assert_int_equal(rename("s00000", "swap"), 0);
    assert_int_equal(rename("s00001", "s00000"), 0);
    assert_int_equal(rename("swap", "s00001"), 0);
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record record;
    assert_int_equal(recmap_dataset_get(&record, dataset, 0, &error), RECMAP_STALE);
    assert_string_equal(error.path, "s00000");
    assert_int_equal(recmap_dataset_get(&record, dataset, 100, &error), RECMAP_STALE);
    assert_string_equal(error.path, "s00001");
    recmap_dataset_close(dataset);
}

/* What was mapped or opened stays readable when its name goes. */
static void test_replaced_while_open(void **state) {
    (void)state;
    for (int access = 0; access < 2; access++) {
        recmap_dataset *dataset = open_access(access);
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record record;
        ASSERT_OK(recmap_dataset_get(&record, dataset, 100, &error), &error);
        recmap_record_release(&record);
        int64_t time_ns = file_time("s00001");
        write_shard("new", 9);
        assert_int_equal(rename("new", "s00001"), 0);
        ASSERT_OK(recmap_dataset_get(&record, dataset, 150, &error), &error);
        assert_int_equal(record.data[0], 50);
        recmap_record_release(&record);
        recmap_dataset_close(dataset);
        write_shard("s00001", 0);
        file_set_time("s00001", time_ns);
    }
}

/* With pread a file that is cut while it is open is an error for what is gone, and only for that.
 */
static void test_cut_while_open(void **state) {
    (void)state;
    recmap_dataset *dataset = open_access(RECMAP_ACCESS_READ);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record record;
    recmap_batch *batch;
    ASSERT_OK(recmap_batch_create(&batch, &error), &error);
    ASSERT_OK(recmap_dataset_get(&record, dataset, 100, &error), &error);
    recmap_record_release(&record);
    assert_int_equal(truncate("s00001", 50 * FRAME + 7), 0);
    ASSERT_OK(recmap_dataset_get(&record, dataset, 149, &error), &error);
    recmap_record_release(&record);
    assert_int_equal(recmap_dataset_get(&record, dataset, 150, &error), RECMAP_IO);
    assert_string_equal(error.path, "s00001");
    assert_int_equal(error.record, 150);
    ASSERT_OK(recmap_dataset_read(batch, dataset, 100, 50, &error), &error);
    assert_int_equal(recmap_dataset_read(batch, dataset, 140, 30, &error), RECMAP_IO);
    assert_int_equal(error.record, 150);
    assert_string_equal(error.path, "s00001");
    recmap_batch_destroy(batch);
    recmap_dataset_close(dataset);
}

/* A compressed shard of the same size and time: what was altered shows when it is inflated, or in
 * the CRC of the record. */
static void test_altered_compressed_shard(void **state) {
    (void)state;
    struct buffer bytes = file_read("s00001"), file = BUFFER_INIT;
    compress_gzip(&file, bytes.data, bytes.size);
    file_write("s00001", file.data, file.size);
    index_build("set.rmx", NULL, shard_names(SHARDS), SHARDS);
    for (int access = 0; access < 2; access++) {
        recmap_dataset *dataset = open_access(access);
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record record;
        ASSERT_OK(recmap_dataset_get(&record, dataset, 150, &error), &error);
        assert_int_equal(record.data[0], 50);
        recmap_record_release(&record);
        recmap_dataset_close(dataset);
    }
    enum { BEFORE_CONTENT = 10 + 5 }; /* the headers of member and block */
    file.data[BEFORE_CONTENT + 50 * FRAME + 30] ^= 1;
    file.data[BEFORE_CONTENT + 60 * FRAME + 30] ^= 1;
    file_alter("s00001", 0, file.data, file.size);
    assert_refused(RECMAP_CORRUPT, "inflate to other data than when they were indexed");
    file.data[BEFORE_CONTENT + 50 * FRAME + 30] ^= 1;
    file.data[BEFORE_CONTENT + 60 * FRAME + 30] ^= 1;
    file.data[10] ^= 6; /* the kind of the block */
    file_alter("s00001", 0, file.data, file.size);
    assert_refused(RECMAP_CORRUPT, "the gzip stream is damaged");
    file.data[10] ^= 6;
    file.data[file.size - 8] ^= 1; /* no record is hurt */
    file_alter("s00001", 0, file.data, file.size);
    assert_verify_names_shard(300, "the checksum of a compressed member does not match");
    bytes.data[50 * FRAME + 30] ^= 1;
    bytes.data[60 * FRAME + 30] ^= 1;
    file.size = 0;
    compress_gzip(&file, bytes.data, bytes.size);
    file_alter("s00001", 0, file.data, file.size);
    assert_refused(RECMAP_STALE, "its content differs"); /* its checksum is right: another file */
    buffer_deinit(&bytes);
    buffer_deinit(&file);
}

/* Of several bad records a batch names the first in file order, whatever is bad about it. */
static void test_batch_names_first_error(void **state) {
    (void)state;
    file_alter("s00000", 95 * FRAME + 20, "\x01\x02\x03", 3);
    assert_int_equal(unlink("s00001"), 0);
    for (int access = 0; access < 2; access++) {
        recmap_dataset *dataset = open_access(access);
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_batch *batch;
        ASSERT_OK(recmap_batch_create(&batch, &error), &error);
        assert_int_equal(recmap_dataset_read(batch, dataset, 90, 30, &error), RECMAP_CORRUPT);
        assert_int_equal(error.record, 95);
        assert_string_equal(error.path, "s00000");
        assert_int_equal(recmap_dataset_read(batch, dataset, 97, 30, &error), RECMAP_IO);
        assert_int_equal(error.record, 100);
        assert_int_equal(error.offset, 0);
        recmap_batch_destroy(batch);
        recmap_dataset_close(dataset);
    }
}

static void rename_shards(const char *format, const char *target_format) {
    for (int i = 0; i < SHARDS; i++) {
        char name[32], target[32];
        snprintf(name, sizeof name, format, i);
        snprintf(target, sizeof target, target_format, i);
        assert_int_equal(rename(name, target), 0);
    }
}

/* An index that is not with its shards fails when it is opened, unless it is only to be described.
 */
static void test_an_index_without_its_shards_does_not_open(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_dataset *dataset = NULL;
    recmap_record record;
    rename_shards("s%05d", "hidden%d");
    for (int access = 0; access <= RECMAP_ACCESS_AUTO; access++) {
        options.access = (recmap_access)access;
        assert_int_equal(recmap_dataset_open(&dataset, "set.rmx", &options, &error), RECMAP_IO);
        assert_null(dataset);
        assert_string_equal(error.path, "s00000");
        assert_non_null(strstr(error.message, "No such file"));
        assert_non_null(strstr(error.advice, "pass `--shards FOLDER`"));
    }
    options.allow_missing_shards = 1;
    dataset = dataset_open("set.rmx", &options);
    assert_int_equal(recmap_dataset_count(dataset), SHARDS * RECORDS);
    assert_int_equal(recmap_dataset_get(&record, dataset, 150, &error), RECMAP_IO);
    recmap_dataset_close(dataset);
    /* Any shard that is there shows that this is the right folder. */
    assert_int_equal(rename("hidden2", "s00002"), 0);
    dataset = dataset_open("set.rmx", NULL);
    assert_int_equal(recmap_dataset_get(&record, dataset, 0, &error), RECMAP_IO);
    ASSERT_OK(recmap_dataset_get(&record, dataset, 250, &error), &error);
    recmap_record_release(&record);
    recmap_dataset_close(dataset);
}

/* Only names that do not exist count as missing: anything else is an error of the first read. */
static void test_copied_to_other_shards(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_dataset *dataset = NULL;
    assert_int_equal(mkdir("other", 0777), 0);
    options.shards = "other";
    assert_int_equal(recmap_dataset_open(&dataset, "set.rmx", &options, &error), RECMAP_IO);
    char *folder = realpath("other", NULL), path[sizeof error.path];
    snprintf(path, sizeof path, "%s/s00000", folder);
    assert_string_equal(error.path, path);
    free(folder);
    assert_non_null(strstr(error.advice, "/other/s00000. Move it back"));
    assert_int_equal(mkdir("other/s00000", 0777), 0);
    dataset = dataset_open("set.rmx", &options);
    recmap_dataset_close(dataset);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(a_shard_of_another_size_is_stale),
        TEST(a_grown_shard_keeps_its_indexed_records),
        TEST(other_content_and_time),
        TEST(same_content_at_another_time),
        TEST(other_content_at_the_same_time),
        TEST(other_boundaries_at_the_same_time),
        TEST(damage_in_sampled_records),
        TEST(an_unreadable_shard_is_damaged_not_stale),
        TEST(other_file_of_a_damaged_shard),
        TEST(later_boundaries_differ),
        TEST(gone_or_replaced),
        TEST(replaced_by_a_link),
        TEST(swapped_shards_are_stale),
        TEST(replaced_while_open),
        TEST(cut_while_open),
        TEST(altered_compressed_shard),
        TEST(batch_names_first_error),
        TEST(an_index_without_its_shards_does_not_open),
        TEST(copied_to_other_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
