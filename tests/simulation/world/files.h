/* The open files of the processes. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_FILES_H
#define RECMAP_TESTS_SIMULATION_WORLD_FILES_H

#include <stdint.h>

struct process;
struct inode;

/* Closes a descriptor of a process that ends. */
void files_close(struct process *process, int descriptor);

/* Called for each rename that gives a file a new name, at the moment when others can see it. */
typedef void files_renamed(struct process *process, const char *name, struct inode *inode);
extern files_renamed *files_on_rename;

#endif
