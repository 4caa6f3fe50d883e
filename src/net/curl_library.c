#include "net/curl_library.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "os/library.h"
#include "os/thread.h"

/* Version 4 of the interface has been stable since 2006. */
#define CURL_SONAME "libcurl.so.4"

/* Where a function's pointer is in the table, and its name. */
static const struct curl_symbol {
    size_t offset;
    const char *name;
} symbols[] = {
#define SYMBOL(name)                                                                               \
    { offsetof(struct curl_library, name), "curl_" #name }
    SYMBOL(easy_cleanup),    SYMBOL(easy_getinfo),        SYMBOL(easy_init),
    SYMBOL(easy_reset),      SYMBOL(easy_setopt),         SYMBOL(easy_strerror),
    SYMBOL(global_init),     SYMBOL(multi_add_handle),    SYMBOL(multi_cleanup),
    SYMBOL(multi_info_read), SYMBOL(multi_init),          SYMBOL(multi_perform),
    SYMBOL(multi_poll),      SYMBOL(multi_remove_handle), SYMBOL(multi_setopt),
    SYMBOL(slist_append),    SYMBOL(slist_free_all),      SYMBOL(version_info),
#undef SYMBOL
};

struct curl_library libcurl;

static recmap_status fail_library(const char *path, const char *symbol, recmap_error *error) {
    if (symbol) fail(error, RECMAP_UNSUPPORTED, "libcurl lacks %s", symbol);
    else fail(error, RECMAP_UNSUPPORTED, "shards are read by URL with libcurl, which is missing");
    fail_file(error, path);
    fail_advise(error,
                "install libcurl 7.74 or later (Debian: libcurl4), mount the remote store as "
                "a folder, or copy the shards to this machine");
    return RECMAP_UNSUPPORTED;
}

recmap_status curl_library_fill(struct curl_library *curl, const char *path, recmap_error *error) {
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void (*function)(void);
        if (library_find_apart(&function, path, symbols[i].name, NULL) != RECMAP_OK) {
            bool is_loaded = library_find_apart(&function, path, symbols[0].name, NULL) ==
                             RECMAP_OK;
            return fail_library(path, is_loaded ? symbols[i].name : NULL, error);
        }
        memcpy((char *)curl + symbols[i].offset, &function, sizeof function);
    }
    return RECMAP_OK;
}

#ifdef RECMAP_CURL_IS_LINKED
static recmap_status find_functions(struct curl_library *curl, recmap_error *error) {
    (void)error;
    *curl = (struct curl_library){
        curl_easy_cleanup,   curl_easy_getinfo,        curl_easy_init,    curl_easy_reset,
        curl_easy_setopt,    curl_easy_strerror,       curl_global_init,  curl_multi_add_handle,
        curl_multi_cleanup,  curl_multi_info_read,     curl_multi_init,   curl_multi_perform,
        curl_multi_poll,     curl_multi_remove_handle, curl_multi_setopt, curl_slist_append,
        curl_slist_free_all, curl_version_info,
    };
    return RECMAP_OK;
}
#else
static recmap_status find_functions(struct curl_library *curl, recmap_error *error) {
    return curl_library_fill(curl, CURL_SONAME, error);
}
#endif

recmap_status curl_library_load(recmap_error *error) {
    static bool is_ready;
    recmap_status status = RECMAP_OK;
    process_lock();
    if (!is_ready) {
        status = find_functions(&libcurl, error);
        /* libcurl must be initialized once, by one thread. */
        if (status == RECMAP_OK) libcurl.global_init(CURL_GLOBAL_DEFAULT);
        is_ready = status == RECMAP_OK;
    }
    process_unlock();
    return status;
}
