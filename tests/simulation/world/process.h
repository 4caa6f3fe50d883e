/* Processes of the simulated world. Each has its own copy of the library: the shared object of the
 * program is loaded several times, from different files, so that each copy has its own variables.
 * A process that starts gets a copy whose variables are as they were when it was loaded. When it
 * ends or is killed, the world takes back its memory, maps, open files and locks. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_PROCESS_H
#define RECMAP_TESTS_SIMULATION_WORLD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulation/program/role.h"

struct fiber;
struct open_file;

enum { COPIES_MAX = 6, DESCRIPTORS_MAX = 128, MAPS_KEPT = 256 };

struct process_map {
    void *data;
    size_t size;
};

struct process {
    char name[20];
    int pid;
    unsigned copy;
    struct role role;
    struct fiber *main;
    unsigned thread_count; /* that it ever had */
    bool has_ended;
    bool was_killed;
    bool was_disturbed;    /* a call of it failed although nothing was wrong with what it asked */
    uint64_t opened_index; /* the inode of the index that it opened last */
    uint64_t first_index;  /* of the one that it opened first since a change began */
    bool has_missed_index; /* since then, opening one failed */
    struct open_file *descriptors[DESCRIPTORS_MAX];
    struct process_map maps[MAPS_KEPT];
    size_t map_count;
    size_t block_count; /* of memory */
};

/* Loads `count` copies of the program. Called once, before any run. */
void programs_load(const char *path, unsigned count);

/* Starts a process. `name` says what it is in the trace. */
struct process *process_start(const char *name, const struct role *role);

/* Ends it at this place, as SIGKILL does. Not called by a fiber. */
void process_kill(struct process *process);

/* Forgets a process that has ended or was killed. */
void process_release(struct process *process);

/* The process of the running fiber, or NULL. */
struct process *process_current(void);

/* The thread-local variables of the library, which all fibers of a copy would share. */
void process_init_tls(const struct process *process, uint8_t *tls);
void process_save_tls(const struct process *process, uint8_t *tls);
void process_load_tls(const struct process *process, const uint8_t *tls);

#endif
