/* Lets a library write to connections that the other side has closed without the signal SIGPIPE,
 * which ends the process by default. The process's handling of the signal stays as it is: other
 * threads, and this one afterwards, see what they have set. */
#ifndef RECMAP_BASE_OS_BROKEN_PIPE_GUARD_H
#define RECMAP_BASE_OS_BROKEN_PIPE_GUARD_H

#include <stdbool.h>

struct broken_pipe_guard {
    bool was_pending;
    bool was_blocked;
};

/* Blocks the signal in this thread. */
void broken_pipe_guard_init(struct broken_pipe_guard *guard);

/* Discards a signal that arrived since init, and restores the thread's mask. The same thread calls
 * both functions. */
void broken_pipe_guard_deinit(const struct broken_pipe_guard *guard);

#endif
