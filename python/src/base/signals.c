#include "base/signals.h"

#include <time.h>

#define SIGNALS_NS 20000000u

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int signals_raised(void *context) {
    struct signal_check *check = context;
    if (check->has_raised || now_ns() - check->checked_ns < SIGNALS_NS) return check->has_raised;
    PyEval_RestoreThread(check->thread);
    check->has_raised = PyErr_CheckSignals() < 0;
    check->thread = PyEval_SaveThread();
    check->checked_ns = now_ns();
    return check->has_raised;
}

/* The innermost call of this thread. Calls are nested when a signal handler uses recmap. */
static _Thread_local struct signal_check *innermost;

static void set_innermost(struct signal_check *check) {
    innermost = check;
    recmap_thread_set_interrupt(check ? signals_raised : NULL, check);
}

int signals_note_exception(void) {
    if (innermost) innermost->has_raised = 1;
    return innermost != NULL;
}

void signals_start(struct signal_check *check) {
    *check = (struct signal_check){PyEval_SaveThread(), now_ns(), 0, innermost};
    set_innermost(check);
}

void signals_stop(struct signal_check *check) {
    set_innermost(check->outer);
    PyEval_RestoreThread(check->thread);
}
