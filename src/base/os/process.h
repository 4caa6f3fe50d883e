/* This process: its number, its clock, its random numbers, its limits. */
#ifndef RECMAP_BASE_OS_PROCESS_H
#define RECMAP_BASE_OS_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* The process number; it changes after fork. */
long process_id(void);

/* Monotonic time. */
uint64_t clock_ns(void);

/* Seconds since 1970 by the system clock, which may be set back. */
int64_t clock_unix_s(void);

/* The monotonic time `timeout_ns` from now (at most a century), for a timed wait on a condition
 * initialized by condition_init. */
struct timespec clock_until(uint64_t timeout_ns);

/* Sleeps for at least this time, or until a signal arrives. */
void sleep_ns(uint64_t duration_ns);

/* Random bits of the kernel; bits of the clock while it has none to give yet. */
uint64_t random_bits(void);

/* The number of files that the process may have open at once. */
size_t process_file_limit(void);

#endif
