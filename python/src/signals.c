#include "signals.h"

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

void signals_begin(struct signal_check *check) {
    *check = (struct signal_check){PyEval_SaveThread(), now_ns(), 0};
    recmap_thread_set_interrupt(signals_raised, check);
}

void signals_end(struct signal_check *check) {
    recmap_thread_set_interrupt(NULL, NULL);
    PyEval_RestoreThread(check->thread);
}
