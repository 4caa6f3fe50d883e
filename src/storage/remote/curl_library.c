#include "storage/remote/curl_library.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/library.h"
#include "base/os/thread.h"

/* Version 4 of the interface has been stable since 2006. */
#define CURL_SONAME "libcurl.so.4"

/* The first version with all options that transfers set: 7.74.0. */
enum { VERSION_MIN = 0x074a00 };

/* Where a function's pointer is in the table, and its name. */
static const struct curl_symbol {
    size_t offset;
    const char *name;
} symbols[] = {
#define SYMBOL(name) {offsetof(struct curl_library, name), "curl_" #name},
    CURL_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

struct curl_library libcurl;

static recmap_status advise_install(recmap_error *error) {
    fail_advise(error,
                "install libcurl 7.74 or later (Debian: libcurl4), mount the remote store as "
                "a folder, or copy the shards to this machine");
    return RECMAP_UNSUPPORTED;
}

static recmap_status fail_library(const char *path, const char *symbol, recmap_error *error) {
    if (symbol) fail(error, RECMAP_UNSUPPORTED, "libcurl lacks %s", symbol);
    else fail(error, RECMAP_UNSUPPORTED, "shards are read by URL with libcurl, which is missing");
    fail_file(error, path);
    return advise_install(error);
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
#define ADDRESS(name) curl_##name,
    *curl = (struct curl_library){CURL_FUNCTIONS(ADDRESS)};
#undef ADDRESS
    return RECMAP_OK;
}
#else
static recmap_status find_functions(struct curl_library *curl, recmap_error *error) {
    return curl_library_fill(curl, CURL_SONAME, error);
}
#endif

recmap_status curl_library_start(const struct curl_library *curl, recmap_error *error) {
    const curl_version_info_data *info = curl->version_info(CURLVERSION_NOW);
    if (info->version_num < VERSION_MIN) {
        fail(error, RECMAP_UNSUPPORTED, "libcurl %s is too old to read shards by URL",
             info->version);
        return advise_install(error);
    }
    CURLcode code = curl->global_init(CURL_GLOBAL_DEFAULT);
    if (code == CURLE_OK) return RECMAP_OK;
    fail(error, RECMAP_UNSUPPORTED, "libcurl cannot be initialized: %s", curl->easy_strerror(code));
    fail_advise(error, "check that libcurl and its TLS library fit each other, mount the remote "
                       "store as a folder, or copy the shards to this machine");
    return RECMAP_UNSUPPORTED;
}

recmap_status curl_library_load(recmap_error *error) {
    static bool is_ready;
    recmap_status status = RECMAP_OK;
    process_lock();
    if (!is_ready) {
        status = find_functions(&libcurl, error);
        /* libcurl must be initialized once, by one thread. */
        if (status == RECMAP_OK) status = curl_library_start(&libcurl, error);
        is_ready = status == RECMAP_OK;
    }
    process_unlock();
    return status;
}
