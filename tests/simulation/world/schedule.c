#include "simulation/world/schedule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "simulation/world/process.h"
#include "simulation/world/report.h"

enum { STACK_SIZE = 512 << 10, POINT_NS_MAX = 1 << 20, POINTS_MAX = 40000000 };

/* Ten times what the longest of some thousand runs takes: a large shard that is scanned by many
 * threads in small segments. */
#define VIRTUAL_LIMIT_NS ((uint64_t)100 * 3600 * 1000000000)

static struct schedule_plan plan;
static struct random_stream choices;
static struct fiber *fibers[FIBERS_MAX];
static size_t fiber_count;
static struct fiber *current;
static uint64_t now_ns, point_ns;
static uint64_t next_preemption, next_event, mean_gap;
static uint64_t preemption_number;
static uint64_t low_priority; /* the next one below all others */
static bool picks_at_random;
static bool wakes_for_nothing; /* else a lost wake-up is not made up for by another one */
static jmp_buf world_place;
static enum schedule_stop stop;
static bool has_stopped;
static void *spare_stacks[FIBERS_MAX];
static size_t spare_stack_count;

/* ---- Preemptions. */

/* Gaps between preemptions differ by orders of magnitude from run to run: some faults need two
 * preemptions next to each other, others one in a quiet run. */
static void place_preemption(void) {
    next_preemption = report->point_count + 1 + random_below(&choices, 2 * mean_gap);
}

void schedule_init(const struct schedule_plan *new_plan) {
    plan = *new_plan;
    choices = random_stream(plan.seed, 1);
    mean_gap = random_scale(&choices, 4096);
    point_ns = random_scale(&choices, POINT_NS_MAX);
    picks_at_random = random_once_in(&choices, 2);
    wakes_for_nothing = random_once_in(&choices, 2);
    low_priority = (uint64_t)1 << 62;
    next_event = FOREVER;
    place_preemption();
}

void schedule_set_event(uint64_t points) {
    next_event = points == FOREVER ? FOREVER : report->point_count + points;
}

uint64_t schedule_now(void) {
    return now_ns;
}

struct fiber *schedule_current(void) {
    return current;
}

/* ---- Switching. A fiber always switches to the world, which picks the next one. */

static void save_fiber(struct fiber *fiber) {
    fiber->saved_errno = errno;
    process_save_tls(fiber->process, fiber->tls);
}

static void switch_to_world(void) {
    struct fiber *fiber = current;
    save_fiber(fiber);
    if (!_setjmp(fiber->place)) _longjmp(world_place, 1);
    errno = fiber->saved_errno;
}

static void start_fiber(void) {
    struct fiber *fiber = current;
    errno = 0;
    fiber->result = fiber->run(fiber->argument);
    fiber->state = FIBER_ENDED;
    schedule_wake_all(fiber);
    switch_to_world();
    abort();
}

static void switch_to_fiber(struct fiber *fiber) {
    current = fiber;
    process_load_tls(fiber->process, fiber->tls);
    if (!_setjmp(world_place)) {
        if (fiber->has_started) _longjmp(fiber->place, 1);
        fiber->has_started = true;
        setcontext(&fiber->start);
    }
    current = NULL;
}

static void *take_stack(void) {
    if (spare_stack_count) return spare_stacks[--spare_stack_count];
    void *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) run_fail("the world has no memory for a stack");
    mprotect(stack, 4096, PROT_NONE);
    return stack;
}

static void prepare(struct fiber *fiber) {
    getcontext(&fiber->start);
    fiber->start.uc_stack = (stack_t){.ss_sp = fiber->stack, .ss_size = STACK_SIZE};
    makecontext(&fiber->start, start_fiber, 0);
}

struct fiber *schedule_create(struct process *process, void *(*run)(void *), void *argument) {
    if (fiber_count == FIBERS_MAX) return NULL;
    struct fiber *fiber = calloc(1, sizeof *fiber);
    if (!fiber) run_fail("the world has no memory for a thread");
    fiber->process = process;
    fiber->number = process->thread_count++;
    fiber->run = run;
    fiber->argument = argument;
    fiber->priority = ((uint64_t)1 << 62) + random_next(&choices) / 4;
    fiber->until_ns = FOREVER;
    fiber->stack = take_stack();
    process_init_tls(process, fiber->tls);
    prepare(fiber);
    fibers[fiber_count++] = fiber;
    return fiber;
}

void schedule_release(struct fiber *fiber) {
    size_t i = 0;
    while (fibers[i] != fiber) i++;
    for (fiber_count--; i < fiber_count; i++) fibers[i] = fibers[i + 1];
    spare_stacks[spare_stack_count++] = fiber->stack;
    free(fiber);
}

void schedule_remove(const struct process *process) {
    size_t kept = 0;
    for (size_t i = 0; i < fiber_count; i++) {
        if (fibers[i]->process != process) {
            fibers[kept++] = fibers[i];
            continue;
        }
        spare_stacks[spare_stack_count++] = fibers[i]->stack;
        free(fibers[i]);
    }
    fiber_count = kept;
}

/* ---- Picking the next fiber. */

static void wake(struct fiber *fiber, bool was_woken) {
    fiber->state = FIBER_RUNNABLE;
    fiber->awaited = NULL;
    fiber->until_ns = FOREVER;
    fiber->was_woken = was_woken;
}

static bool has_others(const struct fiber *fiber) {
    for (size_t i = 0; i < fiber_count; i++) {
        const struct fiber *other = fibers[i];
        if (other == fiber || other->process != fiber->process) continue;
        if (other->state == FIBER_RUNNABLE) return true;
        if (other->state == FIBER_WAITS && other->wait_kind >= WAIT_SLEEP) return true;
    }
    return false;
}

/* In a calm run, a thread of the same process always gets to what a timed wait is for before the
 * time is over: so if all of them wait, nobody would ever have woken this one. */
static void check_wake_up(const struct fiber *fiber) {
    if (!plan.is_calm || fiber->wait_kind >= WAIT_SLEEP || has_others(fiber)) return;
    char waits[1024];
    schedule_describe(waits, sizeof waits);
    run_fail("a wake-up was lost: a timed wait ran out while all threads of its process waited:%s",
             waits);
}

static void end_waits(void) {
    for (size_t i = 0; i < fiber_count; i++)
        if (fibers[i]->state == FIBER_WAITS && fibers[i]->until_ns <= now_ns)
            wake(fibers[i], false);
}

/* All fibers wait: lets the time pass until the first wait ends. Returns false if none does. */
static bool jump(void) {
    struct fiber *first = NULL;
    for (size_t i = 0; i < fiber_count; i++)
        if (fibers[i]->state == FIBER_WAITS && fibers[i]->until_ns != FOREVER &&
            (!first || fibers[i]->until_ns < first->until_ns))
            first = fibers[i];
    if (!first) return false;
    check_wake_up(first);
    if (now_ns < first->until_ns) now_ns = first->until_ns;
    if (now_ns > VIRTUAL_LIMIT_NS)
        run_fail("the run takes more than a hundred hours of virtual time");
    end_waits();
    return true;
}

static struct fiber *pick(void) {
    struct fiber *best = NULL;
    size_t count = 0;
    for (size_t i = 0; i < fiber_count; i++) {
        struct fiber *fiber = fibers[i];
        if (fiber->state != FIBER_RUNNABLE) continue;
        count++;
        bool is_better = picks_at_random ? random_once_in(&choices, count)
                                         : !best || fiber->priority > best->priority;
        if (is_better) best = fiber;
    }
    return best;
}

enum schedule_stop schedule_run(void) {
    for (has_stopped = false; !has_stopped;) {
        end_waits();
        struct fiber *next = pick();
        if (next) switch_to_fiber(next);
        else if (!jump()) return STOP_DEADLOCK;
    }
    report->virtual_ns = now_ns;
    return stop;
}

void schedule_end_process(void) {
    current->state = FIBER_ENDED;
    has_stopped = true;
    stop = STOP_PROCESS_ENDED;
    switch_to_world();
    abort();
}

/* ---- Points. */

static void wake_for_nothing(void) {
    struct fiber *chosen = NULL;
    size_t count = 0;
    for (size_t i = 0; i < fiber_count; i++)
        if (fibers[i]->state == FIBER_WAITS && fibers[i]->wait_kind == WAIT_CONDITION &&
            random_once_in(&choices, ++count))
            chosen = fibers[i];
    if (chosen) wake(chosen, true);
}

static void preempt(void) {
    uint64_t number = preemption_number++;
    struct random_stream how = random_stream(plan.seed ^ number, 2);
    place_preemption();
    if (number >= plan.preemption_limit) return;
    if (number < PREEMPTIONS_MAX && plan.is_left_out[number]) return;
    report->preemption_count++;
    if (random_once_in(&how, 8) && wakes_for_nothing) wake_for_nothing();
    current->priority = low_priority--;
    if (!plan.is_calm && random_once_in(&how, 4)) {
        trace("is stalled");
        schedule_sleep(random_scale(&how, 1000000000));
        return;
    }
    if (fiber_count > 1) trace("is preempted");
    switch_to_world();
}

void schedule_point(void) {
    if (!current) return;
    report->point_count++;
    now_ns += point_ns;
    if (report->point_count > POINTS_MAX) run_fail("the run never ends");
    if (report->point_count >= next_event) {
        next_event = FOREVER;
        has_stopped = true;
        stop = STOP_EVENT;
        switch_to_world();
    }
    if (report->point_count >= next_preemption) preempt();
}

/* ---- Waiting. */

bool schedule_wait(enum wait_kind kind, const void *awaited, uint64_t until_ns) {
    struct fiber *fiber = current;
    fiber->state = FIBER_WAITS;
    fiber->wait_kind = kind;
    fiber->awaited = awaited;
    fiber->until_ns = until_ns;
    switch_to_world();
    return fiber->was_woken;
}

void schedule_wake_one(const void *awaited) {
    struct fiber *chosen = NULL;
    size_t count = 0;
    for (size_t i = 0; i < fiber_count; i++)
        if (fibers[i]->state == FIBER_WAITS && fibers[i]->awaited == awaited &&
            random_once_in(&choices, ++count))
            chosen = fibers[i];
    if (chosen) wake(chosen, true);
}

void schedule_wake_all(const void *awaited) {
    for (size_t i = 0; i < fiber_count; i++)
        if (fibers[i]->state == FIBER_WAITS && fibers[i]->awaited == awaited) wake(fibers[i], true);
}

void schedule_sleep(uint64_t duration_ns) {
    schedule_wait(WAIT_SLEEP, NULL, now_ns + duration_ns);
}

/* ---- Names. */

void schedule_name_thread(char *name, size_t size) {
    if (!current) snprintf(name, size, "world");
    else if (!current->number) snprintf(name, size, "%s", current->process->name);
    else snprintf(name, size, "%s/%u", current->process->name, current->number);
}

void schedule_describe(char *text, size_t size) {
    static const char *const words[] = {"a condition", "a mutex", "the end of a thread", "a time",
                                        "another process"};
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; i < fiber_count && length + 64 < size; i++)
        if (fibers[i]->state == FIBER_WAITS)
            length += (size_t)snprintf(text + length, size - length, " %s/%u waits for %s;",
                                       fibers[i]->process->name, fibers[i]->number,
                                       words[fibers[i]->wait_kind]);
}
