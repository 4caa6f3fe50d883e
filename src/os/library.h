/* Shared objects, loaded at run time. */
#ifndef RECMAP_OS_LIBRARY_H
#define RECMAP_OS_LIBRARY_H

#include <recmap/status.h>

/* Loads the shared object and finds its function; it stays loaded. Errors: IO naming the file. */
recmap_status library_find(void (**function)(void), const char *path, const char *symbol,
                           recmap_error *error);

#endif
