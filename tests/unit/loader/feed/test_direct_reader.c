/* Records read past the page cache: the same streams as mapped, the same errors, nothing left in
 * the cache. If the kernel has no ring, or takes no reads, the streams are the same without it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Compiled in here, so that its assertions also hold in every build: a finished batch has left the
 * reader's list. Otherwise only a sanitizer might see that the list has a destroyed batch. */
#undef NDEBUG
#include "base/os/ring.h"
static bool ring_take_or_hang(void **tag, int32_t *result, struct read_ring *ring, bool waits);
#define ring_take ring_take_or_hang
#include "dataset/batch/direct_reader.c"
#undef ring_take

#include <cmocka.h>

#include "base/memory/memory.h"
#include "dataset/batch/advise.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/random.h"
#include "support/sanitizers.h"
#include "unit/loader/feed/fixture.h"

enum { RECORDS = 900, SHARDS = 3, LARGE = 1500000 };

/* Empty ones, small ones, some of many pages, one larger than any read of several. */
static size_t size_of(uint64_t number) {
    struct rng random = {number + 1};
    if (number == RECORDS / 2) return LARGE;
    if (number % 10 == 0) return (size_t)rng_below(&random, 100000);
    return (size_t)rng_below(&random, number % 2 ? 9000 : 300);
}

static void fill_payload(uint8_t *payload, uint64_t number) {
    size_t size = size_of(number);
    for (size_t i = 0; i < size; i++) payload[i] = (uint8_t)(number * 7 + i * (number | 1));
}

static void write_shards(void) {
    static uint8_t payload[LARGE];
    const char *const *names = shard_names(SHARDS);
    for (uint64_t i = 0; i < SHARDS; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_writer *writer;
        ASSERT_OK(recmap_writer_create(&writer, names[i], NULL, &error), &error);
        for (uint64_t r = 0; r < RECORDS / SHARDS; r++) {
            uint64_t number = i * (RECORDS / SHARDS) + r;
            fill_payload(payload, number);
            ASSERT_OK(recmap_writer_write(writer, payload, size_of(number), &error), &error);
        }
        ASSERT_OK(recmap_writer_finish(writer, &error), &error);
        recmap_writer_destroy(writer);
    }
    index_build("set.rmx", NULL, names, SHARDS);
}

static bool holds(const recmap_record *record, uint64_t number) {
    static uint8_t due[LARGE];
    fill_payload(due, number);
    return record->number == number && record->size == size_of(number) &&
           !memcmp(record->data, due, record->size);
}

static recmap_dataset *open_with(recmap_access access, unsigned shard_limit) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.access = access;
    options.shard_limit = shard_limit;
    return dataset_open("set.rmx", &options);
}

static recmap_dataset *open_direct(unsigned shard_limit) {
    return open_with(RECMAP_ACCESS_DIRECT, shard_limit);
}

static recmap_loader *make(recmap_dataset *dataset, recmap_order *order, uint64_t batch_size,
                           unsigned thread_count) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = batch_size;
    options.thread_count = thread_count;
    return loader_open(dataset, order, &options);
}

/* Returns true if all that comes up to the end of the epoch is what the order has from `position`
 * on. */
static bool rest_is_right(recmap_loader *loader, const recmap_order *order, uint64_t epoch,
                          uint64_t position) {
    recmap_batch *batch = NULL;
    bool is_right = true;
    while (recmap_loader_next(&batch, loader, NULL) == RECMAP_OK && batch)
        for (size_t i = 0; i < recmap_batch_count(batch); i++, position++) {
            uint64_t number;
            is_right &= !recmap_order_at(&number, order, epoch, &position, 1, NULL) &&
                        holds(&recmap_batch_records(batch)[i], number);
        }
    recmap_batch_destroy(batch);
    return is_right && position == recmap_order_count(order);
}

/* Every kind of order, batches smaller and larger than what is under way, few files open. */
static void test_direct_reads_deliver_every_order(void **unused) {
    (void)unused;
    static const uint64_t sizes[] = {1, 7, 64, RECORDS};
    write_shards();
    for (int kind = 0; kind < 6; kind++)
        for (unsigned way = 0; way < 8; way++) {
            recmap_dataset *dataset = open_direct(way & 4 ? 1 : 0);
            recmap_order *order = order_of_kind(kind, RECORDS, kind + 1);
            recmap_loader *loader = make(dataset, order, sizes[way & 3], 1 + way % 3);
            for (uint64_t epoch = 0; epoch < 2; epoch++)
                assert_true(rest_is_right(loader, order, epoch, 0));
            loader_close(loader, order, dataset);
        }
}

/* By a map: to ask without one brings some of it in. */
static size_t resident_count(void) {
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    size_t count = 0;
    for (uint64_t number = 0; number < RECORDS; number++)
        count += dataset_is_resident(dataset, number);
    recmap_dataset_close(dataset);
    return count;
}

/* None of it goes through the page cache. */
static void test_cache_stays_cold(void **unused) {
    (void)unused;
    write_shards();
    for (size_t i = 0; i < SHARDS; i++) {
        int fd = open(shard_names(SHARDS)[i], O_RDONLY);
        assert_true(fd >= 0 && !fsync(fd));
        assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
        close(fd);
    }
    recmap_dataset *dataset = open_direct(0);
    size_t before = resident_count();
    if (before > RECORDS / 10 || !dataset_supports_direct(dataset)) {
        print_message("nothing can be dropped from the cache, or read past it: skipped\n");
        recmap_dataset_close(dataset);
        skip();
    }
    recmap_order *order = order_of_kind(0, RECORDS, 3);
    recmap_loader *loader = make(dataset, order, 16, 2);
    assert_true(rest_is_right(loader, order, 0, 0));
    assert_int_equal(resident_count(), before);
    loader_close(loader, order, dataset);
}

/* A batch that is finished is forgotten: it may be begun again, or be gone, whatever came of the
 * reads before, as many as can be under way or fewer or more. */
static void test_batches_used_again(void **unused) {
    (void)unused;
    enum { DEPTH_MAX = 8, ROUNDS = 24, STEP = RECORDS / DEPTH_MAX - 1 };
    write_shards();
    recmap_dataset *dataset = open_direct(0);
    if (!dataset_supports_direct(dataset)) {
        print_message("nothing can be read past the cache: skipped\n");
        recmap_dataset_close(dataset);
        skip();
    }
    for (unsigned depth = 1; depth < DEPTH_MAX; depth++) {
        struct direct_reader *reader = direct_reader_create(dataset, depth);
        recmap_batch *batch = NULL;
        recmap_error error = RECMAP_ERROR_INIT;
        for (size_t round = 0; round < ROUNDS; round++) {
            uint64_t numbers[DEPTH_MAX];
            size_t count = 1 + round % DEPTH_MAX;
            for (size_t i = 0; i < count; i++) numbers[i] = i * STEP + round; /* far apart */
            if (!batch) ASSERT_OK(recmap_batch_create(&batch, &error), &error);
            assert_true(direct_reader_start(reader, batch, numbers, count));
            assert_true(direct_reader_finish(reader, batch));
            for (size_t i = 0; i < count; i++)
                assert_true(holds(&recmap_batch_records(batch)[i], numbers[i]));
            if (round % 3) continue;
            recmap_batch_destroy(batch);
            batch = NULL;
        }
        recmap_batch_destroy(batch);
        direct_reader_destroy(reader);
    }
    recmap_dataset_close(dataset);
}

static recmap_batch *start_batch(struct direct_reader *reader, uint64_t first, size_t count) {
    enum { STEP = RECORDS / 16 };
    uint64_t numbers[8];
    recmap_batch *batch;
    ASSERT_OK(recmap_batch_create(&batch, NULL), NULL);
    for (size_t i = 0; i < count; i++) numbers[i] = (first + i * STEP) % RECORDS;
    assert_true(direct_reader_start(reader, batch, numbers, count));
    return batch;
}

/* Several batches are being read. Each is destroyed as soon as it is finished, while later ones
 * still have reads to submit: nothing may look at the destroyed one again. */
static void test_batches_destroyed_one_by_one(void **unused) {
    (void)unused;
    enum { BATCHES = 4, ROUNDS = 40, COUNT_MAX = 8, DEPTH_MAX = 20 };
    write_shards();
    recmap_dataset *dataset = open_direct(0);
    if (!dataset_supports_direct(dataset)) {
        print_message("direct reads are not possible here: skipped\n");
        recmap_dataset_close(dataset);
        skip();
    }
    for (unsigned depth = 1; depth < DEPTH_MAX; depth++) {
        struct direct_reader *reader = direct_reader_create(dataset, depth);
        recmap_batch *batches[BATCHES];
        for (size_t i = 0; i < BATCHES; i++) batches[i] = start_batch(reader, i, 1 + i % COUNT_MAX);
        for (size_t round = BATCHES; round < ROUNDS; round++) {
            recmap_batch **oldest = &batches[round % BATCHES];
            assert_true(direct_reader_finish(reader, *oldest));
            for (size_t i = 0; i < recmap_batch_count(*oldest); i++) {
                const recmap_record *record = &recmap_batch_records(*oldest)[i];
                assert_true(holds(record, record->number));
            }
            recmap_batch_destroy(*oldest);
            *oldest = start_batch(reader, round, 1 + round % COUNT_MAX);
        }
        for (size_t i = 0; i < BATCHES; i++) {
            recmap_batch *batch = batches[(ROUNDS + i) % BATCHES];
            assert_true(direct_reader_finish(reader, batch));
            recmap_batch_destroy(batch);
        }
        direct_reader_destroy(reader);
    }
    recmap_dataset_close(dataset);
}

/* Elsewhere, or away altogether, with reads under way. */
static void test_in_the_middle(void **unused) {
    (void)unused;
    write_shards();
    recmap_dataset *dataset = open_direct(0);
    recmap_order *order = order_of_kind(0, RECORDS, 4);
    for (uint64_t i = 0; i < 60; i++) {
        recmap_loader *loader = make(dataset, order, 1 + i % 50, 1 + (unsigned)(i % 3));
        recmap_batch *batch = NULL;
        for (uint64_t taken = 0; taken < i % 7; taken++) next_batch(&batch, loader);
        assert_int_equal(recmap_loader_seek(loader, i, RECORDS - 100 - i, NULL), RECMAP_OK);
        if (i % 2) assert_true(rest_is_right(loader, order, i, RECORDS - 100 - i));
        else if (i % 4) next_batch(&batch, loader);
        recmap_loader_destroy(loader);
        recmap_batch_destroy(batch); /* outlives the loader */
    }
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

/* A file that ends too early is an error at its place, and none any more when it is whole. */
static void test_a_cut_file_is_an_error_until_it_is_whole(void **unused) {
    (void)unused;
    write_shards();
    recmap_dataset *dataset = open_direct(0);
    recmap_order *order = order_of_kind(1, RECORDS, 0);
    recmap_loader *loader = make(dataset, order, 10, 2);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record last; /* opens the shard */
    ASSERT_OK(recmap_dataset_get(&last, dataset, RECORDS - 1, &error), &error);
    recmap_record_release(&last);
    const char *shard = shard_names(SHARDS)[SHARDS - 1];
    struct buffer whole = file_read(shard);
    assert_int_equal(truncate(shard, (off_t)whole.size - 20), 0);
    recmap_batch *batch = NULL;
    for (int i = 0; i < RECORDS / 10 - 1; i++) next_batch(&batch, loader);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(recmap_loader_next(&batch, loader, &error), RECMAP_IO);
        assert_non_null(strstr(error.path, shard));
    }
    int fd = open(shard, O_WRONLY);
    assert_int_equal(pwrite(fd, whole.data, whole.size, 0), whole.size);
    close(fd);
    assert_true(rest_is_right(loader, order, 0, RECORDS - 10));
    buffer_deinit(&whole);
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

/* Where a file that was cut gives nothing, what an earlier read left in the memory of the batch,
 * the very same records, does not stand in for it. */
static void test_cut_after_reading(void **unused) {
    (void)unused;
    enum { LAST = 20, EPOCHS = 30, TRIES = 8 };
    write_shards();
    recmap_dataset *dataset = open_direct(0);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *base = order_of_kind(1, LAST, 0), *order;
    ASSERT_OK(recmap_order_view_range(&order, base, RECORDS - LAST, LAST, 1, &error), &error);
    recmap_loader *loader = make(dataset, order, LAST, 2);
    recmap_batch *batch = NULL;
    for (int i = 0; i < 2 * EPOCHS; i++) next_batch(&batch, loader);
    const char *shard = shard_names(SHARDS)[SHARDS - 1];
    struct buffer whole = file_read(shard);
    assert_int_equal(truncate(shard, (off_t)whole.size / 2), 0);
    buffer_deinit(&whole);
    ASSERT_OK(recmap_loader_seek(loader, 0, 0, &error), &error);
    for (int i = 0; i < TRIES; i++)
        assert_int_equal(recmap_loader_next(&batch, loader, &error), RECMAP_IO);
    recmap_batch_destroy(batch);
    recmap_loader_destroy(loader);
    recmap_order_release(order);
    recmap_order_release(base);
    recmap_dataset_close(dataset);
}

/* From here on a system call fails in this process. */
static bool forbid(unsigned call, unsigned code) {
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof lines / sizeof *lines, lines};
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static recmap_access chosen_access(void) {
    recmap_dataset *dataset = open_with(RECMAP_ACCESS_AUTO, 0);
    recmap_access access = recmap_dataset_get_info(dataset)->access;
    recmap_dataset_close(dataset);
    return access;
}

/* Data larger than the memory are read directly if that is possible, others are mapped. */
static void test_auto_reads_large_data_directly(void **unused) {
    (void)unused;
    write_shards();
    recmap_dataset *dataset = open_direct(0);
    uint64_t size = recmap_dataset_get_info(dataset)->byte_count;
    recmap_access best = dataset_supports_direct(dataset) ? RECMAP_ACCESS_DIRECT
                                                          : RECMAP_ACCESS_MAP;
    recmap_dataset_close(dataset);
    assert_int_equal(chosen_access(), RECMAP_ACCESS_MAP);
    memory_force_size(size);
    assert_int_equal(chosen_access(), RECMAP_ACCESS_MAP);
    memory_force_size(size - 1);
    assert_int_equal(chosen_access(), best);
    dataset = open_with(RECMAP_ACCESS_AUTO, 0);
    recmap_order *order = order_of_kind(0, RECORDS, 9);
    recmap_loader *loader = make(dataset, order, 13, 2);
    assert_true(rest_is_right(loader, order, 0, 0));
    loader_close(loader, order, dataset);
    memory_force_size(0);
}

/* While the device hangs, no read completes. */
static atomic_bool hangs;

static bool ring_take_or_hang(void **tag, int32_t *result, struct read_ring *ring, bool waits) {
    if (hangs && !waits) return false;
    while (hangs) nanosleep(&(struct timespec){0, 1000000}, NULL);
    return ring_take(tag, result, ring, waits);
}

static void *take_batch(void *context) {
    recmap_batch *batch = NULL;
    next_batch(&batch, context);
    recmap_batch_destroy(batch);
    return NULL;
}

/* Sets `why` as soon as no read is pending, or one for which a caller waits: a loader reads before
 * it is asked. */
static void wait_for_pending(recmap_why *why, recmap_loader *loader, int has_pending) {
    enum { TRIES = 20000 };
    recmap_error error = RECMAP_ERROR_INIT;
    for (int tries = 0; tries < TRIES; tries++) {
        ASSERT_OK(recmap_loader_why(why, loader, &error), &error);
        bool is_waiting = why->cause == RECMAP_CAUSE_DISK;
        if (why->has_pending == has_pending && (is_waiting || !has_pending)) return;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    fail();
}

static void test_a_read_that_hangs_is_pending(void **unused) {
    (void)unused;
    write_shards();
    recmap_dataset *dataset = open_direct(0);
    if (!dataset_supports_direct(dataset)) {
        print_message("direct reads are not possible here: skipped\n");
        recmap_dataset_close(dataset);
        skip();
    }
    recmap_order *order = order_of_kind(0, RECORDS, 1);
    recmap_loader *loader = make(dataset, order, 1, 1);
    recmap_why why;
    pthread_t thread;
    hangs = true;
    assert_int_equal(pthread_create(&thread, NULL, take_batch, loader), 0);
    wait_for_pending(&why, loader, 1);
    hangs = false;
    assert_int_equal(pthread_join(thread, NULL), 0);
    const uint64_t position = 0;
    uint64_t number;
    struct index_place place;
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_order_at(&number, order, 0, &position, 1, &error), &error);
    ASSERT_OK(dataset_find_place(&place, dataset, number, &error), &error);
    assert_string_equal(why.name, shard_names(SHARDS)[place.shard_index]);
    assert_true(why.first_byte == place.offset && why.attempt == 1 && !why.last_error[0]);
    assert_true(why.last_byte == place.offset + place.frame_size - 1);
    assert_true(rest_is_right(loader, order, 0, 1));
    wait_for_pending(&why, loader, 0);
    loader_close(loader, order, dataset);
}

static int iterate_forbidden(unsigned call, unsigned code, bool may_read) {
    if (!forbid(call, code)) return 2;
    recmap_dataset *dataset = open_direct(0);
    recmap_order *order = order_of_kind(0, RECORDS, 9);
    bool is_right = dataset_supports_direct(dataset) == may_read;
    memory_force_size(1);
    is_right &= chosen_access() == (may_read ? RECMAP_ACCESS_DIRECT : RECMAP_ACCESS_MAP);
    recmap_loader *loader = make(dataset, order, 13, 2);
    is_right &= rest_is_right(loader, order, 0, 0);
    loader_close(loader, order, dataset);
    return is_right ? 0 : 1;
}

/* Containers forbid io_uring, old kernels have none, and a ring that was made may take no reads. */
static void test_forbidden_rings_fall_back(void **unused) {
    (void)unused;
    static const struct {
        unsigned call, code;
    } cases[] = {{__NR_io_uring_setup, EPERM},
                 {__NR_io_uring_setup, ENOSYS},
                 {__NR_io_uring_setup, ENOMEM},
                 {__NR_io_uring_enter, EPERM},
                 {__NR_io_uring_enter, EAGAIN}};
    write_shards();
    recmap_dataset *dataset = open_direct(0);
    bool may_read = dataset_supports_direct(dataset);
    recmap_dataset_close(dataset);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool has_ring = cases[i].call == __NR_io_uring_enter && may_read;
        pid_t child = fork();
        if (!child) _exit(iterate_forbidden(cases[i].call, cases[i].code, has_ring));
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 2) print_message("no call can be forbidden here: skipped\n");
        else assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* A child cannot use the loader, can make its own, and what it does disturbs nobody. The sanitizers
 * do not follow a fork of many threads. */
static void test_a_forked_child_makes_its_own_loader(void **unused) {
    (void)unused;
    if (has_thread_sanitizer || has_address_sanitizer) skip();
    write_shards();
    recmap_dataset *dataset = open_direct(0);
    recmap_order *order = order_of_kind(0, RECORDS, 6);
    recmap_loader *loader = make(dataset, order, 5, 2);
    recmap_batch *batch = NULL;
    for (uint64_t i = 0; i < 8; i++) {
        next_batch(&batch, loader);
        pid_t child = fork();
        if (!child) {
            bool is_right = recmap_loader_next(&batch, loader, NULL) == RECMAP_INVALID;
            recmap_loader_destroy(loader);
            recmap_loader *mine = make(dataset, order, 16, 2);
            is_right &= rest_is_right(mine, order, 0, 0);
            recmap_loader_destroy(mine);
            _exit(is_right ? 0 : 1);
        }
        next_batch(&batch, loader);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_true(rest_is_right(loader, order, 0, 80));
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

int main(void) {
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(test_##name, folder_enter_on_device, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(direct_reads_deliver_every_order),
        TEST(cache_stays_cold),
        TEST(batches_used_again),
        TEST(batches_destroyed_one_by_one),
        TEST(in_the_middle),
        TEST(a_cut_file_is_an_error_until_it_is_whole),
        TEST(cut_after_reading),
        TEST(auto_reads_large_data_directly),
        TEST(a_read_that_hangs_is_pending),
        TEST(forbidden_rings_fall_back),
        TEST(a_forked_child_makes_its_own_loader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
