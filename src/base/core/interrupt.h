/* The question that a long call asks its caller now and then: whether to stop. */
#ifndef RECMAP_BASE_CORE_INTERRUPT_H
#define RECMAP_BASE_CORE_INTERRUPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <recmap/interrupt.h>

#include "base/core/error.h"

struct interrupt {
    recmap_interrupt_fn function; /* or NULL */
    void *context;
    int64_t work_left; /* bytes until the function is called next */
    bool is_stopped;   /* the function said to stop */
};

enum {
    INTERRUPT_WORK = 256 << 10,   /* with a random read from a device a record: about 50 ms */
    INTERRUPT_RECORD_WORK = 256,  /* of a record, whatever its size */
    INTERRUPT_COPY_SIZE = 1 << 20 /* at most this many bytes are copied between two questions */
};

/* What calls of this thread ask if they were given nothing to ask. Never NULL. */
struct interrupt *thread_interrupt(void);

/* Replaces what calls of this thread ask, and returns what they asked before, to be restored. Does
 * nothing without a function. */
struct interrupt thread_interrupt_replace(recmap_interrupt_fn function, void *context);
void thread_interrupt_restore(const struct interrupt *interrupt);

/* Makes calls of this thread ask nothing. Returns what they asked before, to be restored. */
struct interrupt thread_interrupt_clear(void);

/* Runs the function. It may call the library itself, as signal handlers in Python do: those calls
 * ask nothing, because it must not be run within itself. Returns false to stop. */
bool interrupt_ask(struct interrupt *interrupt);

/* Counts work that was done. Returns false to stop. `interrupt` may be NULL. */
static inline bool interrupt_continues(struct interrupt *interrupt, uint64_t work) {
    if (!interrupt || !interrupt->function) return true;
    interrupt->work_left -= (int64_t)work;
    return interrupt->work_left > 0 || interrupt_ask(interrupt);
}

static inline recmap_status interrupt_fail(recmap_error *error) {
    return fail(error, RECMAP_CANCELLED, "the call was interrupted");
}

/* Counts work that was done. CANCELLED when the function said so. */
static inline recmap_status interrupt_check(struct interrupt *interrupt, uint64_t work,
                                            recmap_error *error) {
    return interrupt_continues(interrupt, work) ? RECMAP_OK : interrupt_fail(error);
}

/* memcpy in pieces. Returns false if it was stopped. */
static inline bool interrupt_copy(struct interrupt *interrupt, void *out, const void *bytes,
                                  size_t size) {
    while (size) {
        size_t piece = size < INTERRUPT_COPY_SIZE ? size : INTERRUPT_COPY_SIZE;
        memcpy(out, bytes, piece);
        if (!interrupt_continues(interrupt, piece)) return false;
        out = (uint8_t *)out + piece;
        bytes = (const uint8_t *)bytes + piece;
        size -= piece;
    }
    return true;
}

#endif
