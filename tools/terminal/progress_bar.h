/* A progress bar on stderr, when that is a terminal: share, rate, bytes, time left. */
#ifndef RECMAP_TOOLS_TERMINAL_PROGRESS_BAR_H
#define RECMAP_TOOLS_TERMINAL_PROGRESS_BAR_H

#include <stdbool.h>

#include <recmap/progress.h>

struct progress_bar {
    bool is_shown;
    const char *label; /* for example "indexing" */
    double started;    /* seconds */
    double drawn;      /* time of the last drawing; 0: never */
    bool has_told_wait;
};

/* Returns seconds of a monotonic clock. */
double progress_now(void);

struct progress_bar progress_bar_start(const char *label);

/* A recmap_progress_fn; the context is a struct progress_bar. Draws the bar at most ten times a
 * second, says once that another append is awaited, and cancels the operation after an interrupt.
 */
int progress_bar_report(const recmap_progress *report, void *context);

/* Erases the bar before other messages are printed. */
void progress_bar_clear(struct progress_bar *progress);

#endif
