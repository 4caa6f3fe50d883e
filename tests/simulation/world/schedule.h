/* Threads and time. A thread of the simulated world is a fiber: all of them run on the one thread
 * of this program, and give way to each other only at points, which are the calls of the seam and
 * atomic operations. Which fiber runs next, and at which points the running one is preempted, are
 * functions of the seed. Time passes by a little at each point, and jumps if all fibers wait. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_SCHEDULE_H
#define RECMAP_TESTS_SIMULATION_WORLD_SCHEDULE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "simulation/world/random.h"

struct process;

enum { TLS_MAX = 256, FIBERS_MAX = 256, PREEMPTIONS_MAX = 512 };

#define FOREVER UINT64_MAX

enum fiber_state { FIBER_RUNNABLE, FIBER_WAITS, FIBER_ENDED };

/* What a fiber waits for. A wait for another process, or for a time, is not a sign of a lost
 * wake-up.
 */
enum wait_kind { WAIT_CONDITION, WAIT_MUTEX, WAIT_JOIN, WAIT_SLEEP, WAIT_OTHERS };

struct fiber {
    struct process *process;
    unsigned number; /* within its process */
    void *(*run)(void *);
    void *argument;
    void *result;
    enum fiber_state state;
    enum wait_kind wait_kind;
    const void *awaited;
    uint64_t until_ns; /* when the wait ends by itself */
    bool was_woken;
    uint64_t priority; /* the highest one runs */
    void *stack;
    ucontext_t start;
    jmp_buf place;
    bool has_started;
    int saved_errno;
    uint8_t tls[TLS_MAX]; /* of the library, while another fiber runs */
};

/* How a run is scheduled; everything is a function of the seed, except what shrinking changes. */
struct schedule_plan {
    uint64_t seed;
    uint64_t preemption_limit;         /* further preemptions are left out */
    bool is_left_out[PREEMPTIONS_MAX]; /* preemptions that shrinking has taken away */
    bool is_calm; /* no thread is stalled, so no timed wait may run out while all others wait */
};

/* Why schedule_run returned. */
enum schedule_stop {
    STOP_PROCESS_ENDED,
    STOP_EVENT, /* the point at which the world does something has been reached */
    STOP_DEADLOCK,
};

void schedule_init(const struct schedule_plan *plan);

/* Lets the world act at a point that is `points` away. */
void schedule_set_event(uint64_t points);

/* Runs fibers until there is something to do for the world. */
enum schedule_stop schedule_run(void);

struct fiber *schedule_create(struct process *process, void *(*run)(void *), void *argument);
struct fiber *schedule_current(void);

/* Frees a fiber that has ended. */
void schedule_release(struct fiber *fiber);

/* Frees all fibers of a process, wherever they are. Not called by a fiber. */
void schedule_remove(const struct process *process);

/* Stops schedule_run; called by the last fiber of a process. Does not return. */
void schedule_end_process(void);

/* Another fiber may run here. */
void schedule_point(void);

/* Waits until another fiber wakes those that wait for `awaited`, or until the time. Returns false
 * if the time passed. */
bool schedule_wait(enum wait_kind kind, const void *awaited, uint64_t until_ns);

/* Wakes one of the fibers that wait for it, or all. */
void schedule_wake_one(const void *awaited);
void schedule_wake_all(const void *awaited);

void schedule_sleep(uint64_t duration_ns);

/* Virtual time, in nanoseconds since the start. */
uint64_t schedule_now(void);

void schedule_name_thread(char *name, size_t size);

/* What every waiting fiber waits for, for the message about a deadlock. */
void schedule_describe(char *text, size_t size);

#endif
