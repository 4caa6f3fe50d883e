/* Writing to a closed pipe without a signal. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/os/broken_pipe_guard.h"
#include "support/broken_pipe.h"

static void write_guarded(void) {
    struct broken_pipe_guard guard;
    broken_pipe_guard_init(&guard);
    broken_pipe_write();
    broken_pipe_guard_deinit(&guard);
}

static bool is_pending(void) {
    sigset_t set;
    assert_int_equal(sigpending(&set), 0);
    return sigismember(&set, SIGPIPE);
}

static void set_mask(int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    assert_int_equal(sigprocmask(how, &set, NULL), 0);
}

static int enter(void **state) {
    (void)state;
    broken_pipe_count_signals();
    return 0;
}

static int leave(void **state) {
    (void)state;
    broken_pipe_stop_counting();
    return 0;
}

static void test_no_signal_arrives(void **state) {
    (void)state;
    write_guarded();
    assert_int_equal(broken_pipe_signal_count(), 0);
    assert_false(is_pending());
    broken_pipe_write(); /* the signal is not blocked any more */
    assert_int_equal(broken_pipe_signal_count(), 1);
}

static void test_a_signal_that_is_blocked_stays_blocked(void **state) {
    (void)state;
    set_mask(SIG_BLOCK);
    write_guarded();
    assert_false(is_pending());
    broken_pipe_write();
    assert_true(is_pending());
    assert_int_equal(broken_pipe_signal_count(), 0);
    set_mask(SIG_UNBLOCK);
}

static void test_a_signal_that_is_pending_stays_pending(void **state) {
    (void)state;
    set_mask(SIG_BLOCK);
    broken_pipe_write();
    write_guarded();
    assert_true(is_pending());
    set_mask(SIG_UNBLOCK);
    assert_int_equal(broken_pipe_signal_count(), 1);
}

static void test_a_signal_that_is_ignored_stays_ignored(void **state) {
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    write_guarded();
    assert_false(is_pending());
    assert_true(signal(SIGPIPE, SIG_DFL) == SIG_IGN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_signal_arrives, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_signal_that_is_blocked_stays_blocked, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_signal_that_is_pending_stays_pending, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_signal_that_is_ignored_stays_ignored, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
