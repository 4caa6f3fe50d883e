/* Threads that help other threads with their work. They are started when they are first needed and
 * wait for more work until the process ends, because starting a thread takes as long as parsing two
 * hundred records. All callers share them. Signals are blocked in them, as in all workers.
 *
 * Fork: a child has no helpers and starts its own. A call that has asked for help cannot continue
 * in the child. */
#ifndef RECMAP_BASE_OS_HELPERS_H
#define RECMAP_BASE_OS_HELPERS_H

/* Work with which its owner asks for help. The owner sets the first two members, leaves the others
 * 0, and keeps the request in place until helpers_dismiss returns. */
struct help_request {
    /* Called by each helper. Returns when there is nothing left to do for now. */
    void (*help)(void *context);
    void *context;

    /* Private. */
    struct help_request *next;
    unsigned needed; /* helpers that have not begun */
    unsigned active; /* helpers that have not returned */
};

/* Asks for help, or asks again after helpers have returned, so that up to `count` help. Cannot
 * fail: fewer may come, or none. */
void helpers_ask(struct help_request *request, unsigned count);

/* Waits for the helpers that have begun. No other one will begin. */
void helpers_dismiss(struct help_request *request);

#endif
