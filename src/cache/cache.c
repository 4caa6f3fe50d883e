/* The public functions on caches. */
#include <errno.h>

#include <recmap/cache.h>

#include "base/error.h"
#include "cache/cache_file.h"

static recmap_status visit_file(const char *path, recmap_cache_fn function, void *context,
                                recmap_error *error) {
    struct cache_summary summary;
    if (!cache_summary_read(&summary, path)) return RECMAP_OK;
    recmap_cache_object object = {summary.url, summary.etag, summary.size, summary.stored,
                                  summary.used_ns};
    bool is_ended = function(context, &object) != 0;
    cache_summary_deinit(&summary);
    return is_ended ? fail(error, RECMAP_CANCELLED, "the visit was ended") : RECMAP_OK;
}

/* Adds what to do if the folder is a file. */
static recmap_status advise_folder(recmap_status status, recmap_error *error) {
    if (status == RECMAP_IO && error && error->system_errno == ENOTDIR)
        fail_advise(error, "name the folder that --cache or cache= named");
    return status;
}

recmap_status recmap_cache_visit(const char *folder, recmap_cache_fn function, void *context,
                                 recmap_error *error) {
    struct path_list list = PATH_LIST_INIT;
    recmap_status status = disk_cache_list(&list, folder, error);
    for (size_t i = 0; status == RECMAP_OK && i < list.count; i++)
        status = visit_file(list.paths[i], function, context, error);
    path_list_deinit(&list);
    return advise_folder(status, error);
}

recmap_status recmap_cache_clear(uint64_t *size, const char *folder, recmap_error *error) {
    return advise_folder(disk_cache_clear(size, folder, error), error);
}
