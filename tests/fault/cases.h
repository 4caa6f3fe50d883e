/* Running cases in children: many a child, each under an alarm, so that a signal, a hang or a leak
 * names its case and the next ones still run. */
#ifndef RECMAP_TESTS_FAULT_CASES_H
#define RECMAP_TESTS_FAULT_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One case: NULL when it passed, else what is wrong (static, or made with case_says). */
typedef const char *(*case_fn)(void *context, size_t number);

/* A message into memory of this module's; printf's format. */
const char *case_says(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs cases 0, step, 2 * step, ... below count, many in one child. Prints each that fails, and how
 * many ran; returns how many failed. */
size_t cases_run(const char *name, size_t count, size_t step, case_fn run, void *context);

/* How a child ended. */
enum child_end { CHILD_PASSED, CHILD_FAILED, CHILD_KILLED, CHILD_CRASHED };

/* Runs `run` in a child of its own under the alarm: CHILD_KILLED for SIGKILL, CHILD_CRASHED for any
 * other signal, CHILD_FAILED when it returned a message, which is printed. */
enum child_end child_run(case_fn run, void *context, size_t number);

/* Prepares a child: default signals, the alarm, no core. */
void child_prepare(void);

/* What a case holds before and after it: descriptors, allocations, maps. */
struct holdings {
    int descriptors;
    int64_t allocations, maps;
};
struct holdings holdings_now(void);
/* NULL when nothing is held that was not `before`. */
const char *holdings_check(const struct holdings *earlier_holdings);

/* Returns true if the program was built with a sanitizer that has its own allocator. */
bool test_is_sanitized(void);

/* Seconds after which a case is taken to hang: far more than any takes, also on a busy machine. */
enum { CASE_SECONDS = 120 };

#endif
