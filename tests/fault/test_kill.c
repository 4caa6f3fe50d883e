/* A build is killed: before and after every call that it makes, and at random moments. Afterwards
 * there is the old index or the new one, byte for byte; the next build succeeds, and then no
 * temporary file is left. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"
#include "fault/interpose.h"

static struct fixture data;

/* A build or a writer, killed at a call. */
struct killing {
    bool append;
    const struct writing *writing;
    uint64_t at;
    enum call_fault when;
};

static const char *build(bool append, unsigned thread_count) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = append ? fixture_append(&data, &error)
                                  : fixture_rebuild(&data, thread_count, &error);
    return status == RECMAP_OK ? NULL : case_says("%s", error.message);
}

static const char *build_until_killed(void *context, size_t number) {
    const struct killing *killing = context;
    struct call_plan plan = {.kinds = CALL_ALL_FILES, .at = killing->at, .fault = killing->when};
    (void)number;
    interpose_start(&plan);
    const char *wrong = build(killing->append, 1);
    interpose_stop();
    return wrong;
}

static const char *check_index(bool must_be_new) {
    bool is_new = file_bytes_equal(&data.new_index, data.index);
    if (is_new) return NULL;
    if (must_be_new) return "the index is not the new one";
    return file_bytes_equal(&data.old_index, data.index)
               ? NULL
               : "the index is neither the old one nor the new one";
}

/* After a build was killed; `append` is how the next one builds. */
static const char *check_after(bool append) {
    const char *wrong = check_index(false);
    if (wrong) return wrong;
    bool is_new = !check_index(true);
    /* What is in the index already cannot be appended again. */
    wrong = build(append && !is_new, 1);
    return wrong ? wrong : fixture_check(&data, false, true);
}

static const char *kill_at_call(void *context, size_t number) {
    struct killing killing = *(struct killing *)context;
    killing.at = number / 2 + 1;
    killing.when = number % 2 ? FAULT_KILL_AFTER : FAULT_KILL_BEFORE;
    fixture_reset(&data);
    if (child_run(build_until_killed, &killing, number) != CHILD_KILLED)
        return "the build was not killed";
    return check_after(killing.append);
}

/* A killed process has nothing to tell a sanitizer, and what is read after it is read in many
 * cases. */
static size_t step_between_cases(void) {
    return test_is_sanitized() && !test_is_long() ? 3 : 1;
}

static void sweep(const char *name, bool append) {
    struct killing none = {.append = append};
    struct call_plan plan = {.kinds = CALL_ALL_FILES};
    fixture_reset(&data);
    interpose_start(&plan);
    assert_null(build(append, 1));
    uint64_t count = interpose_stop();
    assert_int_equal(cases_run(name, 2 * count, step_between_cases(), kill_at_call, &none), 0);
}

static void test_every_call_of_a_build(void **state) {
    (void)state;
    sweep("kill, rebuild", false);
}

static void test_every_call_of_an_append(void **state) {
    (void)state;
    sweep("kill, append", true);
}

/* A writer with an index: the shard is whole or not there, and no index is without it. */
struct writing {
    recmap_compression compression;
    struct file_bytes shard; /* when it is whole */
};

static char written[PATH_LIMIT], indexed[PATH_LIMIT];

static const char *write_both(const struct writing *writing) {
    uint8_t bytes[PAYLOAD_MAX];
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_writer *writer = NULL;
    recmap_index_options index = fixture_options();
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.index_path = indexed;
    options.index = &index;
    options.compression = writing->compression;
    options.thread_count = 1; /* only calls of this thread are counted */
    recmap_status status = recmap_writer_create(&writer, written, &options, &error);
    for (uint64_t i = 0; status == RECMAP_OK && i < FIXTURE_SHARD_RECORDS; i++)
        status = recmap_writer_write(writer, bytes, payload_write(bytes, i), &error);
    if (status == RECMAP_OK) status = recmap_writer_finish(writer, &error);
    recmap_writer_destroy(writer);
    return status == RECMAP_OK ? NULL : case_says("%s", error.message);
}

static const char *read_both(void) {
    recmap_dataset *dataset;
    if (recmap_dataset_open(&dataset, indexed, NULL, NULL) != RECMAP_OK) return "no index";
    const char *wrong = dataset_check_all(dataset, FIXTURE_SHARD_RECORDS, NULL);
    recmap_dataset_close(dataset);
    return wrong;
}

static const char *write_until_killed(void *context, size_t number) {
    const struct killing *killing = context;
    struct call_plan plan = {.kinds = CALL_ALL_FILES, .at = killing->at, .fault = killing->when};
    (void)number;
    interpose_start(&plan);
    const char *wrong = write_both(killing->writing);
    interpose_stop();
    return wrong;
}

static const char *kill_writer_at_call(void *context, size_t number) {
    const struct writing *writing = context;
    struct killing killing = {false, writing, number / 2 + 1,
                              number % 2 ? FAULT_KILL_AFTER : FAULT_KILL_BEFORE};
    struct file_bytes shard;
    unlink(written);
    unlink(indexed);
    enum child_end end = child_run(write_until_killed, &killing, number);
    /* Only a call that succeeds is followed by SIGKILL. A look at a target that does not exist yet
     * fails, and the writer then finishes. */
    bool may_finish = killing.when == FAULT_KILL_AFTER;
    if (end != CHILD_KILLED && !(may_finish && end == CHILD_PASSED))
        return "the writer was not killed";
    bool has_shard = file_bytes_equal(&writing->shard, written);
    if (!has_shard && file_bytes_load(&shard, written)) return "half a shard is there";
    if (!has_shard && !access(indexed, F_OK)) return "there is an index, and no shard";
    const char *wrong = access(indexed, F_OK) ? NULL : read_both();
    if (!wrong) wrong = write_both(writing);
    if (!wrong) wrong = read_both();
    return !wrong && count_temporaries(data.folder) ? "a temporary file is left" : wrong;
}

static void sweep_writer(const char *name, struct writing *writing) {
    struct call_plan plan = {.kinds = CALL_ALL_FILES};
    interpose_start(&plan);
    assert_null(write_both(writing));
    uint64_t count = interpose_stop();
    assert_true(file_bytes_load(&writing->shard, written));
    assert_int_equal(cases_run(name, 2 * count, step_between_cases(), kill_writer_at_call, writing),
                     0);
    free(writing->shard.bytes);
}

static void test_every_call_of_a_writer(void **state) {
    (void)state;
    struct writing plain = {.compression = RECMAP_COMPRESSION_NONE};
    sweep_writer("kill, writer", &plain);
    struct writing compressed = {.compression = RECMAP_COMPRESSION_GZIP};
    sweep_writer("kill, compressing writer", &compressed);
}

static const char *build_with_threads(void *context, size_t number) {
    (void)context;
    (void)number;
    for (;;) {
        const char *wrong = build(false, 2);
        if (wrong) return wrong;
    }
}

/* Where in the stream of builds the signal hits is left to the clock. */
static const char *kill_at_random(void *context, size_t number) {
    uint64_t random = test_seed() + number;
    long delay = (long)choose_below(&random, *(const long *)context);
    struct timespec pause = {0, delay};
    fixture_reset(&data);
    pid_t pid = fork();
    require(pid >= 0, "fork");
    if (!pid) {
        child_prepare();
        _exit(build_with_threads(NULL, number) != NULL);
    }
    nanosleep(&pause, NULL);
    kill(pid, SIGKILL);
    int ended;
    waitpid(pid, &ended, 0);
    if (!WIFSIGNALED(ended) || WTERMSIG(ended) != SIGKILL) return "a build failed";
    return check_after(false);
}

static void test_killed_builds_keep_the_old_index(void **state) {
    (void)state;
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    for (int i = 0; i < 4; i++) assert_null(build(false, 2));
    clock_gettime(CLOCK_MONOTONIC, &after);
    long span = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    if (span > 200000000) span = 200000000;
    test_seed();
    assert_int_equal(cases_run("kill, random", test_is_long() ? 300 : 60, 1, kill_at_random, &span),
                     0);
}

static int enter(void **state) {
    (void)state;
    fixture_create(&data);
    snprintf(written, sizeof written, "%s/written", data.folder);
    snprintf(indexed, sizeof indexed, "%s/written.rmx", data.folder);
    return 0;
}

static int leave(void **state) {
    (void)state;
    fixture_destroy(&data);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call_of_a_build),
        cmocka_unit_test(test_every_call_of_an_append),
        cmocka_unit_test(test_every_call_of_a_writer),
        cmocka_unit_test(test_killed_builds_keep_the_old_index),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
