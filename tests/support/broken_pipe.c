#include "support/broken_pipe.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static volatile sig_atomic_t signal_count;

static void count_signal(int number) {
    (void)number;
    signal_count++;
}

void broken_pipe_count_signals(void) {
    signal_count = 0;
    assert_true(signal(SIGPIPE, count_signal) != SIG_ERR);
}

int broken_pipe_signal_count(void) {
    return signal_count;
}

void broken_pipe_stop_counting(void) {
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
}

void broken_pipe_write(void) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(write(ends[1], "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    close(ends[1]);
}
