/* What a run tells the program that started it: counts, a trace, and a failure. It lies in memory
 * that both processes share, so that it survives any end of the run. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_REPORT_H
#define RECMAP_TESTS_SIMULATION_WORLD_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EVENTS_KEPT = 1 << 14, EVENT_TEXT = 112, FAILURE_TEXT = 4096 };

struct event {
    uint64_t time_ns;
    char who[24];
    char text[EVENT_TEXT];
};

struct report {
    char failure[FAILURE_TEXT]; /* "" as long as all is well */
    uint64_t hash;              /* of the whole trace */
    uint64_t event_count;
    struct event events[EVENTS_KEPT]; /* the last ones: event n is at n % EVENTS_KEPT */
    uint64_t point_count;             /* places where another thread could run */
    uint64_t preemption_count;        /* where one did */
    uint64_t fault_count;
    uint64_t kill_count;
    uint64_t crash_count;
    uint64_t process_count;
    uint64_t epoch_count;       /* that the first rank read to the end */
    uint64_t rank_epoch_count;  /* that any rank did */
    uint64_t record_count;      /* that were compared with the model */
    uint64_t index_count;       /* published */
    uint64_t actor_count;       /* processes that were started at the same time */
    uint64_t data_record_count; /* in all shards */
    uint64_t data_byte_count;
    uint64_t virtual_ns;
    bool is_shared; /* several processes lived at the same time */
    bool is_finished;
};

/* The report of this run. */
extern struct report *report;

/* Adds a line to the trace: what the running thread does, in plain words. */
__attribute__((format(printf, 1, 2))) void trace(const char *format, ...);

/* Ends the run: the library, or the world, broke a rule. */
__attribute__((format(printf, 1, 2), noreturn)) void run_fail(const char *format, ...);

#endif
