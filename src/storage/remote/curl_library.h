/* The functions of libcurl that transfers call. A build against a shared libcurl loads it with the
 * first transfer: libcurl brings about 30 further libraries, and loading them takes longer than
 * most commands over local files run. A build against a static libcurl contains it. */
#ifndef RECMAP_STORAGE_REMOTE_CURL_LIBRARY_H
#define RECMAP_STORAGE_REMOTE_CURL_LIBRARY_H

/* The checks of types are macros of libcurl's functions, which a table of pointers cannot have. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include <recmap/status.h>

#ifndef CURLU_PUNYCODE /* since libcurl 7.88 */
#define CURLU_PUNYCODE (1 << 12)
#endif

/* Their names without `curl_`. */
/* clang-format off */
#define CURL_FUNCTIONS(X) \
    X(easy_cleanup) X(easy_getinfo) X(easy_init) X(easy_setopt) \
    X(easy_strerror) X(free) X(global_init) X(multi_add_handle) X(multi_cleanup) \
    X(multi_info_read) X(multi_init) X(multi_remove_handle) X(multi_setopt) \
    X(multi_socket_action) X(slist_append) X(slist_free_all) X(url) X(url_cleanup) \
    X(url_get) X(url_set) X(version_info)
/* clang-format on */

struct curl_library {
#define DECLARE(name) __typeof__(curl_##name) *(name);
    CURL_FUNCTIONS(DECLARE)
#undef DECLARE
};

/* Valid after curl_library_load. */
extern struct curl_library libcurl;

/* Loads and initializes libcurl if that has not been done. Any thread may call it.
 * Errors: UNSUPPORTED, with what to install, if the library or one of its functions is missing, or
 * if it is too old. */
recmap_status curl_library_load(recmap_error *error);

/* Fills a table from the shared library `path`. Errors: as above. */
recmap_status curl_library_fill(struct curl_library *curl, const char *path, recmap_error *error);

/* Checks the version, and initializes the library. Errors: UNSUPPORTED. */
recmap_status curl_library_start(const struct curl_library *curl, recmap_error *error);

#endif
