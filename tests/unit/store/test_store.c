/* The sealed store: what is put comes back, equal puts give equal bytes, and what happens to the
 * file, to the disk and to the limits of the process ends in a stated error. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "helpers/store_file.h"
#include "os/map.h"
#include "store/seal.h"
#include "support/rounds.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
static const bool is_sanitized = true;
#else
static const bool is_sanitized = false;
#endif
#else
static const bool is_sanitized = false;
#endif

static const char *program;
static char folder[64];
static char path[96];

static int enter(void **state) {
    (void)state;
    const char *base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(folder, sizeof folder, "%s/recmap-store-XXXXXX", base);
    snprintf(path, sizeof path, "%s/index.rmx", mkdtemp(folder) ? folder : "");
    return folder[0] ? 0 : -1;
}

static int leave(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails if files are left over */
}

static void expect_ok(recmap_status status, const recmap_error *error) {
    if (status != RECMAP_OK) fail_msg("%s: %s", recmap_status_name(status), error->message);
}

static struct store *open_store(const struct store_options *options) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store *opened = NULL;
    expect_ok(store_open(&opened, path, options, &error), &error);
    return opened;
}

static recmap_error expect_refused(const struct store_options *options, recmap_status expected) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store *opened = NULL;
    assert_int_equal(store_open(&opened, path, options, &error), expected);
    assert_null(opened);
    assert_int_equal(error.status, expected);
    return error;
}

static void expect_sample(struct store *opened) {
    static uint8_t expected[SAMPLE_VALUE_MAX];
    recmap_error error = RECMAP_ERROR_INIT;
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        size_t count;
        const struct store_value *values = store_values(opened, (store_table)table, &count);
        assert_int_equal(count, sample_count((store_table)table));
        for (size_t i = 0; i < count; i++) {
            struct store_key key = sample_key((store_table)table, i);
            size_t size = sample_value(expected, (store_table)table, i);
            assert_int_equal(values[i].key.chunk, key.chunk);
            assert_int_equal(values[i].key.series, key.series);
            assert_int_equal(values[i].size, size);
            expect_ok(store_check(opened, (store_table)table, i, &error), &error);
            assert_memory_equal(values[i].data, expected, size);
        }
    }
}

static void values_come_back(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    sample_write(path);
    for (int mode = 0; mode < 4; mode++) {
        struct store_options options = {.check_all = mode & 1, .in_memory = mode & 2};
        struct store *opened = open_store(&options);
        expect_sample(opened);
        assert_string_equal(store_path(opened), path);
        struct stat stat_now;
        assert_int_equal(stat(path, &stat_now), 0);
        assert_int_equal(store_size(opened), stat_now.st_size);
        assert_true(store_intact(opened));
        expect_ok(store_check_all(opened, &error), &error);
        store_close(opened);
    }
    store_close(NULL);
}

static void write_empty_store(void) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store_writer *writer;
    expect_ok(store_writer_create(&writer, path, &error), &error);
    expect_ok(store_writer_finish(writer, NULL, NULL, &error), &error);
    store_writer_destroy(writer);
}

static void a_store_may_be_empty(void **state) {
    (void)state;
    write_empty_store();
    struct store *opened = open_store(NULL);
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        size_t count = 1;
        store_values(opened, (store_table)table, &count);
        assert_int_equal(count, 0);
    }
    assert_true(store_intact(opened));
    store_close(opened);
}

static void keys_must_ascend(void **state) {
    (void)state;
    static const struct store_key bad[] = {{5, 7}, {5, 6}, {4, 9}};
    for (size_t i = 0; i < 3; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        struct store_writer *writer;
        struct store_key first = {5, 7}, other = {0, 0};
        expect_ok(store_writer_create(&writer, path, &error), &error);
        expect_ok(store_writer_put(writer, STORE_IDS, first, "a", 1, &error), &error);
        expect_ok(store_writer_put(writer, STORE_COLUMNS, other, "b", 1, &error), &error);
        assert_int_equal(store_writer_put(writer, STORE_IDS, bad[i], "c", 1, &error),
                         RECMAP_INVALID);
        assert_string_equal(error.message, "keys of table ids must ascend");
        struct store_key last = {9, 9};
        assert_int_equal(store_writer_put(writer, STORE_IDS, last, "d", 1, &error), RECMAP_INVALID);
        assert_int_equal(store_writer_finish(writer, NULL, NULL, &error), RECMAP_INVALID);
        store_writer_destroy(writer);
    }
}

static void values_have_a_limit(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    struct store_writer *writer;
    struct store_key key = {0, 0};
    expect_ok(store_writer_create(&writer, path, &error), &error);
    assert_int_equal(store_writer_put(writer, STORE_IDS, key, "", STORE_VALUE_LIMIT + 1, &error),
                     RECMAP_INVALID);
    assert_string_equal(error.message,
                        "a value of 1073741825 bytes is over the limit of 1073741824");
    store_writer_destroy(writer);
    store_writer_destroy(NULL);
}

static recmap_status say_no(void *context, recmap_error *error) {
    struct stat now;
    assert_int_equal(stat(context, &now), 0);
    error->status = RECMAP_MISMATCH;
    return RECMAP_MISMATCH;
}

static void nothing_is_left_of_an_unfinished_store(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    sample_write(path);
    for (int finish = 0; finish < 2; finish++) {
        struct store_writer *writer;
        struct store_key key = {0, 0};
        expect_ok(store_writer_create(&writer, path, &error), &error);
        expect_ok(store_writer_put(writer, STORE_IDS, key, "a", 1, &error), &error);
        if (finish)
            assert_int_equal(store_writer_finish(writer, say_no, path, &error), RECMAP_MISMATCH);
        store_writer_destroy(writer);
        struct store *opened = open_store(NULL);
        expect_sample(opened);
        store_close(opened);
    }
}

/* Values of many sizes over all tables: some transactions, trees of several levels. */
static void put_many(struct store_writer *writer) {
    enum { LARGEST = 3 << 20 };
    uint8_t *bytes = malloc(LARGEST);
    assert_non_null(bytes);
    uint64_t random = 1;
    for (uint64_t i = 0; i < 5000 * STORE_TABLE_COUNT; i++) {
        store_table table = (store_table)(i % STORE_TABLE_COUNT);
        struct store_key key = {i, (uint32_t)(i * 7)};
        size_t size = i % 500 == 0 ? LARGEST : random_below(&random, i % 50 ? 60 : 9000);
        memset(bytes, (int)i, size);
        assert_int_equal(store_writer_put(writer, table, key, bytes, size, NULL), RECMAP_OK);
    }
    free(bytes);
}

/* What `program --build PATH` does. */
static int build(const char *target) {
    struct store_writer *writer;
    if (store_writer_create(&writer, target, NULL) != RECMAP_OK) return 1;
    put_many(writer);
    recmap_status status = store_writer_finish(writer, NULL, NULL, NULL);
    store_writer_destroy(writer);
    return status != RECMAP_OK;
}

static void build_in_a_process(const char *target, const char *perturb) {
    pid_t child = fork();
    if (child == 0) {
        setenv("MALLOC_PERTURB_", perturb, 1);
        execl(program, program, "--build", target, (char *)NULL);
        _exit(127);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

static void same_puts_give_same_bytes(void **state) {
    (void)state;
    char other[128];
    snprintf(other, sizeof other, "%s/another-name", folder);
    /* Two processes: other addresses, other stale memory. */
    build_in_a_process(path, "1");
    build_in_a_process(other, "202");
    struct store_file a = file_load(path), b = file_load(other);
    unlink(other);
    assert_true(a.size > 100 << 20);
    assert_int_equal(a.size, b.size);
    assert_int_equal(memcmp(a.bytes, b.bytes, a.size), 0);
    file_deinit(&a);
    file_deinit(&b);
    struct store *opened = open_store(NULL);
    recmap_error error = RECMAP_ERROR_INIT;
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        size_t count;
        const struct store_value *values = store_values(opened, (store_table)table, &count);
        assert_int_equal(count, 5000);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(values[i].key.chunk, i * STORE_TABLE_COUNT + (size_t)table);
            expect_ok(store_check(opened, (store_table)table, i, &error), &error);
        }
    }
    store_close(opened);
}

/* Flips one byte of a value. */
static void flip(uint64_t offset) {
    struct store_file file = file_load(path);
    file.bytes[offset] ^= 0x40;
    file_save(path, file.bytes, file.size);
    file_deinit(&file);
}

/* Flips each byte of a value and its prefix in the file, one at a time. Reading that value reports
 * it, again and again; other values stay readable; and a complete check finds it too. */
static void every_byte_of_a_value_counts(void **state) {
    (void)state;
    sample_write(path);
    struct store *opened = open_store(NULL);
    size_t count;
    const struct store_value *value = &store_values(opened, STORE_OFFSETS, &count)[0];
    assert_int_equal((uintptr_t)value->data % 32, 0);
    struct store_file file = file_load(path);
    uint64_t offset = 0;
    while (memcmp(file.bytes + offset, value->data - VALUE_PREFIX_SIZE, VALUE_PREFIX_SIZE + 64))
        offset++;
    offset += VALUE_PREFIX_SIZE;
    file_deinit(&file);
    store_close(opened);
    for (int at = -VALUE_PREFIX_SIZE; at < 200; at++) {
        recmap_error error = RECMAP_ERROR_INIT;
        flip(offset + (uint64_t)(int64_t)at);
        opened = open_store(NULL);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(store_check(opened, STORE_OFFSETS, 0, &error), RECMAP_CORRUPT);
            assert_string_equal(error.message,
                                "value 2.0 of table offsets does not match its hash");
            assert_string_equal(error.path, path);
            assert_int_equal(error.offset, offset);
        }
        expect_ok(store_check(opened, STORE_OFFSETS, 1, &error), &error);
        assert_int_equal(store_check_all(opened, &error), RECMAP_CORRUPT);
        store_close(opened);
        struct store_options options = {.check_all = true};
        error = expect_refused(&options, RECMAP_CORRUPT);
        assert_string_equal(error.message, "the hash of the file is not the one in its seal");
        flip(offset + (uint64_t)(int64_t)at);
    }
}

/* Exchanges the runs of pages of two large values. */
static void exchange(struct store_file *file, store_table a, size_t i, store_table b, size_t j) {
    uint8_t *first = node_of(root_of(file, a), i) + NODE_LARGE_PAGE;
    uint8_t *second = node_of(root_of(file, b), j) + NODE_LARGE_PAGE;
    uint64_t page = get64(first);
    put64(first, get64(second));
    put64(second, page);
}

/* Values of one size under each other's keys: their own hashes are right, their place is not. */
static void a_value_belongs_to_its_table_and_key(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    struct store_writer *writer;
    expect_ok(store_writer_create(&writer, path, &error), &error);
    uint8_t bytes[10000];
    for (uint32_t i = 0; i < 6; i++) {
        struct store_key key = {7, i % 3};
        memset(bytes, (int)i, sizeof bytes);
        store_table table = i < 3 ? STORE_OFFSETS : STORE_IDS;
        expect_ok(store_writer_put(writer, table, key, bytes, sizeof bytes, &error), &error);
    }
    expect_ok(store_writer_finish(writer, NULL, NULL, &error), &error);
    store_writer_destroy(writer);
    struct store_file file = file_load(path);
    exchange(&file, STORE_OFFSETS, 0, STORE_OFFSETS, 1);
    exchange(&file, STORE_OFFSETS, 2, STORE_IDS, 2);
    file_save(path, file.bytes, file.size);
    file_deinit(&file);
    struct store *opened = open_store(NULL);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(store_check(opened, STORE_OFFSETS, i, &error), RECMAP_CORRUPT);
    expect_ok(store_check(opened, STORE_IDS, 0, &error), &error);
    expect_ok(store_check(opened, STORE_IDS, 1, &error), &error);
    assert_int_equal(store_check(opened, STORE_IDS, 2, &error), RECMAP_CORRUPT);
    store_close(opened);
}

static void other_kinds_of_files_are_refused(void **state) {
    (void)state;
    recmap_error error;
    alarm(5);
    error = expect_refused(NULL, RECMAP_IO);
    assert_int_equal(error.system_errno, ENOENT);
    assert_int_equal(mkdir(path, 0777), 0);
    error = expect_refused(NULL, RECMAP_IO);
    assert_string_equal(error.message, "is a folder, not a regular file");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0666), 0);
    error = expect_refused(NULL, RECMAP_IO);
    assert_string_equal(error.message, "is a FIFO, not a regular file");
    unlink(path);
    assert_int_equal(symlink("/dev/zero", path), 0);
    error = expect_refused(NULL, RECMAP_IO);
    assert_string_equal(error.message, "is a device, not a regular file");
    alarm(0);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A file of 1 TiB that is nearly all hole, forged so that all fits. */
static void a_huge_sparse_file_takes_no_time(void **state) {
    (void)state;
    sample_write(path);
    struct store_file file = file_load(path);
    uint64_t page_size = page_size_of(&file), count = ((uint64_t)1 << 40) / page_size;
    uint8_t seal[SEAL_SIZE];
    put64(newer_meta(&file) + META_LAST_PAGE, count - 1);
    struct seal_fields fields = {.page_size = (uint32_t)page_size,
                                 .page_count = count,
                                 .file_size = count * page_size + SEAL_SIZE};
    seal_encode(seal, &fields);
    int fd = open(path, O_WRONLY);
    assert_true(pwrite(fd, file.bytes, file.size - SEAL_SIZE, 0) > 0);
    bool is_possible = pwrite(fd, seal, SEAL_SIZE, (off_t)(count * page_size)) == SEAL_SIZE;
    close(fd);
    file_deinit(&file);
    if (!is_possible) skip();
    double start = seconds_now();
    recmap_error error = RECMAP_ERROR_INIT;
    struct store *opened = NULL;
    recmap_status status = store_open(&opened, path, NULL, &error);
    /* A sanitizer may have left no piece of address space that is large enough. */
    if (is_sanitized && status == RECMAP_NO_MEMORY) skip();
    expect_ok(status, &error);
    assert_true(seconds_now() - start < 1);
    expect_sample(opened);
    store_close(opened);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (!is_sanitized) assert_true(usage.ru_maxrss < 700 << 10);
}

/* What is done to the file while a store is open. */
static void replace_file(void) {
    char other[128];
    snprintf(other, sizeof other, "%s/new", folder);
    file_save(other, "other", 5);
    assert_int_equal(rename(other, path), 0);
}

static void overwrite_file(void) {
    int fd = open(path, O_RDWR);
    struct stat now;
    assert_int_equal(fstat(fd, &now), 0);
    static const uint8_t rubbish[4096] = {0x5a};
    for (off_t at = 0; at < now.st_size; at += (off_t)sizeof rubbish)
        assert_true(pwrite(fd, rubbish, sizeof rubbish, at) > 0);
    close(fd);
}

static void cut_file(void) {
    assert_int_equal(truncate(path, 8192), 0);
}

static void remove_file(void) {
    unlink(path);
}

typedef void (*harm_fn)(void);

/* Changes the file while it is open. A store that was read into memory does not notice; otherwise
 * every value is refused, and truncation is told apart from changed bytes. */
static void harm_while_open(harm_fn harm, bool in_memory, bool expect_harm) {
    recmap_error error = RECMAP_ERROR_INIT;
    sample_write(path);
    struct store_options options = {.in_memory = in_memory};
    struct store *opened = open_store(&options);
    harm();
    if (!expect_harm) {
        expect_sample(opened);
        store_close(opened);
        return;
    }
    size_t refused = 0, count;
    store_values(opened, STORE_OFFSETS, &count);
    for (size_t i = 0; i < count; i++)
        refused += store_check(opened, STORE_OFFSETS, i, &error) != RECMAP_OK;
    assert_int_equal(refused, count);
    assert_int_equal(error.status, RECMAP_CORRUPT);
    if (harm == cut_file) {
        assert_false(store_intact(opened));
        assert_string_equal(error.message, "the index was cut short while it was open");
        assert_int_equal(store_check_all(opened, &error), RECMAP_IO);
    } else {
        assert_true(store_intact(opened));
        assert_int_equal(store_check_all(opened, &error), RECMAP_CORRUPT);
    }
    store_close(opened);
}

static void harm_to_the_file_while_open(void **state) {
    (void)state;
    static const harm_fn harms[] = {replace_file, remove_file, cut_file, overwrite_file};
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t i = 0; i < 4; i++) {
        harm_while_open(harms[i], true, false);
        if (i < 2) harm_while_open(harms[i], false, false);
    }
    /* In a child, since the guard stays. */
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        expect_ok(guard_install(&error), &error);
        for (size_t i = 0; i < 4; i++) harm_while_open(harms[i], false, i >= 2);
        _exit(0);
    }
    int result;
    waitpid(child, &result, 0);
    assert_int_equal(result, 0);
}

static void *replace_again_and_again(void *stop) {
    while (!atomic_load((atomic_bool *)stop)) {
        sample_write(path);
        write_empty_store();
    }
    return NULL;
}

/* Never must the checks be of one file and the values of another. */
static void a_reader_beside_a_builder(void **state) {
    (void)state;
    atomic_bool stop = false;
    pthread_t builder;
    sample_write(path);
    pthread_create(&builder, NULL, replace_again_and_again, &stop);
    for (unsigned i = 0; i < some_rounds(500); i++) {
        size_t count;
        struct store *opened = open_store(NULL);
        store_values(opened, STORE_MANIFEST, &count);
        if (count) expect_sample(opened);
        store_close(opened);
    }
    atomic_store(&stop, true);
    pthread_join(builder, NULL);
}

static void *check_everything(void *opened) {
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        size_t count;
        store_values(opened, (store_table)table, &count);
        for (size_t i = 0; i < count; i++)
            if (store_check(opened, (store_table)table, i, NULL) != RECMAP_OK) return opened;
    }
    return NULL;
}

static void many_threads_check_at_once(void **state) {
    (void)state;
    sample_write(path);
    struct store *opened = open_store(NULL);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, check_everything, opened);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    store_close(opened);
}

static void a_child_reads_on(void **state) {
    (void)state;
    sample_write(path);
    struct store *opened = open_store(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool is_right = check_everything(opened) == NULL;
        store_close(opened);
        _exit(!is_right);
    }
    int result;
    waitpid(child, &result, 0);
    assert_int_equal(result, 0);
    expect_sample(opened);
    store_close(opened);
}

/* Builds until an error or the end; the error must say which limit was met. */
static int build_to_error(int expected_errno) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store_writer *writer = NULL;
    static uint8_t bytes[100000];
    recmap_status status = store_writer_create(&writer, path, &error);
    for (uint64_t i = 0; status == RECMAP_OK && i < 2000; i++) {
        struct store_key key = {i, 0};
        status = store_writer_put(writer, STORE_OFFSETS, key, bytes, sizeof bytes, &error);
    }
    if (status == RECMAP_OK) status = store_writer_finish(writer, NULL, NULL, &error);
    store_writer_destroy(writer);
    if (status == RECMAP_OK) return 10;
    if (error.system_errno != expected_errno) {
        fprintf(stderr, "%s: errno %d, expected %d\n", error.message, error.system_errno,
                expected_errno);
        return 11;
    }
    return strncmp(error.path, path, strlen(path)) || !error.advice[0] ? 12 : 0;
}

static int in_child(int (*run)(uint64_t), uint64_t argument) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(run(argument));
    }
    int result;
    waitpid(child, &result, 0);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

static int limit_file_size(uint64_t size) {
    struct rlimit limit = {size, size};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    return build_to_error(EFBIG);
}

static void a_limit_of_file_size_is_named(void **state) {
    (void)state;
    sample_write(path);
    static const uint64_t sizes[] = {0,        100,      8191,     8192,    12288,
                                     65536,    100001,   1000000,  5000000, 33 << 20,
                                     40000001, 66 << 20, 150 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_int_equal(in_child(limit_file_size, sizes[i]), 0);
    struct store *opened = open_store(NULL);
    expect_sample(opened);
    store_close(opened);
}

/* A file system of its own for the child alone, where that is allowed. */
static int fill_disk(uint64_t size) {
    char options[64];
    snprintf(options, sizeof options, "size=%llu", (unsigned long long)size);
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", folder, "tmpfs", 0, options))
        return 77;
    int result = build_to_error(ENOSPC);
    return rmdir(path) && errno == ENOENT ? result : 13;
}

static void a_full_disk_is_named(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 32; i++) {
        int result = in_child(fill_disk, 65536 + i * 6000000);
        if (result == 77) skip();
        assert_int_equal(result, 0);
    }
}

/* Address space beyond what the process has now. */
static bool limit_memory(uint64_t extra) {
    FILE *stream = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    if (!stream || fscanf(stream, "%lu", &pages) != 1) return false;
    fclose(stream);
    uint64_t size = pages * (uint64_t)sysconf(_SC_PAGESIZE) + extra;
    struct rlimit limit = {size, size};
    return setrlimit(RLIMIT_AS, &limit) == 0;
}

static int write_and_read(uint64_t size) {
    struct store *opened = NULL;
    if (!limit_memory(size)) return 77;
    sample_write(path);
    recmap_status status = store_open(&opened, path, NULL, NULL);
    store_close(opened);
    return status != RECMAP_OK;
}

static int read_too_much(uint64_t size) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store *opened = NULL;
    struct store_options options = {.in_memory = true};
    if (!limit_memory(size)) return 77;
    if (store_open(&opened, path, NULL, &error) != RECMAP_NO_MEMORY || !error.advice[0]) return 1;
    if (strcmp(error.message, "cannot map the file: Cannot allocate memory")) return 2;
    if (store_open(&opened, path, &options, &error) != RECMAP_NO_MEMORY) return 3;
    return strcmp(error.path, path) || !error.advice[0] ? 4 : 0;
}

static void limits_of_address_space(void **state) {
    (void)state;
    if (is_sanitized) skip();
    assert_int_equal(in_child(write_and_read, 48 << 20), 0);
    assert_int_equal(build(path), 0);
    assert_int_equal(in_child(read_too_much, 32 << 20), 0);
}

int main(int count, char **arguments) {
    if (count == 3 && !strcmp(arguments[1], "--build")) return build(arguments[2]);
    program = arguments[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_come_back, enter, leave),
        cmocka_unit_test_setup_teardown(a_store_may_be_empty, enter, leave),
        cmocka_unit_test_setup_teardown(keys_must_ascend, enter, leave),
        cmocka_unit_test_setup_teardown(values_have_a_limit, enter, leave),
        cmocka_unit_test_setup_teardown(nothing_is_left_of_an_unfinished_store, enter, leave),
        cmocka_unit_test_setup_teardown(same_puts_give_same_bytes, enter, leave),
        cmocka_unit_test_setup_teardown(every_byte_of_a_value_counts, enter, leave),
        cmocka_unit_test_setup_teardown(a_value_belongs_to_its_table_and_key, enter, leave),
        cmocka_unit_test_setup_teardown(other_kinds_of_files_are_refused, enter, leave),
        cmocka_unit_test_setup_teardown(a_huge_sparse_file_takes_no_time, enter, leave),
        cmocka_unit_test_setup_teardown(harm_to_the_file_while_open, enter, leave),
        cmocka_unit_test_setup_teardown(a_reader_beside_a_builder, enter, leave),
        cmocka_unit_test_setup_teardown(many_threads_check_at_once, enter, leave),
        cmocka_unit_test_setup_teardown(a_child_reads_on, enter, leave),
        cmocka_unit_test_setup_teardown(a_limit_of_file_size_is_named, enter, leave),
        cmocka_unit_test_setup_teardown(a_full_disk_is_named, enter, leave),
        cmocka_unit_test_setup_teardown(limits_of_address_space, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
