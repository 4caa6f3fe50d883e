/* The clocks and random numbers of the processes. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_SYSTEM_H
#define RECMAP_TESTS_SIMULATION_WORLD_SYSTEM_H

#include <stdint.h>

void system_init(uint64_t seed);

/* Called before each atomic operation of the library: see seam/stdatomic.h. */
void world_point(void);

#endif
