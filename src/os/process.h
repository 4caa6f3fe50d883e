/* This process: which one it is, its clock, its limits. */
#ifndef RECMAP_OS_PROCESS_H
#define RECMAP_OS_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Its number: another one after a fork. */
long process_id(void);

/* Time that only goes forward. */
uint64_t clock_ns(void);

/* The time `timeout_ns` from now (a century at most) by the same clock, for a wait of a condition
 * that condition_init made. */
struct timespec clock_until(uint64_t timeout_ns);

/* Files that it may have open at once. */
size_t process_file_limit(void);

#endif
