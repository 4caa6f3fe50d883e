/* Signals during long calls. Asking for one needs the GIL, for which other threads may then have
 * to wait, so it is done only now and then. */
#ifndef RECMAP_PYTHON_BASE_SIGNALS_H
#define RECMAP_PYTHON_BASE_SIGNALS_H

#include "base/python.h"

struct signal_check {
    PyThreadState *thread; /* of the call, which has released the GIL */
    uint64_t checked_ns;
    int has_raised;
    struct signal_check *outer; /* of the call during which a signal handler made this one */
};

/* Releases the GIL for a call of the library. If the call waits for a remote store, it answers
 * signals meanwhile and fails with CANCELLED when a handler raises. */
void signals_start(struct signal_check *check);
void signals_stop(struct signal_check *check);

/* Tells the call of this thread that a callback left an exception, so that it fails with CANCELLED.
 * Returns false if this thread makes no such call. */
int signals_note_exception(void);

/* The interrupt function of such a call: whether a signal's handler raised. */
int signals_raised(void *check);

#endif
