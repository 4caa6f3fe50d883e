#include "parse/decode/read_fault.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

bool fault_set(struct read_fault *fault, recmap_status status, size_t offset, const char *format,
               ...) {
    va_list arguments;
    fault->status = status;
    fault->offset = offset;
    fault->slot = SIZE_MAX;
    fault->advice[0] = 0;
    va_start(arguments, format);
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
    return false;
}

void fault_add(struct read_fault *fault, const char *format, ...) {
    size_t size = strlen(fault->message);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->message + size, sizeof fault->message - size, format, arguments);
    va_end(arguments);
}

void fault_advise(struct read_fault *fault, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->advice, sizeof fault->advice, format, arguments);
    va_end(arguments);
}

bool fault_memory(struct read_fault *fault) {
    return fault_set(fault, RECMAP_NO_MEMORY, SIZE_MAX, "out of memory");
}

bool fault_blame(struct read_fault *fault, size_t slot) {
    fault->slot = slot;
    return false;
}
