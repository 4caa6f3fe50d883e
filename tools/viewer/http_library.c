#include "viewer/http_library.h"

#include <dlfcn.h>

#include "terminal/message.h"

/* Version 12 of the interface has been stable since 2014. */
#define HTTP_SONAME "libmicrohttpd.so.12"

struct http_library microhttpd;

static recmap_status fail_library(recmap_error *error) {
    return message_fail(error, RECMAP_UNSUPPORTED, NULL,
                        "install libmicrohttpd 0.9.75 or later (Debian: libmicrohttpd12), or write "
                        "a page to a file with 'recmap report'",
                        "the page is served with libmicrohttpd, which cannot be loaded: %s",
                        dlerror());
}

recmap_status http_library_load(recmap_error *error) {
    void *library = dlopen(HTTP_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!library) return fail_library(error);
#define FIND(name)                                                                                 \
    microhttpd.name = (__typeof__(microhttpd.name))dlsym(library, "MHD_" #name);                   \
    if (!microhttpd.name) return fail_library(error);
    HTTP_FUNCTIONS(FIND)
#undef FIND
    return RECMAP_OK;
}
