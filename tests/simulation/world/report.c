#include "simulation/world/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "simulation/world/random.h"
#include "simulation/world/schedule.h"

struct report *report;

static void add_to_hash(const char *text) {
    for (; *text; text++) report->hash = random_mix(report->hash ^ (uint8_t)*text);
}

void trace(const char *format, ...) {
    struct event *event = &report->events[report->event_count++ % EVENTS_KEPT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(event->text, sizeof event->text, format, arguments);
    va_end(arguments);
    event->time_ns = schedule_now();
    schedule_name_thread(event->who, sizeof event->who);
    report->hash = random_mix(report->hash ^ event->time_ns);
    add_to_hash(event->who);
    add_to_hash(event->text);
}

void run_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!report->failure[0]) vsnprintf(report->failure, FAILURE_TEXT, format, arguments);
    va_end(arguments);
    trace("FAILED");
    _exit(1);
}
