/* SIGINT, SIGTERM and SIGHUP request a stop: the command removes temporary files, then dies by the
 * signal. */
#ifndef RECMAP_TOOLS_TERMINAL_INTERRUPT_H
#define RECMAP_TOOLS_TERMINAL_INTERRUPT_H

#include <stdbool.h>

#include <recmap/status.h>

/* From now on these signals are only recorded, and end this thread's waits for remote stores. A
 * second one of the same kind kills the process. */
void interrupt_watch(void);

/* Lets the signals act as before interrupt_watch again. */
void interrupt_unwatch(void);

/* Returns true if Ctrl-C has no effect: a shell script starts commands with & so that SIGINT is
 * ignored. */
bool interrupt_ignores_keyboard(void);

bool interrupt_is_pending(void);

/* Sets `error` to RECMAP_CANCELLED and returns that. */
recmap_status interrupt_fail(recmap_error *error);

/* If a signal was recorded, raises it again with its default action, so that the shell sees how the
 * process ended. Otherwise returns `exit_status`. */
int interrupt_finish(int exit_status);

#endif
