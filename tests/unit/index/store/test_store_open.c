/* An open store: what happens to its file meanwhile, and several threads and processes that read
 * it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/map.h"
#include "fixture.h"
#include "support/index/store_file.h"
#include "support/rounds.h"

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
        store_values(opened, (enum store_table)table, &count);
        for (size_t i = 0; i < count; i++)
            if (store_check(opened, (enum store_table)table, i, NULL) != RECMAP_OK) return opened;
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(harm_to_the_file_while_open, enter, leave),
        cmocka_unit_test_setup_teardown(a_reader_beside_a_builder, enter, leave),
        cmocka_unit_test_setup_teardown(many_threads_check_at_once, enter, leave),
        cmocka_unit_test_setup_teardown(a_child_reads_on, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
