/* A progress bar on stderr, when that is a terminal: share, rate, bytes, time left. */
#ifndef RECMAP_PROGRESS_BAR_H
#define RECMAP_PROGRESS_BAR_H

#include <stdbool.h>

#include <recmap/progress.h>

struct progress_bar {
    bool is_shown;
    const char *label; /* what goes on: "indexing" */
    double started;    /* seconds */
    double drawn;      /* when the bar was drawn last; 0: never */
};

/* Seconds from some start. */
double progress_now(void);

struct progress_bar progress_bar_start(const char *label);

/* A recmap_progress_fn over a `progress`: draws, and stops the operation after an interrupt. */
int progress_bar_report(void *context, const recmap_progress *report);

/* Wipes the bar away, so that messages stand alone. */
void progress_bar_clear(struct progress_bar *progress);

#endif
