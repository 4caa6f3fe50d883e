/* Loading shared objects at run time. */
#ifndef RECMAP_BASE_OS_LIBRARY_H
#define RECMAP_BASE_OS_LIBRARY_H

#include <recmap/status.h>

/* Loads the shared object and looks up its function. The object stays loaded. Returns RECMAP_IO
 * with the file's name on failure. */
recmap_status library_find(void (**function)(void), const char *path, const char *symbol,
                           recmap_error *error);

/* The same, but the object's references resolve to its own dependencies first. A program that
 * exports other libraries' functions under the same names cannot put them in their place:
 * TensorFlow exports a TLS library whose functions have the names of OpenSSL's. */
recmap_status library_find_apart(void (**function)(void), const char *path, const char *symbol,
                                 recmap_error *error);

#endif
