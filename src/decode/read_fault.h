/* Why a record cannot be read. */
#ifndef RECMAP_DECODE_READ_FAULT_H
#define RECMAP_DECODE_READ_FAULT_H

#include <stdbool.h>
#include <stddef.h>

#include <recmap/status.h>

struct read_fault {
    recmap_status status; /* CORRUPT: no Example; FEATURE: not as asked; NO_MEMORY */
    size_t offset;        /* byte in the record, or SIZE_MAX */
    size_t slot;          /* whose entry is to blame, where only that is known; else SIZE_MAX */
    char message[512];    /* names the feature */
};

/* Both return false, so that `return fault_set(...)` reads well. */
bool fault_set(struct read_fault *fault, recmap_status status, size_t offset, const char *format,
               ...) __attribute__((format(printf, 4, 5)));
bool fault_memory(struct read_fault *fault);

/* Blames a slot for a fault that was just set, by what its values are. Returns false, too. */
bool fault_blame(struct read_fault *fault, size_t slot);

#endif
