/* Loading shared objects at run time. */
#ifndef RECMAP_OS_LIBRARY_H
#define RECMAP_OS_LIBRARY_H

#include <recmap/status.h>

/* Loads the shared object and looks up its function. The object stays loaded. Returns RECMAP_IO
 * with the file's name on failure. */
recmap_status library_find(void (**function)(void), const char *path, const char *symbol,
                           recmap_error *error);

#endif
