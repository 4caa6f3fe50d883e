#include <recmap/storage.h>

#include <inttypes.h>
#include <stdlib.h>

#include "base/core/error.h"
#include "storage/remote/remote.h"

static bool is_any(const char *name) {
    (void)name;
    return true;
}

recmap_status recmap_storage_read(recmap_storage *storage, const char *url, size_t most,
                                  recmap_take_bytes *take, void *context, recmap_error *error) {
    struct source *source = NULL;
    RETURN_IF_FAILED(remote_open(&source, storage, url, NULL, error));
    recmap_status status = RECMAP_OK;
    uint8_t *data = NULL;
    const uint64_t size = source->stat.size;
    if (size > most) {
        status = fail(error, RECMAP_INVALID, "has %" PRIu64 " bytes, but at most %zu are read",
                      size, most);
        fail_file(error, url);
    } else if (!(data = malloc((size_t)size + 1))) {
        status = fail_memory(error);
    }
    if (status == RECMAP_OK && size) status = source_read(source, data, (size_t)size, 0, error);
    if (status == RECMAP_OK) status = take(data, (size_t)size, error, context);
    free(data);
    source_close(source);
    return status;
}

recmap_status recmap_storage_list(recmap_storage *storage, const char *pattern,
                                  recmap_take_name *take, void *context, recmap_error *error) {
    struct path_list list = PATH_LIST_INIT;
    recmap_status status = remote_list(&list, storage, pattern, is_any, error);
    for (size_t i = 0; status == RECMAP_OK && i < list.count; i++)
        status = take(list.paths[i], error, context);
    path_list_deinit(&list);
    return status;
}
