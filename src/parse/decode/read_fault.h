/* Why a record cannot be read. */
#ifndef RECMAP_PARSE_DECODE_READ_FAULT_H
#define RECMAP_PARSE_DECODE_READ_FAULT_H

#include <stdbool.h>
#include <stddef.h>

#include <recmap/status.h>

struct read_fault {
    recmap_status
        status; /* CORRUPT: not an Example; FEATURE: does not match the specification; NO_MEMORY */
    size_t offset;     /* byte in the record, or SIZE_MAX */
    size_t slot;       /* the slot at fault if `offset` is not known yet, or SIZE_MAX */
    char message[512]; /* names the feature */
    char advice[512];  /* what to request instead, or "" */
};

/* Returns false, for use in `return fault_set(...)`. */
bool fault_set(struct read_fault *fault, recmap_status status, size_t offset, const char *format,
               ...) __attribute__((format(printf, 4, 5)));

/* Appends to the message of the fault that was just set. */
void fault_add(struct read_fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds advice to the fault that was just set. */
void fault_advise(struct read_fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns false. */
bool fault_memory(struct read_fault *fault);

/* Attributes the fault that was just set to a slot. Always returns false. */
bool fault_blame(struct read_fault *fault, size_t slot);

#endif
