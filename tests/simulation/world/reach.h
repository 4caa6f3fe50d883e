/* Which basic blocks of the program ran in any run. The compiler option
 * -fsanitize-coverage=trace-pc lets each block of the program call the world; without it, none is
 * noted. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_REACH_H
#define RECMAP_TESTS_SIMULATION_WORLD_REACH_H

#include <stdbool.h>
#include <stdint.h>

/* Begins to note blocks, in memory that all runs share. Called before programs are loaded. */
bool reach_start(void);

/* A copy of the program was loaded at this address. Does nothing before reach_start. */
void reach_add_copy(uintptr_t address);

/* Writes the places in the program where blocks that ran begin: a line of hexadecimal digits for
 * each, as addr2line takes them. */
bool reach_write(const char *path);

#endif
