#include "terminal/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>

#include <recmap/interrupt.h>

static volatile sig_atomic_t pending_signal;

static void record_signal(int number) {
    pending_signal = number;
}

static int must_stop(void *context) {
    (void)context;
    return interrupt_is_pending();
}

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { NUMBER_COUNT = sizeof numbers / sizeof *numbers };

void interrupt_watch(void) {
    recmap_thread_set_interrupt(must_stop, NULL);
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        struct sigaction old, action = {.sa_handler = record_signal, .sa_flags = (int)SA_RESETHAND};
        sigemptyset(&action.sa_mask);
        /* A signal that the parent process ignores (nohup) stays ignored. */
        if (!sigaction(numbers[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

void interrupt_unwatch(void) {
    recmap_thread_set_interrupt(NULL, NULL);
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        struct sigaction action;
        if (!sigaction(numbers[i], NULL, &action) && action.sa_handler == record_signal)
            signal(numbers[i], SIG_DFL);
    }
}

bool interrupt_ignores_keyboard(void) {
    struct sigaction action;
    return !sigaction(SIGINT, NULL, &action) && action.sa_handler == SIG_IGN;
}

bool interrupt_is_pending(void) {
    return pending_signal != 0;
}

recmap_status interrupt_fail(recmap_error *error) {
    *error = (recmap_error)RECMAP_ERROR_INIT;
    error->status = RECMAP_CANCELLED;
    snprintf(error->message, sizeof error->message, "cancelled");
    return RECMAP_CANCELLED;
}

int interrupt_finish(int exit_status) {
    if (!pending_signal) return exit_status;
    fflush(NULL);
    signal(pending_signal, SIG_DFL);
    raise(pending_signal);
    return exit_status;
}
