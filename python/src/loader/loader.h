/* A loader as an object, and the steps that were taken from the library and not yet delivered.
 *
 * A signal handler that raises can end Python code between any two of its calls. So a step moves in
 * two moves that no such handler can divide: `take` adds it to the steps ahead, in the call that
 * takes it from the library; `deliver` removes it and moves the position past it, in the call that
 * hands its value to the caller. Whatever runs between the two (making columns, a transform, an
 * adapter) may fail or be interrupted: the step is then still the first one ahead.
 *
 * Threads: whatever reads or changes a loader's fields does so in its critical section. */
#ifndef RECMAP_PYTHON_LOADER_LOADER_H
#define RECMAP_PYTHON_LOADER_LOADER_H

#include <stdatomic.h>
#include <sys/types.h>

#include "index/handle.h"

struct step_object {
    PyObject_HEAD
    struct step_object *next;             /* among the steps ahead; owned */
    PyObject *batch;                      /* a RecordBatch; NULL at an epoch's end */
    PyObject *value;                      /* what the transform made of it; NULL until then */
    PyObject *error;                      /* what the transform raised */
    PyObject *finished;                   /* a lock that is free once value or error is set */
    atomic_int status;                    /* the transform's progress; its meaning is Python's */
    uint64_t start_epoch, start_position; /* of the loader before the step */
    uint64_t epoch, position;             /* of the loader once the step is delivered */
    uint64_t skipped_count; /* of its records, because of on_bad_record="skip" or "substitute" */
    char is_end;            /* of an epoch */
};

struct loader_object {
    PyObject_HEAD
    recmap_loader *loader;
    struct handle_object *handle;
    recmap_parser *parser; /* or NULL */
    PyObject *memory;      /* of the columns: a BlockPool, or NULL */
    PyThread_type_lock lock;
    pid_t process;                      /* the one that created the loader */
    struct step_object *first, *newest; /* steps ahead, or NULL; the first is owned */
    size_t ahead_count;
    uint64_t epoch, position;     /* of what was delivered */
    char is_end_next;             /* the epoch's last step was delivered, its end was not */
    char is_iterating;            /* an iterator has not ended */
    char was_moved;               /* by the caller, since the latest iterator began */
    uint64_t next_step;           /* of the run; RECMAP_NO_STEP: not known before it is delivered */
    size_t waiting_count;         /* callers that wait for a batch */
    atomic_ullong asked_since_ns; /* when they began, or the latest was served; 0: none waits */
    uint64_t begun_ns, delivered_ns; /* when the first step was asked for, and the latest given */
    char hides_steps;                /* batches have no step: they are only a part of the run's */
    uint64_t iteration;              /* the number of the one iterator that may continue */
    uint64_t generation;             /* of steps; seek and close drop steps of earlier ones */
};

/* A step of nothing. NULL with MemoryError. */
struct step_object *step_create(void);

/* Monotonic time. */
uint64_t loader_clock_ns(void);

/* A caller waits for a batch until loader_end_wait. If it got one, the wait of the others counts
 * from then on. */
void loader_begin_wait(struct loader_object *self);
void loader_end_wait(struct loader_object *self, int is_served);

/* How long callers have waited; 0 if none waits. */
uint64_t loader_waited_ns(struct loader_object *self);

/* while_asked(function) -> what the function returns, which waits for a batch and delivers none */
PyObject *loader_while_asked(PyObject *object, PyObject *function);

/* If `step` is the first one ahead: removes it, moves the position past it and returns true. Runs
 * no Python code; the caller has a reference to the step, and is in the loader's critical section.
 */
int loader_deliver(struct loader_object *self, struct step_object *step);

/* The lock of whatever takes steps from the library or moves it. Waits without the GIL. */
void loader_lock(struct loader_object *self);
void loader_unlock(struct loader_object *self);

/* Fails in a child of the process in which the loader's threads run. */
recmap_status loader_check_fork(const struct loader_object *self, recmap_error *error);

/* Methods that move the loader (move.c), and that say what it does (report.c). */
PyObject *loader_seek(PyObject *object, PyObject *arguments);
PyObject *loader_go_back(PyObject *object, PyObject *arguments);
PyObject *loader_restart(PyObject *object, PyObject *argument);
PyObject *loader_load(PyObject *object, PyObject *arguments);
PyObject *loader_close(PyObject *object, PyObject *unused);
PyObject *loader_statistics(PyObject *object, PyObject *unused);
PyObject *loader_why(PyObject *object, PyObject *unused);
PyObject *loader_skipped(PyObject *object, PyObject *unused);
PyObject *loader_estimate_requests(PyObject *object, PyObject *unused);

#endif
