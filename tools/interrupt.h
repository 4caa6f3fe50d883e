/* SIGINT, SIGTERM and SIGHUP as a wish to stop: what was begun is cleaned up before the process
 * ends by the signal. */
#ifndef RECMAP_INTERRUPT_H
#define RECMAP_INTERRUPT_H

#include <stdbool.h>

#include <recmap/status.h>

/* From now on these signals are only noted. The second one of a kind ends the process at once. */
void interrupt_watch(void);

bool interrupt_is_pending(void);

/* Sets `error` for what was stopped. Returns RECMAP_CANCELLED. */
recmap_status interrupt_fail(recmap_error *error);

/* Ends the process by the signal that came, so that the shell sees it; returns `exit_status` when
 * none did. */
int interrupt_finish(int exit_status);

#endif
