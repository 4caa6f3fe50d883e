#include "base/core/interrupt.h"

#include <assert.h>

static _Thread_local struct interrupt current;

static struct interrupt make(recmap_interrupt_fn function, void *context) {
    return (struct interrupt){
        .function = function, .context = context, .work_left = INTERRUPT_WORK};
}

void recmap_thread_set_interrupt(recmap_interrupt_fn function, void *context) {
    current = make(function, context);
}

struct interrupt *thread_interrupt(void) {
    return &current;
}

struct interrupt thread_interrupt_replace(recmap_interrupt_fn function, void *context) {
    struct interrupt former = current;
    if (function) current = make(function, context);
    return former;
}

struct interrupt thread_interrupt_clear(void) {
    struct interrupt former = current;
    current = make(NULL, NULL);
    return former;
}

void thread_interrupt_restore(const struct interrupt *interrupt) {
    current = *interrupt;
}

/* `interrupt` may be the thread's own, which is cleared during the call. */
bool interrupt_ask(struct interrupt *interrupt) {
    struct interrupt asked = *interrupt;
    assert(asked.function);
    struct interrupt former = thread_interrupt_clear();
    asked.is_stopped = asked.function(asked.context) != 0;
    asked.work_left = INTERRUPT_WORK;
    thread_interrupt_restore(&former);
    *interrupt = asked;
    return !asked.is_stopped;
}
