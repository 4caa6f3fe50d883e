#include "base/os/library.h"

#include <dlfcn.h>
#include <string.h>

#include "base/core/error.h"

static recmap_status fail_load(const char *path, const char *advice, recmap_error *error) {
    const char *why = dlerror();
    fail(error, RECMAP_IO, "cannot load the shared object: %s", why ? why : "no reason is known");
    fail_file(error, path);
    fail_advise(error, "%s", advice);
    return RECMAP_IO;
}

/* The sanitizers replace malloc, which RTLD_DEEPBIND would undo for the library, so they refuse it.
 */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || !defined(RTLD_DEEPBIND)
enum { BIND_APART = 0 };
#else
enum { BIND_APART = RTLD_DEEPBIND };
#endif

static recmap_status find_function(void (**function)(void), const char *path, const char *symbol,
                                   int mode, recmap_error *error) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | mode);
    if (!library)
        return fail_load(path, "build it with -shared -fPIC; a path needs a slash (./mine.so)",
                         error);
    void *address = dlsym(library, symbol);
    if (!address) {
        fail_load(path, "it must define the function, visible and extern \"C\"", error);
        dlclose(library);
        return RECMAP_IO;
    }
    /* ISO C forbids casts from data to function pointers, but POSIX guarantees the same
     * representation. */
    memcpy(function, &address, sizeof address);
    return RECMAP_OK;
}

recmap_status library_find(void (**function)(void), const char *path, const char *symbol,
                           recmap_error *error) {
    return find_function(function, path, symbol, 0, error);
}

recmap_status library_find_apart(void (**function)(void), const char *path, const char *symbol,
                                 recmap_error *error) {
    return find_function(function, path, symbol, BIND_APART, error);
}
