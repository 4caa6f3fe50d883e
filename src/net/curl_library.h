/* The functions of libcurl that transfers call. A build against a shared libcurl loads it with the
 * first transfer: libcurl brings about 30 further libraries, and loading them takes longer than
 * most commands over local files run. A build against a static libcurl contains it. */
#ifndef RECMAP_NET_CURL_LIBRARY_H
#define RECMAP_NET_CURL_LIBRARY_H

/* The checks of types are macros of libcurl's functions, which a table of pointers cannot have. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include <recmap/status.h>

struct curl_library {
    __typeof__(curl_easy_cleanup) *easy_cleanup;
    __typeof__(curl_easy_getinfo) *easy_getinfo;
    __typeof__(curl_easy_init) *easy_init;
    __typeof__(curl_easy_reset) *easy_reset;
    __typeof__(curl_easy_setopt) *easy_setopt;
    __typeof__(curl_easy_strerror) *easy_strerror;
    __typeof__(curl_free) *free;
    __typeof__(curl_global_init) *global_init;
    __typeof__(curl_multi_add_handle) *multi_add_handle;
    __typeof__(curl_multi_cleanup) *multi_cleanup;
    __typeof__(curl_multi_info_read) *multi_info_read;
    __typeof__(curl_multi_init) *multi_init;
    __typeof__(curl_multi_perform) *multi_perform;
    __typeof__(curl_multi_poll) *multi_poll;
    __typeof__(curl_multi_remove_handle) *multi_remove_handle;
    __typeof__(curl_multi_setopt) *multi_setopt;
    __typeof__(curl_slist_append) *slist_append;
    __typeof__(curl_slist_free_all) *slist_free_all;
    __typeof__(curl_url) *url;
    __typeof__(curl_url_cleanup) *url_cleanup;
    __typeof__(curl_url_get) *url_get;
    __typeof__(curl_url_set) *url_set;
    __typeof__(curl_version_info) *version_info;
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
