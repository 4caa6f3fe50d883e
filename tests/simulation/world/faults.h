/* Calls that fail although nothing is wrong with what they ask: where, is a function of the seed.
 * Calls that return less than asked, or later, or are interrupted, are not faults: the library must
 * not even notice them. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_FAULTS_H
#define RECMAP_TESTS_SIMULATION_WORLD_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAULTS_MAX = 4 };

struct fault_plan {
    uint64_t seed;
    unsigned count;               /* calls that fail */
    uint64_t places[FAULTS_MAX];  /* their numbers among all calls that may */
    const char *only;             /* the only calls that may, such as "fsync"; or NULL */
    bool is_left_out[FAULTS_MAX]; /* by shrinking */
    bool is_short;                /* reads and writes may return less than asked */
    bool is_late;                 /* calls may take long */
    bool refuses_memory;          /* allocations may fail */
    uint64_t space;               /* bytes that files may grow by; FOREVER: any */
};

void faults_init(const struct fault_plan *plan);

/* Nothing fails while the world prepares or checks something. */
void faults_pause(bool is_paused);

/* A call of the running process that may fail; `code` is how. Returns true if it does, with errno
 * set. Every call is also a point. */
bool faults_hit(const char *call, int code);

/* A call of the running process finds no space on the disk. Sets errno. */
void faults_note_full(const char *call);

/* How many bytes a write that fails has written nevertheless: less than `size`. */
size_t faults_cut(size_t size);

/* How many of `size` bytes a call reads or writes: from 1 on. */
size_t faults_shorten(size_t size);

bool faults_refuse_memory(void);

#endif
