/* Passes warnings to the application. */
#ifndef RECMAP_BASE_CORE_WARNING_H
#define RECMAP_BASE_CORE_WARNING_H

#include <stdatomic.h>
#include <stdint.h>

#include <recmap/warning.h>

/* The caller holds no lock. */
void warn(const recmap_error *warning);

/* Warns once for each errno of the warnings. `reasons` starts as 0 and has one bit for each. */
void warn_once(_Atomic(uint64_t) *reasons, const recmap_error *warning);

#endif
