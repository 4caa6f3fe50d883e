/* The memory of the processes: every block belongs to one, so that what is left at its end is a
 * leak, and what a killed process had can be freed. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_MEMORY_H
#define RECMAP_TESTS_SIMULATION_WORLD_MEMORY_H

#include <stddef.h>

struct process;

/* The number of blocks that the process has. */
size_t memory_count(const struct process *process);

/* Where one of them was allocated, for addr2line. */
const char *memory_describe(const struct process *process);

void memory_free_all(struct process *process);

#endif
