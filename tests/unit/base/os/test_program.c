/* Programs that are run: what they print, how they end, and what stops them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <recmap/interrupt.h>

#include "base/os/process.h"
#include "base/os/program.h"
#include "support/emulation.h"

#define S ((uint64_t)1000000000)

static char output[64];

static struct program_result run(const char *script, uint64_t timeout_ns) {
    struct program_result result;
    const char *const arguments[] = {"sh", "-c", script, NULL};
    memset(output, 0, sizeof output);
    assert_int_equal(program_run(&result, output, sizeof output - 1, arguments, timeout_ns, NULL),
                     RECMAP_OK);
    return result;
}

static void check_output(const char *script, const char *expected) {
    struct program_result result = run(script, 60 * S);
    assert_int_equal(result.end, PROGRAM_EXITED);
    assert_int_equal(result.code, 0);
    assert_string_equal(output, expected);
    assert_int_equal(result.size, strlen(expected));
}

static void test_output_is_read_to_its_end(void **state) {
    (void)state;
    check_output("echo a; sleep 0.1; echo b", "a\nb\n");
    check_output("true", "");
    check_output("cat; echo hidden >&2", "");
    check_output("exec >&-; sleep 0.1", "");
}

static void test_exit_statuses_and_signals_are_told_apart(void **state) {
    (void)state;
    struct program_result result = run("echo a; exit 3", 60 * S);
    assert_int_equal(result.end, PROGRAM_EXITED);
    assert_int_equal(result.code, 3);
    result = run("kill -9 $$", 60 * S);
    assert_int_equal(result.end, PROGRAM_KILLED);
    assert_int_equal(result.code, SIGKILL);
}

static void test_a_missing_program(void **state) {
    (void)state;
    if (is_emulated(__func__, "a new process cannot tell why it starts no program")) skip();
    struct program_result result;
    const char *const missing[] = {"/does/not/exist", NULL};
    assert_int_equal(program_run(&result, output, sizeof output, missing, S, NULL), RECMAP_OK);
    assert_int_equal(result.end, PROGRAM_NOT_STARTED);
    assert_int_equal(result.code, ENOENT);
}

/* The program is run directly, not by a shell. */
static void test_arguments_are_not_expanded(void **state) {
    (void)state;
    struct program_result result;
    const char *const arguments[] = {"printf", "%s|", "$HOME", "a b", "*", "`id`", NULL};
    memset(output, 0, sizeof output);
    assert_int_equal(program_run(&result, output, sizeof output - 1, arguments, 60 * S, NULL),
                     RECMAP_OK);
    assert_string_equal(output, "$HOME|a b|*|`id`|");
}

/* With what it has started. */
static void check_killed(const char *script, enum program_end end, uint64_t timeout_ns) {
    char path[] = "/tmp/recmap-program-XXXXXX", text[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    snprintf(text, sizeof text, "exec 3>%s; (sleep 30; echo x >&3) & %s", path, script);
    uint64_t begun_ns = clock_ns();
    struct program_result result = run(text, timeout_ns);
    assert_int_equal(result.end, end);
    assert_true(clock_ns() - begun_ns < 20 * S);
    close(fd);
    unlink(path);
}

static void test_slow_and_talkative_programs_are_killed(void **state) {
    (void)state;
    check_killed("sleep 30", PROGRAM_TOO_SLOW, S / 10);
    check_killed("exec >&-; sleep 30", PROGRAM_TOO_SLOW, S / 10);
    check_killed("while :; do echo 0123456789; done", PROGRAM_TOO_LONG, 60 * S);
    check_killed("trap '' TERM INT; while :; do :; done", PROGRAM_TOO_SLOW, S / 10);
}

/* It has the pipe, too, as a child that another thread forks at the same time can have. */
static void test_processes_that_stay_are_not_waited_for(void **state) {
    (void)state;
    uint64_t begun_ns = clock_ns();
    check_output("sleep 30 & echo a", "a\n");
    assert_true(clock_ns() - begun_ns < 20 * S);
}

static int stop_at_once(void *context) {
    (void)context;
    return 1;
}

static void test_an_interrupt_kills_the_program(void **state) {
    (void)state;
    struct program_result result;
    recmap_error error = RECMAP_ERROR_INIT;
    const char *const arguments[] = {"sleep", "30", NULL};
    uint64_t begun_ns = clock_ns();
    recmap_thread_set_interrupt(stop_at_once, NULL);
    assert_int_equal(program_run(&result, output, sizeof output, arguments, 60 * S, &error),
                     RECMAP_CANCELLED);
    recmap_thread_set_interrupt(NULL, NULL);
    assert_true(clock_ns() - begun_ns < 20 * S);
}

/* Threads of the library block signals, and Python ignores some. */
static void test_signals_are_as_usual(void **state) {
    (void)state;
    sigset_t all, former;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &former);
    signal(SIGPIPE, SIG_IGN);
    check_output("grep SigBlk /proc/self/status | tr -d '\\t0'", "SigBlk:\n");
    struct program_result result = run("kill -PIPE $$; echo ignored", 60 * S);
    assert_int_equal(result.end, PROGRAM_KILLED);
    assert_int_equal(result.code, SIGPIPE);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &former, NULL);
}

/* Its status is then unknown. */
static void test_a_process_that_ignores_the_ends_of_others(void **state) {
    (void)state;
    signal(SIGCHLD, SIG_IGN);
    check_output("echo a; exit 3", "a\n");
    signal(SIGCHLD, SIG_DFL);
}

static void test_a_process_without_standard_files(void **state) {
    (void)state;
    int copies[3];
    for (int i = 0; i < 3; i++) copies[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
    for (int i = 0; i < 3; i++) close(i);
    struct program_result result = run("echo a; cat", 60 * S);
    for (int i = 0; i < 3; i++) {
        dup2(copies[i], i);
        close(copies[i]);
    }
    assert_int_equal(result.end, PROGRAM_EXITED);
    assert_string_equal(output, "a\n");
}

#define TEST(name) cmocka_unit_test(test_##name)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(output_is_read_to_its_end),
        TEST(exit_statuses_and_signals_are_told_apart),
        TEST(a_missing_program),
        TEST(arguments_are_not_expanded),
        TEST(slow_and_talkative_programs_are_killed),
        TEST(processes_that_stay_are_not_waited_for),
        TEST(an_interrupt_kills_the_program),
        TEST(signals_are_as_usual),
        TEST(a_process_that_ignores_the_ends_of_others),
        TEST(a_process_without_standard_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
