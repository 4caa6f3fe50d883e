/* The question that a long call asks its caller now and then: whether to stop. */
#ifndef RECMAP_BASE_INTERRUPT_H
#define RECMAP_BASE_INTERRUPT_H

#include <recmap/batch.h>

#include "base/error.h"

struct interrupt {
    recmap_interrupt_fn function; /* or NULL */
    void *context;
    int64_t work_left; /* bytes until the function is called next */
};

enum {
    INTERRUPT_WORK = 256 << 10, /* with a random read from a device a record: about 50 ms */
    INTERRUPT_RECORD_WORK = 256 /* of a record, whatever its size */
};

static inline recmap_status interrupt_ask(struct interrupt *interrupt, recmap_error *error) {
    interrupt->work_left = INTERRUPT_WORK;
    if (!interrupt->function(interrupt->context)) return RECMAP_OK;
    return fail(error, RECMAP_CANCELLED, "the call was interrupted");
}

/* Counts work that was done. CANCELLED when the function said so. */
static inline recmap_status interrupt_check(struct interrupt *interrupt, uint64_t work,
                                            recmap_error *error) {
    if (!interrupt->function) return RECMAP_OK;
    interrupt->work_left -= (int64_t)work;
    return interrupt->work_left > 0 ? RECMAP_OK : interrupt_ask(interrupt, error);
}

#endif
