/* Passes warnings to the application. */
#ifndef RECMAP_BASE_CORE_WARNING_H
#define RECMAP_BASE_CORE_WARNING_H

#include <recmap/warning.h>

/* The caller holds no lock. */
void warn(const recmap_error *warning);

#endif
