#include "dataset/open/remote_index.h"

#include "base/core/error.h"
#include "storage/cache/cached_source.h"
#include "storage/protocol/url.h"
#include "storage/remote/remote.h"

/* Copies the index through the cache, if there is one. Its blocks are compared with their
 * checksums, because a damaged one must be requested again. */
static recmap_status copy_object(int *fd, struct source *source,
                                 const recmap_dataset_options *options, recmap_error *error) {
    struct disk_cache *cache = NULL;
    recmap_status status = RECMAP_OK;
    if (options->cache)
        status = disk_cache_open(&cache, options->cache, options->cache_size, error);
    if (status != RECMAP_OK) {
        source_close(source);
        return status;
    }
    if (cache) cached_source_replace(&source, cache, true);
    status = source_take_file(fd, source, error);
    disk_cache_close(cache);
    return status;
}

/* Relative names of shards start at the folder of the index, so it must have one. */
static recmap_status check_is_object(const char *url, const recmap_storage *storage,
                                     recmap_error *error) {
    struct url parsed;
    RETURN_IF_FAILED(remote_check_url(url, storage, error));
    const char *reason = storage_has_client(storage) ? url_parse_any(&parsed, url)
                                                     : url_parse(&parsed, url);
    if (!reason && parsed.key[0]) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "the URL names no object");
    fail_file(error, url);
    fail_advise(error, "name the index: s3://BUCKET/NAME.rmx or https://HOST/NAME.rmx");
    return RECMAP_INVALID;
}

recmap_status remote_index_open(struct index_file **index, const char *url,
                                const recmap_dataset_options *options, recmap_error *error) {
    const struct store_options all = {.check_all = true};
    struct source *source;
    int fd;
    RETURN_IF_FAILED(check_is_object(url, options->storage, error));
    RETURN_IF_FAILED(remote_open(&source, options->storage, url, NULL, error));
    RETURN_IF_FAILED(copy_object(&fd, source, options, error));
    return index_open_file(index, fd, url, &all, error);
}
