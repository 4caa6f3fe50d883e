/* This process: which one it is, its clock, its limits. */
#ifndef RECMAP_OS_PROCESS_H
#define RECMAP_OS_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* Its number: another one after a fork. */
long process_id(void);

/* Time that only goes forward. */
uint64_t clock_ns(void);

/* Files that it may have open at once. */
size_t process_file_limit(void);

#endif
