#include "base/core/warning.h"

#include <stddef.h>

static recmap_warn_fn warn_function;
static void *warn_context;

void recmap_set_warn(recmap_warn_fn function, void *context) {
    warn_function = function;
    warn_context = context;
}

void warn(const recmap_error *warning) {
    if (warn_function) warn_function(warning, warn_context);
}

void warn_once(_Atomic(uint64_t) *reasons, const recmap_error *warning) {
    uint64_t reason = UINT64_C(1) << (unsigned)warning->system_errno % 64;
    if (!(atomic_fetch_or(reasons, reason) & reason)) warn(warning);
}
