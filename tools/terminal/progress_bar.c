#include "terminal/progress_bar.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "terminal/interrupt.h"
#include "terminal/message.h"

enum { BAR_WIDTH = 16, LINE_SIZE = 160 };

double progress_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct progress_bar progress_bar_start(const char *label) {
    return (struct progress_bar){
        .is_shown = isatty(STDERR_FILENO) == 1, .label = label, .started = progress_now()};
}

static size_t terminal_width(void) {
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2) return 80;
    return size.ws_col;
}

static void format_time(char text[HUMAN_SIZE], double seconds) {
    if (seconds < 100) snprintf(text, HUMAN_SIZE, "%.0f s", seconds);
    else if (seconds < 6000) snprintf(text, HUMAN_SIZE, "%.0f min", seconds / 60);
    else if (seconds < 360000) snprintf(text, HUMAN_SIZE, "%.1f h", seconds / 3600);
    else snprintf(text, HUMAN_SIZE, "days");
}

/* Draws the bar over the line that the terminal shows, cut to the terminal's width. */
static void draw(const struct progress_bar *progress, const recmap_progress *report, double now) {
    double elapsed = now - progress->started;
    double done = (double)report->bytes_done, total = (double)report->bytes_total;
    double share = total > 0 ? done / total : 0;
    if (share > 1) share = 1;
    double rate = elapsed > 0 ? done / elapsed : 0;

    char bar[BAR_WIDTH + 1], line[LINE_SIZE];
    memset(bar, '-', BAR_WIDTH);
    memset(bar, '#', (size_t)(share * BAR_WIDTH));
    bar[BAR_WIDTH] = 0;
    char done_text[HUMAN_SIZE], total_text[HUMAN_SIZE], rate_text[HUMAN_SIZE];
    char left_text[HUMAN_SIZE] = "?";
    if (rate > 0) format_time(left_text, (total - done) / rate);
    int size = snprintf(line, sizeof line, "%s [%s] %3.0f %%  %s of %s  %s/s  %s left",
                        progress->label, bar, share * 100, human_bytes(done_text, done),
                        human_bytes(total_text, total), human_bytes(rate_text, rate), left_text);
    /* A line as wide as the terminal would wrap, and \r could not return to its start. */
    size_t width = terminal_width() - 1;
    if (size >= 0 && (size_t)size > width && width < sizeof line) line[width] = 0;
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
}

static void tell_wait(struct progress_bar *progress, const recmap_progress *report) {
    if (progress->has_told_wait) return;
    fputs("recmap: waiting for another append to ", stderr);
    print_safe(stderr, report->path);
    fputs("\n", stderr);
    progress->has_told_wait = true;
}

int progress_bar_report(const recmap_progress *report, void *context) {
    struct progress_bar *progress = context;
    double now = progress_now();
    if (report->is_waiting) tell_wait(progress, report);
    else if (progress->is_shown && report->bytes_total && now - progress->drawn >= 0.1) {
        draw(progress, report, now);
        progress->drawn = now;
    }
    return interrupt_is_pending();
}

void progress_bar_clear(struct progress_bar *progress) {
    if (progress->drawn > 0) fprintf(stderr, "\r\033[K");
    progress->drawn = 0;
}
