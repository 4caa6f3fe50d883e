#include "dataset/lookup/run_parts.h"

#include <stdatomic.h>

#include "base/os/team.h"
#include "base/os/thread.h"

enum { ITEMS_MIN = 1024, PART_ITEMS_MIN = 256, THREADS_MAX = 64, PARTS_PER_THREAD = 4 };

struct shared_work {
    part_fn function;
    void *context;
    struct interrupt interrupt; /* of the calling thread */
    atomic_bool has_failed;
    atomic_bool is_interrupted;
};

unsigned parts_thread_count(size_t count) {
    unsigned threads = count < ITEMS_MIN ? 1 : core_count();
    return threads < THREADS_MAX ? threads : THREADS_MAX;
}

size_t parts_count(unsigned thread_count, size_t count) {
    size_t parts = count / PART_ITEMS_MIN, parts_max = (size_t)thread_count * PARTS_PER_THREAD;
    if (thread_count == 1 || !parts) return 1;
    return parts < parts_max ? parts : parts_max;
}

size_t parts_begin(size_t part, size_t part_count, size_t count) {
    size_t rest = count % part_count;
    return count / part_count * part + (part < rest ? part : rest);
}

static int must_stop(void *context) {
    struct shared_work *work = context;
    return atomic_load_explicit(&work->is_interrupted, memory_order_relaxed) ||
           atomic_load_explicit(&work->has_failed, memory_order_relaxed);
}

/* The same for the calling thread: no other thread may call its interrupt function. */
static int check_caller_interrupt(void *context) {
    struct shared_work *work = context;
    if (must_stop(work)) return 1;
    if (!work->interrupt.function || !work->interrupt.function(work->interrupt.context)) return 0;
    atomic_store_explicit(&work->is_interrupted, true, memory_order_relaxed);
    return 1;
}

static void poll_caller(void *context) {
    (void)check_caller_interrupt(context);
}

static void do_part(void *context, unsigned phase, unsigned part, bool is_caller) {
    struct shared_work *work = context;
    struct interrupt interrupt = {.function = is_caller ? check_caller_interrupt : must_stop,
                                  .context = work,
                                  .work_left = INTERRUPT_WORK};
    (void)phase;
    if (!must_stop(work) && work->function(work->context, part, &interrupt, NULL) != RECMAP_OK)
        atomic_store_explicit(&work->has_failed, true, memory_order_relaxed);
}

static unsigned end_phase(void *context, unsigned phase, bool is_caller) {
    (void)context;
    (void)is_caller;
    return phase + 1;
}

static recmap_status run_alone(part_fn function, void *context, size_t part_count,
                               recmap_error *error) {
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < part_count; i++)
        status = function(context, i, thread_interrupt(), error);
    return status;
}

/* When a part fails, the others stop where they happen to be. So one thread starts again, and finds
 * the first error. */
recmap_status run_parts(part_fn function, void *context, size_t part_count, unsigned thread_count,
                        recmap_error *error) {
    if (thread_count == 1 || part_count < 2) return run_alone(function, context, part_count, error);
    struct shared_work work = {
        .function = function, .context = context, .interrupt = *thread_interrupt()};
    atomic_init(&work.has_failed, false);
    atomic_init(&work.is_interrupted, false);
    struct team_job job = {.phase_count = 1,
                           .part_count = (unsigned)part_count,
                           .context = &work,
                           .do_part = do_part,
                           .end_phase = end_phase,
                           .poll = poll_caller};
    team_run(&job, thread_count);
    if (atomic_load(&work.is_interrupted)) return interrupt_fail(error);
    return atomic_load(&work.has_failed) ? run_alone(function, context, part_count, error)
                                         : RECMAP_OK;
}
