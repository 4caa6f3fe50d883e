/* A progress bar on stderr, when that is a terminal: share, rate, bytes, time left. */
#ifndef RECMAP_PROGRESS_BAR_H
#define RECMAP_PROGRESS_BAR_H

#include <stdbool.h>

#include <recmap/progress.h>

typedef struct tool_progress {
    bool is_shown;
    const char *label; /* what goes on: "indexing" */
    double started;    /* seconds */
    double drawn;      /* when the bar was drawn last; 0: never */
} tool_progress;

/* Seconds from some start. */
double progress_now(void);

tool_progress progress_begin(const char *label);

/* A recmap_progress_fn over a `progress`: draws, and stops the operation after an interrupt. */
int progress_report(void *context, const recmap_progress *report);

/* Wipes the bar away, so that messages stand alone. */
void progress_end(tool_progress *progress);

#endif
