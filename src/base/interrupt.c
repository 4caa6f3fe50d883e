#include "base/interrupt.h"

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

void thread_interrupt_restore(const struct interrupt *interrupt) {
    current = *interrupt;
}
